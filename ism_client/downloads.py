"""What a job made, as files: which path of the service holds it in the format that a file's suffix asks for."""

import os
from pathlib import Path
from uuid import uuid4

import httpx

from ism_client.http import Http, backoff, path_of

TABLES = ("W", "embedding", "labels", "stability", "trace", "metrics")
PLOTS = ("embedding", "loadings", "trace")
TABLE_FORMATS = ("json", "csv", "npy", "parquet")
MODEL_FORMATS = ("npz", "onnx")
PLOT_FORMATS = ("svg", "png")


def address(job_id: str, name: str, format: str) -> tuple[str, dict[str, str]]:
    """The path and parameters of what is asked for; ValueError where there is no such thing.

    address(id, "W", "npy")  # ("/jobs/…/W", {"format": "npy"})
    """
    if name in TABLES and format in TABLE_FORMATS:
        return path_of("jobs", job_id, name), {"format": format}
    if name == "model" and format in MODEL_FORMATS:
        return path_of("jobs", job_id, "model"), {"format": format}
    if name in PLOTS and format in PLOT_FORMATS:
        return path_of("jobs", job_id, "plots", f"{name}.{format}"), {}
    if name == "result" and format == "json":
        return path_of("jobs", job_id, "result"), {}
    raise ValueError(
        f'There is no "{name}" as "{format}". There are {", ".join(TABLES)} as {", ".join(TABLE_FORMATS)}; '
        f"plots of {', '.join(PLOTS)} as {', '.join(PLOT_FORMATS)}; model as {', '.join(MODEL_FORMATS)}; "
        "result as json."
    )


def download(http: Http, job_id: str, name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """Write one of a job's artifacts to a file, whole or not at all, in the format of the file's suffix.

    Without a path the name has the suffix: download(http, id, "W.npy") writes W.npy to the current folder.
    """
    target = Path(name if path is None else path)
    stem = Path(name).stem if path is None else name.removesuffix(target.suffix)
    source, params = address(job_id, stem, target.suffix.removeprefix(".").lower())
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        _fetch(http, source, params, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def content(http: Http, job_id: str, name: str, format: str) -> bytes:
    """One of a job's artifacts, in memory."""
    path, params = address(job_id, name, format)
    return http.request("GET", path, params=params).content


def _fetch(http: Http, path: str, params: dict[str, str], partial: Path) -> None:
    tries = 0
    while True:
        try:
            with http.stream("GET", path, params=params) as response, partial.open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
        except httpx.TransportError as error:  # broke off in the body, which the retries of `stream` do not cover
            if tries >= http.retries:
                raise http.unreachable(error) from error
        else:
            return
        http.sleep(backoff(tries))
        tries += 1
