"""Downloading the results of a job in the format that the suffix of a file asks for."""

import os
from pathlib import Path
from uuid import uuid4

import httpx

from ism_client.transport import Http, backoff, path_of

TABLES = ("W", "embedding", "labels", "stability", "trace", "metrics")
PLOTS = ("embedding", "importance", "loadings", "trace")
TABLE_FORMATS = ("json", "csv", "npy", "npz", "parquet")
MODEL_FORMATS = ("npz", "onnx")
PLOT_FORMATS = ("svg", "png")
REPORT_FORMATS = ("html", "pdf")


def result_path(job_id: str, name: str, format: str) -> tuple[str, dict[str, str]]:
    """Return the path and the query parameters of a result. Raises ValueError if there is no such result.

    result_path(id, "W", "npy")  # ("/jobs/…/W", {"format": "npy"})
    """
    if name in TABLES and format in TABLE_FORMATS:
        return path_of("jobs", job_id, name), {"format": format}
    if name == "model" and format in MODEL_FORMATS:
        return path_of("jobs", job_id, "model"), {"format": format}
    if name in PLOTS and format in PLOT_FORMATS:
        return path_of("jobs", job_id, "plots", f"{name}.{format}"), {}
    if name == "report" and format in REPORT_FORMATS:
        return path_of("jobs", job_id, f"report.{format}"), {}
    if name == "result" and format == "json":
        return path_of("jobs", job_id, "result"), {}
    raise ValueError(
        f'There is no "{name}" in the format "{format}". There are {", ".join(TABLES)} as {", ".join(TABLE_FORMATS)}; '
        f"plots of {', '.join(PLOTS)} as {', '.join(PLOT_FORMATS)}; model as {', '.join(MODEL_FORMATS)}; "
        f"result as json; report as {', '.join(REPORT_FORMATS)}."
    )


async def download(http: Http, job_id: str, name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """Write a result of a job to a file, atomically, in the format of the suffix of the file.

    Without a path the name has the suffix: download(http, id, "W.npy") writes W.npy to the current folder.
    """
    target = Path(name if path is None else path)
    stem = Path(name).stem if path is None else name.removesuffix(target.suffix)
    source, params = result_path(job_id, stem, target.suffix.removeprefix(".").lower())
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        await _fetch(http, source, params, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


async def content(http: Http, job_id: str, name: str, format: str) -> bytes:
    """Return a result of a job as bytes."""
    path, params = result_path(job_id, name, format)
    return (await http.request("GET", path, params=params)).content


async def _fetch(http: Http, path: str, params: dict[str, str], partial: Path) -> None:
    tries = 0
    while True:
        try:
            async with http.stream("GET", path, params=params) as response:
                with partial.open("wb") as file:
                    async for chunk in http.wire.chunks(response):
                        file.write(chunk)
        except (
            httpx.TransportError
        ) as error:  # the connection broke in the body, which the retries of `stream` do not cover
            if tries >= http.retries:
                raise http.unreachable(error) from error
        else:
            return
        await http.wire.sleep(backoff(tries))
        tries += 1
