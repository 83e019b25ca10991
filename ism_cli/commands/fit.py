"""`ism fit`: a job without a service, with the same spec, the same results and the same files."""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from ism_cli.connection import TableFile, is_uri
from ism_cli.output import print_summary
from ism_cli.spec_options import Spec, header_option, progress_option, spec_options, table_format_option

Source = Callable[[], tuple[str, Any, Any]]  # returns the name of a table, its rows or where they are, a description

LONGEST_NAME = 200  # characters of the name of a data set in a spec


@click.command()
@click.argument("file", type=TableFile(allow_dash=True))
@spec_options(grid=False)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for all results.")
@table_format_option
@header_option
@progress_option
@click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")
def fit(
    file: str,
    spec: Spec,
    out: Path | None,
    format: str,
    header: bool | None,
    progress: bool | None,
    as_json: bool,
) -> None:
    """Fit a model to a table on this machine and show the most important features. "-" reads stdin.

    The rows of a folder, a pattern such as 'rows/*.csv' or a URI are read part by part, so that they may exceed the
    memory; --output writes the embedding of all of them.

    \b
      ism fit wine.csv --target class --out wine
      ism fit s3://bucket/rows/ --target class --output embedding.parquet
    """
    from ism_core import InvalidInput
    from ism_jobs.errors import Problem

    try:
        with _source_of(file, header) as source:
            document = _fit(source, spec, out, format, progress)
    except Problem as problem:
        raise click.ClickException(_message(problem)) from None
    except InvalidInput as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        print_summary(document)
        if out is not None:
            click.echo(f"\nAll results are in {out}.", err=True)


def _message(problem: Any) -> str:
    """Return the message of a problem, with the option of each field."""
    options = {param.name: param.opts[0] for param in click.get_current_context().command.params}
    sentences = [f"{options.get(error.field, error.field)}: {error.message}" for error in problem.errors]
    if [error.message for error in problem.errors] == [problem.detail]:
        return sentences[0]
    return "\n  ".join([problem.detail, *sentences])


@contextmanager
def _source_of(file: str, header: bool | None) -> Iterator[Source]:
    """Yield what reads a table, or finds out where its rows are; "-" is the content of stdin."""
    path = Path(file)
    if is_uri(file) or path.is_dir() or (not path.exists() and "*" in path.name):
        yield partial(_refer, file if is_uri(file) else str(path.absolute()), header)
    elif file == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "stdin"
            with copy.open("wb") as stdin:
                shutil.copyfileobj(sys.stdin.buffer, stdin)
            yield partial(_read, copy, header)
    elif not path.is_file():
        raise click.UsageError(f"There is no file or folder {file}.")
    else:
        yield partial(_read, path, header)


def _read(path: Path, header: bool | None) -> tuple[str, Any, Any]:
    from ism_jobs.tables import read_table

    return path.name, *read_table(path, filename=path.name, header=header)


def _refer(uri: str, header: bool | None) -> tuple[str, Any, Any]:
    from ism_jobs.tables import ANYWHERE, Limits, TableParts, describe_reference

    reference, description = describe_reference(uri, ANYWHERE, Limits(), header)
    return uri[:LONGEST_NAME], TableParts(reference, ANYWHERE), description


def _fit(source: Source, spec: Spec, out: Path | None, format: str, progress: bool | None) -> dict[str, Any]:
    from app.schemas import table_document
    from ism_jobs.checks import check
    from ism_jobs.settings import Settings
    from ism_jobs.spec import read_one
    from worker.artifacts import result_document
    from worker.pipeline import iter_run

    name, table, description = source()
    for note in description.notes:
        click.echo(note, err=True)
    if "output" in spec and not is_uri(spec["output"]):
        spec = {**spec, "output": str(Path(spec["output"]).absolute())}
    posted = read_one({"dataset": name, **spec})
    settings = Settings(workers=1)  # one job may use all memory of this machine, unless ISM_JOB_MEMORY is set
    check(posted, description, has_dask=settings.dask_scheduler is not None)
    events = iter_run(
        table, posted, description, memory_limit=settings.memory_per_job, scheduler=settings.dask_scheduler
    )
    del table  # frees its memory once the pipeline has encoded it
    outcome = _drain(events, progress)
    document = result_document(outcome)
    if out is not None:
        _write(outcome, document, out, format)
        _write_report(outcome, document, out, table_document(name, description))
    return document


def _write_report(outcome: Any, document: dict[str, Any], out: Path, table: dict[str, Any]) -> None:
    """Write the report of a service's job; it repeats the job with a service on this machine."""
    from app.sandbox import render_report
    from ism_jobs.store import pack
    from worker.artifacts import tables_of

    spec = outcome.spec.model_dump(mode="json")
    job = {"id": "of ism fit", "label": spec["label"], "dataset": table["name"], "spec": spec}
    embedding = pack(tables_of(outcome)["embedding"])
    (out / "report.html").write_bytes(render_report(job, document, table, embedding, "http://127.0.0.1:8000"))


def _drain(events: Any, progress: bool | None) -> Any:
    """Run the pipeline to its outcome and show a progress bar."""
    from ism_client import Event, ProgressBar
    from ism_core.solver import ReturnCapture

    capture = ReturnCapture(events)
    with ProgressBar(progress) as bar:
        for event in capture:
            state = {"state": "running", "progress": event.progress.document()}
            is_fold = event.kind == "validation"
            bar.show_event(Event("validation", event.document()) if is_fold else Event("state", state))
    return capture.value


def _write(outcome: Any, document: dict[str, Any], out: Path, format: str) -> None:
    """Write the same files as `ism get`, except that result.json has no job."""
    from app.links import PLOTS
    from app.sandbox import PLOT_SOURCES, PlotFormat, draw_plot
    from ism_jobs.store import LABEL_COLUMNS, pack
    from ism_jobs.tables import write_table
    from worker.artifacts import tables_of

    out.mkdir(parents=True, exist_ok=True)
    tables = tables_of(outcome)
    for name, table in tables.items():
        kind: Any = "json" if name == "metrics" and format == "npy" else format
        if (name, kind) == ("metrics", "json"):
            (out / "metrics.json").write_text(json.dumps(document["metrics"]))
        else:
            (out / f"{name}.{kind}").write_bytes(write_table(table, kind, LABEL_COLUMNS[name]))
    (out / "model.npz").write_bytes(outcome.model.to_npz())
    (out / "model.onnx").write_bytes(outcome.model.to_onnx())
    (out / "result.json").write_text(json.dumps(document, indent=2))
    plot_formats: tuple[PlotFormat, ...] = ("svg", "png")
    spec = outcome.spec.model_dump()
    for plot in PLOTS:
        source = pack(tables[PLOT_SOURCES[plot]]) if plot in PLOT_SOURCES else None
        for plot_format in plot_formats:
            (out / f"{plot}.{plot_format}").write_bytes(draw_plot(plot, source, plot_format, spec, document))
