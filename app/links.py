"""Every path of the API: the links in responses, and the paths that other modules need by name."""

import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlencode

if TYPE_CHECKING:
    from ism_jobs.store import Record  # at run time the store would make `ism keys` slow to start

LIVENESS, READINESS, METRICS = "/healthz", "/readyz", "/metrics"
DOCS, OPENAPI = "/docs", "/openapi.json"
DOCS_FILES = "/docs-files"  # static files of Swagger UI
PAGE = "/"
PAGE_FILES = "/page"  # static files of the web page

Table = Literal["W", "embedding", "labels", "stability", "trace", "metrics"]
Plot = Literal["embedding", "importance", "loadings", "trace"]
MAX_PREFIX = 200  # characters
TABLES: tuple[Table, ...] = get_args(Table)
PLOTS: tuple[Plot, ...] = get_args(Plot)


_PREFIX = re.compile(r"(/[\w.~-]+){1,10}", re.ASCII)  # never "//", with which a link would lead to another host
_prefix: ContextVar[str] = ContextVar("prefix", default="")


def use_prefix(forwarded: str) -> None:
    """Put this prefix before every link of the current response, if it is the path at which a proxy serves the API."""
    path = forwarded.strip().rstrip("/")
    _prefix.set(path if len(path) <= MAX_PREFIX and _PREFIX.fullmatch(path) else "")


def prefix() -> str:
    """Return the prefix of the links in the current response, such as /ism; mostly empty."""
    return _prefix.get()


def page_links(path: str, query: Iterable[tuple[str, str]], cursor: str | None) -> dict[str, str]:
    """Return the links of one page of a list: itself, and the next page if there is one."""
    kept = [(name, value) for name, value in query if name != "cursor"]
    links = {"self": [*query], "next": [*kept, ("cursor", cursor)] if cursor else None}
    return {
        name: f"{prefix()}{path}" + (f"?{urlencode(pairs)}" if pairs else "")
        for name, pairs in links.items()
        if pairs is not None
    }


def takes_file(path: str) -> bool:
    """Return whether the request body at this path is an uploaded file."""
    return path == "/datasets" or path.endswith("/transform")


def streams_events(path: str) -> bool:
    """Return whether the response at this path is a stream of server-sent events."""
    return path.endswith("/events")


def dataset_links(id: str) -> dict[str, str]:
    """Return the links of a data set."""
    return {"self": f"{prefix()}/datasets/{id}", "jobs": f"{prefix()}/jobs?dataset={id}"}


def batch_links(id: str) -> dict[str, str]:
    """Return the links of a batch."""
    self = f"{prefix()}/batches/{id}"
    actions = {name: f"{self}/{name}" for name in ("cancel", "retry")}
    return {"self": self, "csv": f"{self}?format=csv", "jobs": f"{prefix()}/jobs?batch={id}", **actions}


def job_links(record: "Record") -> dict[str, str]:
    """Return the links of a job: those that work in its current state."""
    self = f"{prefix()}/jobs/{record.id}"
    links = {"self": self, "events": f"{self}/events"}
    if not record.state.ended:
        links |= {"cancel": f"{self}/cancel", "finish": f"{self}/finish"}
    if record.state in ("failed", "cancelled"):
        links["retry"] = f"{self}/retry"
    if record.best:
        links["picture"] = f"{self}/picture"
    if record.state == "succeeded":
        tables = [name for name in TABLES if name in record.artifacts]
        links |= {name: f"{self}/{name}" for name in ("result", *tables, "model", "project", "transform")}
        links |= {"report": f"{self}/report.html", "report_pdf": f"{self}/report.pdf"}
        links |= {f"{name}_plot": f"{self}/plots/{name}.svg" for name in PLOTS}
    if record.batch:
        links["batch"] = batch_links(record.batch)["self"]
    return links
