"""One trace from the POST through the queue to every step, at a collector that speaks OTLP over HTTP."""

import time
from typing import Any

from tests.support.collector import Collector
from tests.support.keyed_service import KeyedService

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ROWS = "\n".join(["x,y,class", *(f"{n % 7},{n * n % 11},{'pq'[n % 7 > n * n % 11]}" for n in range(40))])


def spans_of(collector: Collector, trace: str, name: str) -> list[dict[str, Any]]:
    """The spans of a trace, once one with this name is there."""
    while not any(span["name"] == name for span in collector.trace(trace)):
        time.sleep(0.05)
    return collector.trace(trace)


def test_one_trace_shows_the_request_the_queue_the_worker_every_step_and_the_result(
    keyed_service: KeyedService,
) -> None:
    collector = keyed_service.collector
    with keyed_service.client("traced") as api:
        dataset = api.upload(ROWS.encode())["id"]
        spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 1}
        headers = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
        job = api.post("/jobs", json=spec, headers=headers).json()["id"]
        api.succeeded(job)
        steps = [data for _, kind, data in api.events(job) if kind == "step"]
        spans = spans_of(collector, TRACE, "job")
        while not any(span["name"] == "POST /jobs" for span in spans):
            spans = spans_of(collector, TRACE, "POST /jobs")
        collector.status = 503  # a collector that fails harms nothing
        api.succeeded(api.submit(**{**spec, "seed": 1}))
        collector.status = 200
        assert not any(span["name"] == "GET /healthz" for span in collector.spans)

    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans)

    def path(span: dict[str, Any]) -> list[str]:
        parent = by_id.get(span.get("parentSpanId", ""))
        return [*(path(parent) if parent else [span.get("parentSpanId", "")]), span["name"]]

    paths = [path(span) for span in spans]
    assert [CALLER, "POST /jobs"] in paths
    for stages in (["queue"], ["job"], ["job", "preparing"], ["job", "validation"], ["job", "saving"]):
        assert [CALLER, "POST /jobs", *stages] in paths
    assert sum(found[-1] == "step" for found in paths) == len(steps), "every step of the solver"
    assert {tuple(found[:-2]) for found in paths if found[-1] == "step"} == {(CALLER, "POST /jobs", "job")}
    objectives = [
        each["value"]["doubleValue"]
        for span in spans
        for each in span["attributes"]
        if span["name"] == "step" and each["key"] == "ism.objective"
    ]
    assert sorted(objectives) == sorted(step["objective"] for step in steps)
    for span in spans:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
    assert collector.services == {"night"}
    assert {headers["x-token"] for headers in collector.headers} == {"a b"}
