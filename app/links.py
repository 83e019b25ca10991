"""Every path of the API: the links in responses, and the paths that other modules need by name."""

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from ism_jobs.store import Record  # at run time the store would make `ism keys` slow to start

LIVENESS, READINESS, METRICS = "/healthz", "/readyz", "/metrics"
DOCS, OPENAPI = "/docs", "/openapi.json"
DOCS_FILES = "/docs-files"  # static files of Swagger UI
PAGE = "/"
PAGE_FILES = "/page"  # static files of the web page

Table = Literal["W", "embedding", "labels", "stability", "trace", "metrics"]
Plot = Literal["embedding", "importance", "loadings", "trace"]
TABLES: tuple[Table, ...] = get_args(Table)
PLOTS: tuple[Plot, ...] = get_args(Plot)


def takes_file(path: str) -> bool:
    """Return whether the request body at this path is an uploaded file."""
    return path == "/datasets" or path.endswith("/transform")


def streams_events(path: str) -> bool:
    """Return whether the response at this path is a stream of server-sent events."""
    return path.endswith("/events")


def dataset_links(id: str) -> dict[str, str]:
    """Return the links of a data set."""
    return {"self": f"/datasets/{id}", "jobs": f"/jobs?dataset={id}"}


def batch_links(id: str) -> dict[str, str]:
    """Return the links of a batch."""
    self = f"/batches/{id}"
    actions = {name: f"{self}/{name}" for name in ("cancel",)}
    return {"self": self, "csv": f"{self}?format=csv", "jobs": f"/jobs?batch={id}", **actions}


def job_links(record: "Record") -> dict[str, str]:
    """Return the links of a job: those that work in its current state."""
    self = f"/jobs/{record.id}"
    links = {"self": self, "events": f"{self}/events"}
    if not record.state.ended:
        links |= {"cancel": f"{self}/cancel", "finish": f"{self}/finish"}
    if record.best:
        links["picture"] = f"{self}/picture"
    if record.state == "succeeded":
        tables = [name for name in TABLES if name in record.artifacts]
        links |= {name: f"{self}/{name}" for name in ("result", *tables, "model", "transform")}
        links["report"] = f"{self}/report.html"
        links |= {f"{name}_plot": f"{self}/plots/{name}.svg" for name in PLOTS}
    if record.batch:
        links["batch"] = batch_links(record.batch)["self"]
    return links
