"""This version reads and continues everything that earlier releases have stored.

`tools.release_data` wrote the data with the service of that release: ended jobs, a batch, one job that was stopped in
the middle of its search, and one that waits in the queue.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import Store, keys
from tests.support.api import Api
from tests.support.forked_commands import forked_service
from tools.release_data import COMMON, KEY, table
from tools.store_dump import dump, load
from worker.jobs import run

RELEASES = sorted((Path(__file__).parent / "releases").glob("*.keys.json.gz"))


@pytest.fixture(scope="module", params=RELEASES, ids=lambda path: path.name.removesuffix(".keys.json.gz"))
def dumped(request: pytest.FixtureRequest) -> bytes:
    path: Path = request.param
    return path.read_bytes()


@pytest.fixture(scope="module")
def api(dumped: bytes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Return a client of this version's service, started on the data of a release."""
    folder = tmp_path_factory.mktemp("upgraded")
    with RedisServer(folder, fsync="no") as server:
        with Redis.from_url(server.url) as redis:
            load(redis, dumped)
        with (
            forked_service(folder, workers=1, ISM_REDIS_URL=server.url) as (url, _),
            Api(base_url=url, timeout=90) as client,
        ):
            yield client


def jobs(api: Api) -> list[dict[str, Any]]:
    return api.get("/jobs").json()["items"]


def labelled(api: Api, label: str) -> dict[str, Any]:
    return next(job for job in jobs(api) if job["label"] == label)


def test_open_jobs_are_run_and_resumed_from_their_checkpoint(api: Api) -> None:
    under_way = labelled(api, "under way")["id"]
    api.post(f"/jobs/{under_way}/finish")  # the whole search would take long
    resumed = api.succeeded(under_way)
    assert resumed["attempt"] == 2
    assert api.get(resumed["links"]["result"]).json()["choice"]["cut_short"]
    assert api.succeeded(labelled(api, "waiting")["id"])["attempt"] == 1
    assert labelled(api, "cancelled")["state"] == "cancelled"


def test_everything_of_an_ended_job_is_readable(api: Api) -> None:
    ended = [job for job in jobs(api) if job["state"] == "succeeded"]
    assert len(ended) >= 5
    complete = b"\n".join(line for line in table().splitlines() if b",," not in line)
    for job in ended:
        paths = {name: path for name, path in job["links"].items() if name not in ("project", "transform")}
        if job is not ended[0]:
            del paths["report_pdf"]  # draws what the other links give, for 1.6 seconds
        for name, path in paths.items():
            assert api.get(path).status_code == 200, (name, path)
        result = api.get(job["links"]["result"]).json()
        assert len(result["W"]) == len(result["features"])
        projected = api.post(job["links"]["transform"], files={"file": ("table.csv", complete)})
        assert projected.status_code == 200, projected.text
        assert api.events(job["id"])[-1][2]["state"] == "succeeded"
    batch = next(job["batch"] for job in ended if job["batch"])
    assert [row["state"] for row in api.get(f"/batches/{batch}").json()["jobs"]] == ["succeeded"] * 2


def test_the_data_set_is_readable_and_takes_new_jobs(api: Api) -> None:
    dataset = api.get("/datasets").json()["items"][0]["id"]
    assert api.get(f"/datasets/{dataset}").json()["rows"] == 240
    assert api.upload(table())["id"] == dataset
    api.succeeded(api.submit(dataset=dataset, **COMMON, kernel="linear", folds=0))


def test_a_request_to_an_earlier_release_can_be_repeated(api: Api) -> None:
    first = labelled(api, "chosen")
    body = {"dataset": first["dataset"], **COMMON, "label": "chosen"}
    assert api.post("/jobs", json=body, headers=KEY).json()["id"] == first["id"]
    assert api.post("/jobs", json=body | {"q": 1}, headers=KEY).status_code == 422


def test_unknown_fields_of_a_stored_job_are_ignored_and_kept_but_refused_in_a_request(
    api: Api, dumped: bytes, store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISM_REDIS_URL", settings.required_redis_url)
    load(store.redis, dumped)
    id = labelled(api, "waiting")["id"]
    novel = store.jobs.get(id).spec | {"novel": {"depth": 3}}
    store.redis.hset(keys.job(id), mapping={"spec": json.dumps(novel), "novelty": "kept"})
    run(id)
    assert store.jobs.get(id).state == "succeeded"
    assert store.jobs.get(id).spec == novel
    assert store.redis.hget(keys.job(id), "novelty") == b"kept"
    assert api.post("/jobs", json=novel).json()["errors"][0]["field"] == "novel"


def test_a_dump_is_what_was_loaded(dumped: bytes, store: Store) -> None:
    load(store.redis, dumped)
    again = dump(store.redis)
    store.redis.flushall()
    load(store.redis, again)
    assert dump(store.redis) == again
