"""What the documents say is run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_readme_python_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "Converged" in printed
    assert "proline" in printed


def test_every_link_in_the_documents_leads_to_a_file() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_example_makes_the_picture_of_the_readme(tmp_path: Path) -> None:
    picture = tmp_path / "wine.png"
    subprocess.run(
        [sys.executable, ROOT / "examples" / "wine.py", picture],
        check=True,
        env={"MPLBACKEND": "agg", "HOME": str(tmp_path)},
    )
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_module_of_the_core_says_what_it_is_for() -> None:
    for module in (ROOT / "ism_core").glob("*.py"):
        assert module.read_text().startswith('"""'), module.name
