"""The OpenAPI document against the service: no server error, and no answer that is not documented."""

from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import pytest

from tests.support.api import Api
from tests.support.openapi import BOUNDED, DOCUMENT, OPERATIONS, check_operation, loaded

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
CONFIG = {
    "seed": 1,
    "checks": {"enabled": False, **{name: {"enabled": True} for name in CHECKS}},
    "generation": {"deterministic": True, "database": "none", "max-examples": 4},
    "operations": [
        # the corners of everything that can be posted are 8,000 cases; combined examples of batches are 650 more
        *(
            {
                "include-operation-id": posting,
                "phases": {phase: {"enabled": False} for phase in left_out},
                "generation": {"max-examples": 8},
            }
            for posting, left_out in (("postJob", ["coverage"]), ("postBatch", ["coverage", "examples"]))
        ),
        # a plot takes half a second, a report as PDF two
        *(
            {
                "include-operation-id": drawing,
                "phases": {"coverage": {"enabled": False}},
                "generation": {"max-examples": examples},
            }
            for drawing, examples in (("getPlot", 4), ("getPdfReport", 1))
        ),
    ],
}
ROWS = ["1,4,red,a", "2,3,blue,a", "3,9,red,b", "4,1,blue,b", "5,5,red,a", "6,2,blue,b", "8,3,red,a", "7,7,red,b"]


@pytest.fixture(scope="module")
def known(api: Api) -> Iterator[dict[str, str]]:
    """A data set, a batch and a job that are there. Whatever is posted besides is cancelled in the end."""
    dataset = api.upload("\n".join(["x,y,color,class", *ROWS]).encode(), "openapi.csv")["id"]
    spec = {"dataset": dataset, "paradigm": "unsupervised", "features": ["x", "y"], "reference": "class", "folds": 0}
    batch = api.post("/batches", json={**spec, "clusters": 2, "kernel": ["linear", "squared"]}).json()
    jobs = [row["id"] for row in api.compared(batch["id"])["jobs"]]
    webhook = api.post("/webhooks/test", json={"url": "https://localhost/"}).json()["id"]
    yield {"dataset": dataset, "batch": batch["id"], "job": jobs[0], "webhook": webhook}
    for state in ("queued", "running"):
        for job in api.get("/jobs", params={"dataset": dataset, "state": state, "limit": 1000}).json()["items"]:
            api.post(f"/jobs/{job['id']}/cancel")
            api.ended(job["id"])


@pytest.fixture(scope="module")
def schema() -> Any:
    return loaded(DOCUMENT, CONFIG)


def test_the_service_gives_the_document_that_is_tested(api: Api) -> None:
    assert api.get("/openapi.json").json() == DOCUMENT


def with_what_is_there(case: Any, known: dict[str, str]) -> None:
    """Most requests are about things that exist, or they would end at 404; none of them deletes these."""
    kind = case.path.split("/")[1].removesuffix("s").replace("batche", "batch")
    id = (case.path_parameters or {}).get("id")
    if not is_destructive(case) and isinstance(id, str) and len(id) <= 100 and len(id) % 7:
        case.path_parameters["id"] = known[kind]
    for body in case.body if isinstance(case.body, list) else [case.body]:
        if case.path in ("/jobs", "/batches") and isinstance(body, dict) and isinstance(body.get("dataset"), str):
            body |= {"dataset": known["dataset"]}
            body |= {name: "class" for name in ("target", "scores", "clustering") if name in body}
            body |= {"features": ["x", "y"], "max_iter": 20} if isinstance(body.get("label"), str | None) else {}
    if case.path.endswith("/transform") and isinstance(case.body, str) and len(case.body) % 2:
        case.body = "x,y\n1,2\n3,4\n"
    if isinstance(case.query, dict) and isinstance(case.query.get("wait"), float | int):
        case.query["wait"] = min(case.query["wait"], 0.1)


def is_destructive(case: Any) -> bool:
    return case.method == "DELETE" or case.path.endswith("/cancel")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_answer_is_documented(schema: Any, operation: str, service: str, known: dict[str, str]) -> None:
    def check(case: Any) -> None:
        with_what_is_there(case, known)
        answer = case.call_and_validate(base_url=service, timeout=30)
        if answer.status_code == 202 and case.path in ("/jobs", "/batches"):  # nobody waits for these jobs
            httpx.post(f"{service}{answer.headers['location'][0]}/cancel")

    assert check_operation(schema, operation, check) > 0


def test_every_answer_in_a_sequence_is_documented(schema: Any, service: str, known: dict[str, str]) -> None:
    """Uploads, jobs and what follows from them. What these sequences have not made they do not delete."""
    made: dict[str, set[str]] = {"/datasets": set(), "/jobs": set()}
    followed: set[str] = set()  # the operations that were called with something that a sequence has made

    class Sequence(schema.include(path_regex="^/(datasets|jobs)").as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"base_url": service, "timeout": 30}

        def before_call(self, case: Any) -> None:
            super().before_call(case)
            id = case.path_parameters.get("id") if case.path_parameters else None
            if case.method == "POST" and case.path == "/datasets":  # random bytes are no table
                rows = [*ROWS, f"{len(made['/datasets'])},1,red,a"]
                case.body, case.media_type = "\n".join(["x,y,color,class", *rows]), "text/csv"
            elif case.method == "POST" and case.path == "/jobs":
                dataset = max(made["/datasets"], default=known["dataset"])
                case.body = {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "linear"}
            if id in made["/datasets"] | made["/jobs"]:
                followed.add(f"{case.method} {case.path}")
            elif not is_destructive(case):
                with_what_is_there(case, known)
            else:
                case.path_parameters["id"] = "nothing"

        def after_call(self, response: Any, case: Any) -> None:
            super().after_call(response, case)
            if case.method == "POST" and case.path in made and response.status_code in (201, 202):
                made[case.path].add(response.json()["id"])

    for seed in range(30):  # most are enough at the first
        hypothesis.seed(seed)(Sequence)
        Sequence.run(settings=hypothesis.settings(max_examples=6, stateful_step_count=6, **BOUNDED))
        if made["/datasets"] and made["/jobs"] and followed:
            return
    raise AssertionError(f"no sequence has made and followed a job: {made}, {followed}")
