"""One walk through the API that every client must pass against a real service, with the same facts at its end."""

import asyncio
import inspect
import json
import shutil
import subprocess
from collections.abc import AsyncIterable, Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import ism_client
from ism_client import ApiError, AsyncClient, Client, JobFailed
from tests.support.openapi import DOCUMENT
from tools import typescript

WALK = Path(__file__).parent / "walk.mjs"

ROWS = [f"{x},{y},{z},{'pq'[int(x > y)]}" for x, y, z in np.random.default_rng(0).integers(0, 50, (40, 3))]
JOB = {"paradigm": "supervised", "target": "class", "kernel": "linear", "q": 1, "folds": 2}
PAIRS = [("Client", "AsyncClient"), ("Dataset", "AsyncDataset"), ("Job", "AsyncJob"), ("Batch", "AsyncBatch")]
PAIRS += [("Result", "AsyncResult")]
SYNC_ONLY = {"Batch": {"frame"}, "Result": {"trace_frame"}}  # shorthands for what can be made of the rest


async def got(value: Any) -> Any:
    """The value of an attribute or call of either client."""
    value = value() if inspect.ismethod(value) else value
    return await value if inspect.isawaitable(value) else value


async def listed(items: Any) -> list[Any]:
    return [item async for item in items] if isinstance(items, AsyncIterable) else list(items)


async def refused(call: Callable[[], Any]) -> Any:
    try:
        await got(call())
    except ApiError as error:
        return error
    raise AssertionError("not refused")


async def walk(client: Any, table: Path, folder: Path) -> dict[str, Any]:
    """Upload, run, follow, download, compare, fail and delete; return what was found."""
    facts: dict[str, Any] = {}
    dataset = await got(client.upload(table))
    facts["columns"] = [(column.name, column.kind) for column in dataset.columns]
    facts["described"] = (await got(client.dataset(dataset.id))).rows
    facts["names"] = table.name in [each.name for each in await listed(client.datasets())]

    key = uuid4().hex
    job = await got(client.submit(dataset, **JOB, label=key, idempotency_key=key))
    facts["once"] = job.id == (await got(client.submit(dataset, **JOB, label=key, idempotency_key=key))).id
    facts["state"] = (await got(job.wait(timeout=120))).state
    events = await listed(job.events())
    facts["events"] = sorted({event.type for event in events})
    facts["resumed"] = [event.type for event in await listed(job.events(events[-2].id))][-1]
    facts["by label"] = [each.id == job.id for each in await listed(client.jobs(label=key, state=["succeeded"]))]

    result = await got(job.result())
    facts["features"], facts["W"] = result.features, result.W.round(6).tolist()
    facts["stop"], facts["kernel"] = result.stop, result.kernel
    embedding = await got(result.embedding)
    facts["labels"] = await got(result.labels)
    facts["trace"] = sorted(await got(result.trace))
    facts["projected"] = bool(np.allclose(await got(job.transform(table)), embedding))
    facts["picture"] = type(await got(job.plot("loadings", "png"))).__name__
    facts["written"] = np.load(await got(job.download("W", folder / "W.npy"))).reshape(-1, 1).round(6).tolist()
    facts["report"] = (await got(result.report(folder / "r.html"))).read_text().lower().startswith("<!doctype html>")
    facts["pdf"] = (await got(result.report(folder / "r.pdf"))).read_bytes().startswith(b"%PDF-")
    facts["ended"] = [(await refused(call)).status for call in (job.cancel, job.retry, job.finish)]

    wrong = await refused(lambda: client.submit(dataset, paradigm="supervised", target="clas"))
    facts["wrong"] = (wrong.status, wrong.errors, str(wrong))
    facts["missing"] = (await refused(lambda: client.job("nothing"))).status

    batch = await got(client.submit_batch(dataset=dataset, **{**JOB, "q": [1, 2]}, label="both"))
    await got(batch.wait(timeout=120))
    facts["batch"] = (batch.ended, batch.states, batch.label, [row["q"] for row in await got(batch.table())])
    facts["best"] = (await got(batch.best())).id == (await got(batch.jobs()))[0].id
    facts["csv"] = (await got(batch.csv())).splitlines()[0]
    facts["retried"] = (await got(batch.retry())).states
    facts["listed"] = batch.id in [each.id for each in await listed(client.batches())]
    facts["kernels"] = [each["name"] for each in await got(client.kernels())]
    facts["paradigms"] = [each["name"] for each in await got(client.paradigms())]

    copies = await got(client.upload([{"x": i, "class": "pq"[i % 2], "y": i % 2} for i in range(30)], name="copies"))
    failing = await got(client.submit(copies, paradigm="supervised", target="class", kernel="linear", q=1))
    await got(failing.refresh())
    with pytest.raises(JobFailed) as failed:
        await got(failing.wait(timeout=120))
    facts["failed"] = str(failed.value)
    facts["again"] = (await got(failing.retry())).state in ("queued", "running")
    with pytest.raises(JobFailed):
        await got(failing.wait(timeout=120))
    for thing in (failing, batch, job):
        await got(thing.delete())
    facts["deleted"] = (await refused(job.refresh)).status
    await got(copies.delete())
    await got(client.delete_dataset(dataset.id))
    await got(client.close())
    return facts


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conformance") / "walk.csv"
    path.write_text("\n".join(["x,y,z,class", *ROWS]))
    return path


