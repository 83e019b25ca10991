"""Two owners on one service: no route tells one what the other has, and nobody without a key anything at all."""

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from click.testing import CliRunner

from app.auth import KeyFile, is_public
from ism_cli.main import main
from ism_client import ApiError, Client
from tests.service.conftest import SLOW
from tests.support.api import Api, problem
from tests.support.keyed_service import KeyedService
from tests.support.openapi import OPERATIONS, check_operation, loaded

ROWS = ["1,4,a", "2,3,a", "3,9,b", "4,1,b", "5,5,a", "6,2,b", "8,3,a", "7,7,b"]
TABLE = "\n".join(["x,y,class", *ROWS]).encode()
SPEC = {"paradigm": "supervised", "target": "class", "kernel": "linear", "folds": 0}
NOTHING = "0123456789abcdef0123"  # an id like ours, of nothing


CONFIG = {
    "seed": 1,
    "checks": {"enabled": False, "ignored_auth": {"enabled": True}, "not_a_server_error": {"enabled": True}},
    "generation": {"deterministic": True, "database": "none", "max-examples": 5},
    "phases": {"coverage": {"enabled": False}},
}


class Keyed(NamedTuple):
    """A service with keys, two of whose owners have a client."""

    url: str
    keys: KeyFile
    client: Callable[[str], Api]
    alice_key: str
    alice: Api
    bob: Api


@pytest.fixture(scope="module")
def keyed(keyed_service: KeyedService) -> Iterator[Keyed]:
    key = keyed_service.keys.make("alice")
    with keyed_service.client_with(key) as alice, keyed_service.client("bob") as bob:
        yield Keyed(keyed_service.url, keyed_service.keys, keyed_service.client, key, alice, bob)


@pytest.fixture(scope="module")
def hers(keyed: Keyed) -> dict[str, str]:
    """What Alice has: the ids by the kind of thing."""
    dataset = keyed.alice.upload(TABLE, "hers.csv")["id"]
    grid = {"dataset": dataset, **SPEC, "q": [1, 2], "label": "hers"}
    batch = keyed.alice.post("/batches", json=grid, headers={"Idempotency-Key": "same"}).json()["id"]
    job = keyed.alice.compared(batch)["jobs"][0]["id"]
    webhook = keyed.alice.post("/webhooks/test", json={"url": "https://localhost/"}).json()["id"]
    return {"datasets": dataset, "jobs": job, "batches": batch, "webhooks": webhook}


@pytest.fixture(scope="module")
def schema(keyed: Keyed) -> Any:
    return loaded(keyed.alice.get("/openapi.json").json(), CONFIG)


def routes(keyed: Keyed) -> list[tuple[str, str, dict[str, Any]]]:
    """Every method and path of the OpenAPI document, the variants of a path each by itself."""
    found = []
    for path, operations in keyed.alice.get("/openapi.json").json()["paths"].items():
        choices = {
            "table": ("W", "embedding", "labels", "stability", "trace", "metrics"),
            "plot": ("embedding",),
            "format": ("svg",),
        }
        names = [name for name in choices if f"{{{name}}}" in path]
        for values in itertools.product(*(choices[name] for name in names)):
            filled = path
            for name, value in zip(names, values, strict=True):
                filled = filled.replace(f"{{{name}}}", value)
            found += [(method.upper(), filled, operation) for method, operation in operations.items()]
    assert len(found) > 20
    return found


def asked(client: Api, method: str, path: str, id: str) -> httpx.Response:
    body = TABLE if path.endswith("/transform") else None
    return client.request(method, path.replace("{id}", id), content=body)


def test_no_route_reveals_objects_of_another_owner(keyed: Keyed, hers: dict[str, str]) -> None:
    tried = []
    for method, path, _ in routes(keyed):
        if "{id}" not in path:
            continue
        theirs = asked(keyed.bob, method, path, hers[path.split("/")[1]])
        nothing = asked(keyed.bob, method, path, NOTHING)
        assert problem(theirs, 404)["detail"].replace(hers[path.split("/")[1]], NOTHING) == nothing.json()["detail"]
        assert theirs.json().keys() == nothing.json().keys()
        assert {*theirs.headers} == {*nothing.headers}
        tried.append(path)
    assert {"/jobs/{id}/events", "/jobs/{id}/transform", "/jobs/{id}/cancel", "/batches/{id}"} <= {*tried}
    for path in ("/datasets/{id}", "/jobs/{id}", "/jobs/{id}/result", "/batches/{id}"):
        assert asked(keyed.alice, "GET", path, hers[path.split("/")[1]]).status_code == 200, (
            "nothing has happened to it"
        )


