"""`ism fit`: the same result as the service, without one."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner

from ism_cli.main import main
from tests.support.tables import planted_csv, write_rows


def test_planted_features_are_the_first_in_the_summary(tmp_path: Path) -> None:
    table, out = tmp_path / "planted.csv", tmp_path / "out"
    table.write_bytes(planted_csv())
    settings = ["--paradigm", "supervised", "--target", "class", "--kernel", "gaussian", "-q", "2", "--folds", "0"]
    ran = CliRunner().invoke(main, ["fit", str(table), *settings, "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    assert "axis1 100 %, axis2 for plots only" in ran.output
    lines = ran.output.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("feature (10 of 29)")) + 1
    assert [line.split()[0] for line in lines[first : first + 3]] == ["x0", "x1", "x2"]
    assert any("unclear" in line for line in lines[first + 3 :])
    assert "planted.csv" in (out / "report.html").read_text()
    assert sum(json.loads((out / "result.json").read_text())["importance"][:3]) > 0.9


def test_a_table_is_read_from_stdin() -> None:
    settings = ["--paradigm", "supervised", "--target", "class", "--kernel", "linear", "-q", "1", "--folds", "0"]
    ran = CliRunner().invoke(main, ["fit", "-", *settings, "--json"], input=planted_csv())
    assert ran.exit_code == 0, ran.output
    assert '"x0"' in ran.output


def test_a_message_names_the_option() -> None:
    ran = CliRunner().invoke(main, ["fit", "-", "--paradigm", "supervised", "--target", "klass"], input=planted_csv())
    assert ran.exit_code == 1
    assert "--target: " in ran.output


def test_a_folder_is_read_part_by_part(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows")
    settings = ["--target", "class", "--kernel", "polynomial", "-q", "2", "--folds", "0"]
    output = tmp_path / "out.parquet"
    ran = CliRunner().invoke(main, ["fit", str(tmp_path / "rows"), *settings, "--output", str(output), "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["rows"] == pq.read_metadata(output).num_rows == 6_000
    ran = CliRunner().invoke(main, ["fit", str(tmp_path / "none"), *settings])
    assert "There is no file or folder" in ran.output
