"""A client for the tests: plain HTTP, with names for what they do all the time."""

import json
from typing import Any

import httpx


class Api(httpx.Client):
    """httpx with the service's address, and the few calls that every test begins with."""

    def upload(self, body: bytes, filename: str = "table.csv", **params: str) -> dict[str, Any]:
        answer = self.post("/datasets", files={"file": (filename, body)}, params=params)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def submit(self, **spec: Any) -> str:
        answer = self.post("/jobs", json=spec)
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def ended(self, job: str) -> dict[str, Any]:
        while (view := self.get(f"/jobs/{job}", params={"wait": 30}).json())["state"] in ("queued", "running"):
            pass
        return view

    def succeeded(self, job: str) -> dict[str, Any]:
        view = self.ended(job)
        assert view["state"] == "succeeded", view
        return view

    def compared(self, batch: str) -> dict[str, Any]:
        """The batch when all of its jobs have ended."""
        for row in self.get(f"/batches/{batch}").json()["jobs"]:
            self.ended(row["id"])
        return self.get(f"/batches/{batch}").json()

    def events(self, job: str, last: str | None = None, until: int | None = None) -> list[tuple[str, str, Any]]:
        """The (id, kind, data) of a job's events, all of them or the first so many."""
        found: list[tuple[str, str, Any]] = []
        fields: dict[str, str] = {}
        headers = {} if last is None else {"Last-Event-ID": last}
        with self.stream("GET", f"/jobs/{job}/events", headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.strip()
                elif "event" in fields:
                    found.append((fields["id"], fields["event"], json.loads(fields["data"])))
                    fields = {}
                    if until is not None and len(found) >= until:
                        break
        return found


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer, which must be one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document.keys() == {"type", "title", "status", "detail", "instance", "errors"}
    assert document["instance"] == f"urn:ism:request:{answer.headers['x-request-id']}"
    assert document["status"] == status
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document