@pytest.mark.thorough  # on commit, one request for each route
@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if "{id}" in operation])
def test_no_request_whatsoever_tells_one_owner_of_what_another_has(
    schema: Any, operation: str, keyed: Keyed, hers: dict[str, str]
) -> None:
    def check(case: Any) -> None:
        said = []
        for id in (hers[case.path.split("/")[1]], NOTHING):
            case.path_parameters["id"] = id
            headers = {"Authorization": keyed.bob.headers["authorization"], "X-Request-ID": "one"}  # it is in a problem
            answer = case.call(base_url=keyed.url, headers=headers, timeout=30)
            said.append((answer.status_code, answer.text.replace(id, "")))
        assert said[0] == said[1]
        assert said[0][0] >= 400

    assert check_operation(schema, operation, check) > 0


@pytest.mark.thorough  # on commit, one request for each route
@pytest.mark.parametrize(
    "operation", [operation for operation in OPERATIONS if operation.startswith("GET") and "/events" not in operation]
)
def test_no_request_whatsoever_is_answered_without_a_key(schema: Any, operation: str, keyed: Keyed) -> None:
    """With the check of schemathesis that asks again without a key, and with a wrong one."""

    def check(case: Any) -> None:
        case.call_and_validate(
            base_url=keyed.url, headers={"Authorization": keyed.bob.headers["authorization"]}, timeout=30
        )

    assert check_operation(schema, operation, check) > 0


def test_a_job_cannot_use_what_another_owner_has(keyed: Keyed, hers: dict[str, str]) -> None:
    def posted(dataset: str, **more: Any) -> dict[str, Any]:
        path = "/batches" if "q" in more else "/jobs"
        spec, same_id = {"dataset": dataset, **SPEC, **more}, {"X-Request-ID": "one"}
        return problem(keyed.bob.post(path, json=spec, headers=same_id), 422)

    for more in ({}, {"missing": "drop"}, {"q": [1, 2]}):
        refused = posted(hers["datasets"], **more)
        assert str(refused).replace(hers["datasets"], NOTHING) == str(posted(NOTHING, **more))


def test_lists_contain_only_the_owners_objects(keyed: Keyed, hers: dict[str, str]) -> None:
    cursor = keyed.alice.get("/jobs", params={"limit": 1}).json()["next"]
    for params in (
        {},
        {"batch": hers["batches"]},
        {"dataset": hers["datasets"]},
        {"label": "hers"},
        {"cursor": cursor},
    ):
        assert not [job for job in keyed.bob.get("/jobs", params=params).json()["items"] if job["label"] == "hers"]
    assert hers["datasets"] not in {item["id"] for item in keyed.bob.get("/datasets").json()["items"]}
    assert hers["datasets"] in {item["id"] for item in keyed.alice.get("/datasets").json()["items"]}
    assert len(keyed.alice.get("/jobs", params={"batch": hers["batches"]}).json()["items"]) == 2


def test_the_same_table_of_two_owners_is_two_data_sets(keyed: Keyed, hers: dict[str, str]) -> None:
    first = keyed.bob.post("/datasets", content=TABLE, params={"name": "his.csv"})
    assert (first.status_code, first.json()["name"]) == (201, "his.csv")
    assert first.json()["id"] != hers["datasets"]
    assert not [note for note in first.json()["notes"] if "already" in note]
    assert keyed.bob.post("/datasets", content=TABLE).status_code == 200, "his own he may know"
    assert keyed.bob.delete(f"/datasets/{first.json()['id']}").status_code == 204
    assert keyed.alice.get(f"/datasets/{hers['datasets']}").status_code == 200


def test_the_same_idempotency_key_of_two_owners_makes_two_jobs(keyed: Keyed, hers: dict[str, str]) -> None:
    dataset = keyed.bob.upload(TABLE)["id"]
    spec = {"dataset": dataset, **SPEC, "q": [1, 2], "label": "his"}
    first, again = (keyed.bob.post("/batches", json=spec, headers={"Idempotency-Key": "same"}) for _ in range(2))
    assert (first.status_code, first.json()["id"]) == (again.status_code, again.json()["id"])
    assert first.status_code == 202
    assert first.json()["id"] != hers["batches"]
    keyed.bob.compared(first.json()["id"])


