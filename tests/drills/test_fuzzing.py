"""A few hundred broken tables on every run; `make fuzz` reads 100,000."""

import sys
from pathlib import Path

import pytest

from drills.fuzzing import SEEDS, Reading, fuzz

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")


def test_every_seed_is_a_table(tmp_path: Path) -> None:
    reading = Reading(tmp_path / "upload")
    for name, content in SEEDS.items():
        reading.check(name, content)
    assert (reading.read, reading.refused) == (len(SEEDS), 0)


def test_broken_tables_are_read_or_refused_within_bounds(tmp_path: Path) -> None:
    reading = Reading(tmp_path / "upload")
    fuzz(reading, 150, start=6)
    assert reading.read + reading.refused >= 150
    assert min(reading.read, reading.refused) > 10
