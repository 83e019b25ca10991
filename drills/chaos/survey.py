"""Ask the service for all of its jobs, their event streams and their results, before and after the faults."""

import asyncio
import json
import time
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from drills.chaos.history import History, Observation, Outcome, Reference
from drills.chaos.stack import Stack
from drills.chaos.workload import KINDS, Workload
from drills.event_stream import events
from ism_jobs.store import keys

PAGE_SIZE = 1000  # jobs per request of the list
SECOND_SURVEY_SECONDS = 3.0  # between the two surveys: an ended job must not change in between


async def learn_references(http: httpx.AsyncClient, workload: Workload) -> dict[str, Reference]:
    """Run one job of each kind without faults and return the results."""
    jobs = {}
    for kind in KINDS:
        answer = await http.post("/jobs", json=workload.spec(kind, {"token": f"reference {kind}"}))
        jobs[kind] = answer.raise_for_status().json()["id"]
    references = {}
    for kind, id in jobs.items():
        while (view := (await http.get(f"/jobs/{id}", params={"wait": 30})).json())["state"] in ("queued", "running"):
            pass
        if view["state"] != "succeeded":
            raise RuntimeError(f"A job without faults ({kind}) ended as {view['state']}: {view['error']}")
        result = (await http.get(f"/jobs/{id}/result")).json()
        references[kind] = Reference(result["W"], result["objective"])
    return references


async def wait_until_idle(http: httpx.AsyncClient, seconds: float) -> None:
    """Wait until no job is queued or running, at most so many seconds. The checker reports the rest as lost."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        open = [await _page(http, state=state, limit="1") for state in ("queued", "running")]
        if not any(page["items"] for page in open):
            return
        await asyncio.sleep(0.5)


async def survey(http: httpx.AsyncClient, stack: Stack, history: History) -> None:
    """Record the state of each job twice, because an ended job must not change, and then its outcome."""
    for round in range(2):
        await asyncio.sleep(round * SECOND_SURVEY_SECONDS)
        views = await _all(http)
        for view in views:
            history.observe(view["id"], Observation.of(view))
    history.outcomes = [await _outcome(http, stack, view) for view in views]
    history.ends_counted = await _ends(http)


async def _outcome(http: httpx.AsyncClient, stack: Stack, view: dict[str, Any]) -> Outcome:
    id, succeeded = view["id"], view["state"] == "succeeded"
    result = (await http.get(f"/jobs/{id}/result")).raise_for_status().json() if succeeded else {}
    stream = []
    if Observation.of(view).ended:
        stream = [
            json.loads(event.data)["state"]
            async for event in events(http, f"/jobs/{id}/events")
            if event.kind == "state"
        ]
    ((_, last_event),) = await stack.inspect.xrevrange(keys.events(id), count=1)
    return Outcome(
        id,
        view["metadata"].get("token", ""),
        view["label"] or "",
        view["state"],
        view["attempt"],
        view["error"] and view["error"]["detail"],
        stream,
        last_event["kind"],
        result.get("W"),
        result.get("objective"),
        int(await stack.inspect.hget(keys.job(id), "schema") or 1),
    )


async def _all(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    views: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await _page(http, limit=str(PAGE_SIZE), **cursor)
        views += page["items"]
        if not page["next"]:
            return views
        cursor = {"cursor": page["next"]}


async def _page(http: httpx.AsyncClient, **params: str) -> dict[str, Any]:
    page: dict[str, Any] = (await http.get("/jobs", params=params)).raise_for_status().json()
    return page


async def _ends(http: httpx.AsyncClient) -> int:
    text = (await http.get("/metrics")).raise_for_status().text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return int(sum(sample.value for sample in families["ism_jobs_ended"].samples))
