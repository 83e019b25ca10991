"""Tables by reference: places, and parts that are read although the store fails."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_jobs.data import parts as data_parts
from ism_jobs.errors import InvalidTable, Unavailable
from ism_jobs.tables import ANYWHERE, Limits, Place, Reference, Roots, TableParts, describe_reference, new_file
from ism_jobs.tables.references import describe, parts, places, stores
from ism_jobs.tables.references.errors import Unreachable
from tests.service.references.places import Places
from tests.support.tables import write_rows
from tools.local_service import free_port


@pytest.mark.parametrize(
    ("uri", "root", "is_inside"),
    [
        ("s3://bucket/a/b", "s3://bucket/a", True),
        ("s3://bucket/ab", "s3://bucket/a", False),
        ("s3://bucket2/a", "s3://bucket", False),
        ("s3://bucket", "s3://bucket/a", False),
        ("https://Example.org/a", "https://example.org", True),
        ("https://example.org:8443/a", "https://example.org", False),
        ("http://example.org/a", "https://example.org", False),
        ("gs://bucket/a", "s3://bucket/a", False),
        ("/proc/self/cwd", "/proc/self", False),  # a link
    ],
)
def test_a_place_is_inside_a_root_of_the_same_host_only(uri: str, root: str, is_inside: bool) -> None:
    assert Place.parse(uri).is_within(Place.parse(root)) == is_inside


@pytest.mark.parametrize("uri", ["", "a/b", "s3://", "s3://b/a//c", "s3://b/./c", "/a/*/b", "file://host/a", "/a\nb"])
def test_other_texts_are_no_places(uri: str) -> None:
    with pytest.raises(places.WrongPlace):
        Place.parse(uri)


def test_a_setting_with_something_else_is_named() -> None:
    with pytest.raises(places.WrongPlace, match='ISM_TABLE_ROOTS: "data" is no URI'):
        Roots.of(["data"], "ISM_TABLE_ROOTS")


def test_a_reference_survives_its_json_and_small_row_groups_are_read_together(tmp_path: Path) -> None:
    write_rows(tmp_path, files=2, rows=1_000)
    reference, description = describe_reference(str(tmp_path), ANYWHERE, Limits())
    assert Reference.from_json(reference.to_json()) == reference
    assert [file.groups for file in reference.files] == [(500, 500), (500, 500)]
    assert [part.groups for part in reference.parts] == [(0, 1), (0, 1)]
    assert (description.rows, description.sampled) == (2_000, None)
    os.utime(tmp_path / "part-0.parquet", (1, 1))
    assert describe_reference(str(tmp_path), ANYWHERE, Limits())[0].digest != reference.digest


def test_small_files_are_described_by_many_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "SAMPLE_ROWS", 1_000)
    write_rows(tmp_path, files=60, rows=50)
    _, description = describe_reference(str(tmp_path), ANYWHERE, Limits())
    assert (description.rows, description.sampled) == (3_000, 1_000)
    assert "1,000 of 3,000 rows" in description.notes[0]


def test_reading_goes_on_after_the_rows_that_had_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, files=1, rows=5_000)
    reference, _ = describe_reference(str(tmp_path), ANYWHERE, Limits())
    source = TableParts(reference, ANYWHERE)
    whole = list(source.batches(0, ["x0"], most=500))
    failures = iter([3, 1, 5, 100])
    read = TableParts._read

    def failing(self: TableParts, *args: Any) -> Any:
        left = next(failures)
        for batch in read(self, *args):
            if left == 0:
                raise Unreachable("The store is away.")
            left -= 1
            yield batch

    monkeypatch.setattr(TableParts, "_read", failing)
    monkeypatch.setattr(parts, "FIRST_PAUSE", 0.0)
    assert list(source.batches(0, ["x0"], most=500)) == whole
    failures = iter([0] * 100)
    with pytest.raises(Unavailable, match="away"):
        list(source.batches(0, ["x0"]))


def test_the_sample_is_uniform_and_has_every_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_parts, "SAMPLE_ROWS", 500)
    rows = 20_000
    labels = np.where(np.arange(rows) == 17_171, "rare", "common")
    pq.write_table(pa.table({"x": np.arange(rows), "y": labels}), tmp_path / "a.parquet", row_group_size=3_000)
    reference, description = describe_reference(str(tmp_path), ANYWHERE, Limits())
    source = TableParts(reference, ANYWHERE)
    wanted = data_parts._Wanted(["x", "y"], "y", ["y"])
    sample = data_parts.draw(source, wanted, description.rows, seed=0, threads=2)
    assert sample.labels == ("common", "rare")
    assert sample.table.column("x").to_pylist() == sample.rows.tolist()
    assert 17_171 in sample.rows
    assert sample.unseen.num_rows > 0.99 * data_parts.CHECKED_ROWS
    assert not set(sample.rows) & set(sample.unseen.column("x").to_pylist())
    assert (sample.total, sample.learned) == (rows, rows)
    assert abs(sample.rows.mean() - rows / 2) < 4 * rows / np.sqrt(12 * 500)


def test_a_file_has_its_name_only_if_it_is_complete(tmp_path: Path) -> None:
    roots = Roots.of([str(tmp_path)], "ISM_OUTPUT_ROOTS")
    place = Place.parse(str(tmp_path / "new" / "out.parquet"))
    with pytest.raises(TypeError), new_file(place, roots, ".tmp") as file:
        file.write("no bytes")
    assert list((tmp_path / "new").iterdir()) == []
    with new_file(place, roots, ".tmp") as file:
        file.write(b"whole")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out.parquet"]
    with pytest.raises(places.WrongPlace), new_file(Place.parse("/etc/out.parquet"), roots, ".tmp"):
        pass


def test_a_file_without_rights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, files=1)

    def denied(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(parts, "open_file", denied)
    with pytest.raises(InvalidTable, match="no right to read"):
        describe_reference(str(tmp_path), ANYWHERE, Limits())


def test_a_store_that_refuses_the_credentials_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Places(tmp_path) as found:
        write_rows(found.buckets / "tables" / "rows", files=1)
        assert found.store_port
        for name, value in {**found.variables, "AWS_SECRET_ACCESS_KEY": "wrong"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
        stores.file_system.cache_clear()
        try:
            with pytest.raises(InvalidTable, match="no right to read s3://tables/rows"):
                describe_reference("s3://tables/rows", ANYWHERE, Limits())
            with pytest.raises(InvalidTable, match="no right to write s3://outputs"):
                stores.try_writing(Place.parse("s3://outputs/x.parquet"), ANYWHERE, ".tmp")
        finally:
            stores.file_system.cache_clear()
    assert list((tmp_path / "buckets" / "outputs").iterdir()) == []


@pytest.mark.thorough
def test_the_store_of_google_is_read_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = f"127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "gcp_storage_emulator", "start", "--in-memory", "--default-bucket", "tables"]
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", f"http://{endpoint}")
    stores.file_system.cache_clear()
    emulator = subprocess.Popen([*command, "--host", "127.0.0.1", "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        write_rows(tmp_path, files=1)
        with new_file(Place.parse("gs://tables/rows/a.parquet"), ANYWHERE, ".tmp") as file:
            file.write((tmp_path / "part-0.parquet").read_bytes())
        reference, description = describe_reference("gs://tables", ANYWHERE, Limits())
        assert [each.path for each in reference.files] == ["tables/rows/a.parquet"]
        assert description.rows == 2_000
        with pytest.raises(InvalidTable, match="gs://nowhere/rows does not exist"):
            describe_reference("gs://nowhere/rows", ANYWHERE, Limits())
    finally:
        stores.file_system.cache_clear()
        emulator.terminate()
        emulator.wait()
