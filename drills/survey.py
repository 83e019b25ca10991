"""What the service says at the end, when all is healed: every job that it has, with its stream and its result."""

import asyncio
import json
import time
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from drills.history import History, Look, Outcome, Reference
from drills.stack import Stack
from drills.streams import events
from drills.workload import KINDS, Workload
from ism_jobs.store import keys

PAGE = 1000
SECOND_LOOK_SECONDS = 3.0


async def learn_references(http: httpx.AsyncClient, workload: Workload) -> dict[str, Reference]:
    """Run one job of each kind while nobody disturbs."""
    jobs = {}
    for kind in KINDS:
        answer = await http.post("/jobs", json=workload.spec(kind, {"token": f"reference {kind}"}))
        jobs[kind] = answer.raise_for_status().json()["id"]
    references = {}
    for kind, id in jobs.items():
        while (view := (await http.get(f"/jobs/{id}", params={"wait": 30})).json())["state"] in ("queued", "running"):
            pass
        if view["state"] != "succeeded":
            raise RuntimeError(f"An undisturbed job ({kind}) has {view['state']}: {view['error']}")
        result = (await http.get(f"/jobs/{id}/result")).json()
        references[kind] = Reference(result["W"], result["objective"])
    return references


async def quiet(http: httpx.AsyncClient, seconds: float) -> None:
    """Wait until no job waits or runs any more, for so long at most: who has not ended then is reported as lost."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        open = [await _page(http, state=state, limit="1") for state in ("queued", "running")]
        if not any(page["items"] for page in open):
            return
        await asyncio.sleep(0.5)


async def survey(http: httpx.AsyncClient, stack: Stack, history: History) -> None:
    """Write into the history how each job stands, twice: what has ended must stay as it is."""
    for round in range(2):
        await asyncio.sleep(round * SECOND_LOOK_SECONDS)
        views = await _all(http)
        for view in views:
            history.saw(view["id"], Look.at(view))
    history.outcomes = [await _outcome(http, stack, view) for view in views]
    history.ends_counted = await _ends(http)


async def _outcome(http: httpx.AsyncClient, stack: Stack, view: dict[str, Any]) -> Outcome:
    id, succeeded = view["id"], view["state"] == "succeeded"
    result = (await http.get(f"/jobs/{id}/result")).raise_for_status().json() if succeeded else {}
    stream = []
    if Look.at(view).ended:
        stream = [
            json.loads(told.data)["state"] async for told in events(http, f"/jobs/{id}/events") if told.kind == "state"
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
    )


async def _all(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    views: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await _page(http, limit=str(PAGE), **cursor)
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