@pytest.fixture(scope="module")
def sync_facts(service: str, table: Path) -> dict[str, Any]:
    walking: Coroutine[Any, Any, dict[str, Any]] = walk(Client(service), table, table.parent)
    return asyncio.run(walking)  # also inside an event loop, as in a notebook


def test_the_walk_finds_what_is_there(sync_facts: dict[str, Any]) -> None:
    assert sync_facts["state"] == sync_facts["resumed"].replace("state", "succeeded") == "succeeded"
    assert (sync_facts["once"], sync_facts["projected"], sync_facts["report"], sync_facts["best"]) == (True,) * 4
    assert sync_facts["pdf"]
    assert sync_facts["written"] == sync_facts["W"]
    assert sync_facts["wrong"][0] == 422
    assert list(sync_facts["wrong"][1]) == ["target"]
    assert sync_facts["ended"] == [409, 409, 409]
    assert (sync_facts["missing"], sync_facts["deleted"]) == (404, 404)
    assert sync_facts["batch"][1] == {"succeeded": 2}


def test_the_asynchronous_client_finds_the_same(service: str, table: Path, sync_facts: dict[str, Any]) -> None:
    assert asyncio.run(walk(AsyncClient(service), table, table.parent)) == sync_facts


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_typescript_client_finds_the_same(service: str, table: Path, sync_facts: dict[str, Any]) -> None:
    walked = subprocess.run(["node", WALK, service, table], capture_output=True, text=True, check=False, timeout=300)
    assert walked.returncode == 0, walked.stderr
    found = json.loads(walked.stdout)
    expected = json.loads(json.dumps({name: sync_facts[name] for name in found}))
    assert found == expected | {"wrong": expected["wrong"][:2]}
    assert len(found) > 20


def test_the_types_of_the_typescript_client_are_those_of_the_document() -> None:
    assert typescript.FILE.read_text(encoding="utf-8") == typescript.text(), "`make openapi` writes them"


def test_asynchronous_jobs_are_followed_at_the_same_time(service: str, table: Path) -> None:
    async def both() -> list[str]:
        async with AsyncClient(service) as client:
            dataset = await client.upload(table)
            jobs = await asyncio.gather(*(client.submit(dataset, **{**JOB, "seed": seed}) for seed in range(4)))
            return [job.state for job in await asyncio.gather(*(job.wait(timeout=120) for job in jobs))]

    assert asyncio.run(both()) == ["succeeded"] * 4


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_both_clients_have_the_same_methods(name: str, other: str) -> None:
    def public(cls: type) -> dict[str, list[str]]:
        members = {name: member for name, member in inspect.getmembers(cls) if not name.startswith("_")}
        return {
            name: list(inspect.signature(member).parameters) if inspect.isfunction(member) else ["self"]
            for name, member in members.items()
        }

    expected = public(getattr(ism_client, name))
    for method in SYNC_ONLY.get(name, ()):
        del expected[method]
    assert public(getattr(ism_client, other)) == expected


@pytest.mark.parametrize(
    ("name", "view"),
    [("Job", "JobView"), ("Batch", "BatchView"), ("Dataset", "DatasetView"), ("Column", "ColumnView"),
     ("Progress", "ProgressView"), ("Result", "ResultView")],
)  # fmt: skip
def test_what_the_clients_read_is_in_the_openapi_document(name: str, view: str) -> None:
    fields = set(getattr(ism_client, name).__dataclass_fields__) - {"document", "_http", "job_id"}
    assert fields <= set(DOCUMENT["components"]["schemas"][view]["properties"])