def test_without_a_key_there_is_nothing_but_health_and_the_documents(keyed: Keyed, hers: dict[str, str]) -> None:
    with Api(base_url=keyed.url, timeout=30) as nobody:
        for method, path, operation in routes(keyed):
            id = hers.get(path.split("/")[1], "")
            if is_public(path):
                assert asked(nobody, method, path, id).status_code == 200
                assert "security" not in operation
                continue
            answer = asked(nobody, method, path, id)
            assert problem(answer, 401)["type"] == "urn:ism:problem:unauthorized"
            assert answer.headers["www-authenticate"] == 'Bearer realm="ism"'
            assert "Authorization: Bearer" in answer.json()["detail"]
            assert operation["security"] == [{"apiKey": []}]
            assert "401" in operation["responses"]
        problem(nobody.get("/nothing"), 401)
        assert nobody.get("/docs").status_code == 200


@pytest.mark.parametrize(
    "header", ["Bearer wrong", "Bearer", "Basic YTpi", "ism_x", "bearer " + "x" * 5_000, "Bearer \xe9"]
)
def test_an_invalid_key_is_refused(keyed: Keyed, header: str) -> None:
    with Api(base_url=keyed.url, headers={"Authorization": header.encode("latin-1")}) as stranger:
        answer = stranger.get("/jobs")
    assert "API key" in problem(answer, 401)["detail"]
    assert "wrong" not in answer.text


def test_the_hash_of_a_key_is_no_key(keyed: Keyed) -> None:
    for key in keyed.keys.read() or []:
        answer = httpx.get(f"{keyed.url}/jobs", headers={"Authorization": f"Bearer {key.hash}"})
        problem(answer, 401)


def test_only_the_key_for_metrics_sees_what_everybody_does(keyed: Keyed) -> None:
    problem(keyed.bob.get("/metrics"), 404)
    with keyed.client("metrics") as prometheus:
        assert "ism_jobs_ended_total" in prometheus.get("/metrics").text
        assert prometheus.get("/jobs").json()["items"] == []


def test_a_revoked_key_ends_at_once_and_a_new_one_of_its_name_finds_all_again(keyed: Keyed) -> None:
    rows = "\n".join(f"{row % 97},{row % 89},{row % 83},{row % 13}" for row in range(3_000))
    with keyed.client("carol") as carol:
        dataset = carol.upload(f"x,z,w,y\n{rows}".encode())["id"]
        job = carol.submit(dataset=dataset, **SLOW)
        streamed, ended = threading.Event(), threading.Event()

        def follow() -> None:
            with carol.stream("GET", f"/jobs/{job}/events") as answer:
                for _ in answer.iter_bytes():
                    streamed.set()
            ended.set()

        threading.Thread(target=follow, daemon=True).start()
        assert streamed.wait(30)
        keyed.keys.revoke("carol")
        problem(carol.get(f"/jobs/{job}"), 401)
        assert ended.wait(30), "also what was being followed"
    with keyed.client("carol") as carol:
        assert carol.get(f"/jobs/{job}").json()["state"] in ("queued", "running")
        carol.post(f"/jobs/{job}/cancel")
        carol.ended(job)
    problem(keyed.alice.get(f"/jobs/{job}"), 404)


def test_the_client_works_with_a_key_from_upload_to_download(keyed: Keyed, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(TABLE)
    with Client(keyed.url, keyed.alice_key + "\n") as client:  # as read from a file
        job = client.submit(client.upload(tmp_path / "table.csv"), **SPEC, q=1)
        assert [event.type for event in job.events()][-1] == "state"
        assert job.wait().result().W.shape == (2, 1)
        assert job.download("W.npy", tmp_path / "W.npy").stat().st_size
        assert client.job(job.id).transformed(tmp_path / "table.csv", "csv")
    for wrong in (None, "ism_wrong"):
        with Client(keyed.url, wrong, retries=0) as client, pytest.raises(ApiError, match="API key") as refused:
            client.upload(tmp_path / "table.csv")
        assert refused.value.status == 401


def test_the_commands_work_with_a_key_from_upload_to_download(keyed: Keyed, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(TABLE)

    def ism(*arguments: str, key: str = keyed.alice_key) -> Any:
        return CliRunner().invoke(main, arguments, env={"ISM_URL": keyed.url, "ISM_API_KEY": key})

    submitted = ism("submit", str(tmp_path / "table.csv"), "--target", "class", "-q", "1", "--kernel", "linear")
    job = submitted.stdout.strip()
    assert ism("watch", job).exit_code == 0
    got = ism("get", job, "--out", str(tmp_path / "out"))
    assert got.exit_code == 0, got.output
    assert (tmp_path / "out" / "W.csv").exists()
    refused = ism("jobs", key="ism_wrong")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "ISM_API_KEY" in refused.stderr
    assert "ism_wrong" not in refused.output
