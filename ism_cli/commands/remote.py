"""The commands that call a service: upload, submit, watch, get, jobs, compare, finish, cancel, transform."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ism_cli.connection import TableFile, dataset_id, fail, is_uri, remote, tell, write_json
from ism_cli.output import kernel, number, print_summary, table
from ism_cli.spec_options import Spec, header_option, is_grid, progress_option, spec_options, table_format_option

if TYPE_CHECKING:
    from ism_client import Batch, Client, Job

STATES = ("queued", "running", "succeeded", "failed", "cancelled")


@click.command()
@click.argument("files", nargs=-1, required=True, type=TableFile(exists=True, dir_okay=False, allow_dash=True))
@click.option("--name", help="Name of the data set, by default the name of the file; for one file only.")
@header_option
@remote
def upload(client: "Client", files: tuple[str, ...], name: str | None, header: bool | None, as_json: bool) -> None:
    """Upload tables to the service: CSV, TSV, JSON, XLSX, Parquet, Feather (Arrow), Stata, SPSS, NPY or NPZ.

    They may be compressed with gzip or ZIP. "-" reads stdin. The rows of a URI such as s3://bucket/rows/ stay there.

    The ids go to stdout, descriptions of the tables to stderr.
    """
    if name is not None and len(files) > 1:
        raise click.UsageError("--name works with one file only.")
    answers = []
    for file in files:
        source: Any = sys.stdin.buffer if file == "-" else file
        send = client.upload_uri if is_uri(file) else client.upload
        dataset = send(source, name=name, header=header)
        answers.append({"id": dataset.id, "name": dataset.name, "rows": dataset.rows,
                        "columns": [column.name for column in dataset.columns], "notes": dataset.notes})  # fmt: skip
        if not as_json:
            click.echo(dataset.id)
            tell(f"{dataset.name}: {dataset.rows:,} rows, {len(dataset.columns):,} columns")
            for note in dataset.notes:
                tell(f"  {note}")
    if as_json:
        write_json(answers)


@click.command()
@click.argument("dataset", metavar="[DATASET_OR_FILE]", required=False)
@spec_options(grid=True)
@click.option("--wait", is_flag=True, help="Wait until the job ends and show its result.")
@remote
def submit(client: "Client", dataset: str | None, spec: Spec | list[Spec], wait: bool, as_json: bool) -> None:
    """Post a job on the id of a data set, or on a file or URI. The id of the job goes to stdout.

    Options that may vary (--kernel, -q, --features-per-axis, --delta, --clusters, --mu, --missing, --categorical,
    --scale, --seed, --starts, --max-iter, --precision, --tolerance, --approximation-features, --engine, --folds) can
    be repeated: each combination becomes one job of a batch.

    \b
      ism submit wine.csv --target class --wait
      ism submit wine.csv --target class --kernel gaussian --kernel polynomial -q 2 -q 3
    """
    specs = spec if isinstance(spec, list) else [spec]
    if dataset is not None:
        id = dataset_id(client, dataset)
        for one in specs:
            one["dataset"] = id
    elif not all("dataset" in one for one in specs):
        raise click.UsageError("Missing argument 'DATASET_OR_FILE': give the id of a data set or a file to upload.")
    if isinstance(spec, list) or is_grid(spec):
        batch = client.submit_batch(spec)
        _await_batch(batch, as_json) if wait else _announce(batch, f"ism compare {batch.id}", as_json)
    else:
        job = client.submit(spec)
        _await_job(job, as_json) if wait else _announce(job, f"ism watch {job.id}", as_json)


@click.command()
@click.argument("job")
@progress_option
@remote
def watch(client: "Client", job: str, progress: bool | None, as_json: bool) -> None:
    """Follow a job until it ends, then show its result."""
    _await_job(client.job(job), as_json, progress)


@click.command()
@click.argument("job")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the files.")
@table_format_option
@remote
def get(client: "Client", job: str, out: Path, format: str, as_json: bool) -> None:
    """Download all results of a job: W, embedding, labels, trace, metrics, model, plots, result.json."""
    from ism_client import MODEL_FORMATS, PLOT_FORMATS, PLOTS, TABLES

    done = client.job(job)
    names = [f"{name}.{_table_format(name, format)}" for name in TABLES if name in done.links]
    names += [f"model.{kind}" for kind in MODEL_FORMATS] + ["result.json"]
    names += [f"{plot}.{kind}" for plot in PLOTS for kind in PLOT_FORMATS]
    # result.json first, so that a job without a result fails before any file is written
    files = [done.download(name.rpartition(".")[0], out / name) for name in sorted(names, key="result.json".__ne__)]
    if as_json:
        write_json([str(file) for file in files])
    else:
        for file in files:
            click.echo(file)


@click.command()
@click.argument("job")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path),
              help="File to write; .pdf writes a PDF. Default: report.html, or report.pdf with --pdf.")  # fmt: skip
@click.option("--pdf", is_flag=True, help="Write a PDF of a few pages, to print or to attach.")
@remote
def report(client: "Client", job: str, out: Path | None, pdf: bool, as_json: bool) -> None:
    """Write the report of a job: one HTML file that needs no network, or a PDF."""
    target = out or Path("report.pdf" if pdf else "report.html")
    if pdf and target.suffix.lower() != ".pdf":
        raise click.UsageError(f"--out is {target}, but --pdf writes a PDF; leave out --pdf or use a name with .pdf.")
    written = client.job(job).result().report(target)
    if as_json:
        write_json({"out": str(written)})
    else:
        click.echo(written)


@click.command()
@click.option("--state", multiple=True, type=click.Choice(STATES), help="Only jobs in this state; may be repeated.")
@click.option("--batch", help="Only jobs of this batch.")
@click.option("--dataset", help="Only jobs on this data set.")
@click.option("--label", help="Only jobs with this label.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Largest number of jobs.")
@remote
def jobs(client: "Client", limit: int, state: tuple[str, ...], as_json: bool, **filters: Any) -> None:
    """List jobs, newest first."""
    found = [job for job, _ in zip(client.jobs(state=state or None, **filters), range(limit), strict=False)]
    if as_json:
        write_json([job.document for job in found])
        return
    names = {item.id: item.name for item in client.datasets()}
    rows = [
        [job.id, job.state, names.get(job.dataset or "", "(deleted)"), _question(job.spec), _score(job.metrics or {}),
         job.created.strftime("%Y-%m-%d %H:%M") if job.created else "", job.label or ""]
        for job in found
    ]  # fmt: skip
    click.echo(table(["job", "state", "table", "target", "score", "created", "label"], rows) if rows else "No jobs.")


@click.command()
@click.argument("batch")
@click.option("--wait", is_flag=True, help="Wait until all jobs have ended.")
@remote
def compare(client: "Client", batch: str, wait: bool, as_json: bool) -> None:
    """List the jobs of a batch by their metric, best first."""
    found = client.batch(batch)
    _show_batch(found.wait() if wait else found, as_json)


@click.command()
@click.argument("job_ids", metavar="JOB...", nargs=-1, required=True)
@remote
def finish(client: "Client", job_ids: tuple[str, ...], as_json: bool) -> None:
    """End the searches of jobs; they succeed soon with the best results so far."""
    asked = [client.job(id).finish() for id in job_ids]
    if as_json:
        write_json([job.document for job in asked])
    else:
        for job in asked:
            click.echo(f"{job.id}: {job.state}, ends soon with the best result so far")


@click.command()
@click.argument("job_ids", metavar="JOB...", nargs=-1, required=True)
@remote
def cancel(client: "Client", job_ids: tuple[str, ...], as_json: bool) -> None:
    """Cancel jobs; a running job stops after its current iteration."""
    cancelled = [client.job(id).cancel() for id in job_ids]
    if as_json:
        write_json([job.document for job in cancelled])
    else:
        for job in cancelled:
            ended = job.state == "cancelled"
            click.echo(f"{job.id}: {'cancelled' if ended else f'{job.state}, stops after its current iteration'}")


@click.command()
@click.argument("job")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path),
              help="File to write: .csv, .npy, .parquet or .json. Without it, CSV goes to stdout.")  # fmt: skip
@remote
def transform(client: "Client", job: str, file: str, out: Path | None, as_json: bool) -> None:
    """Project the rows of a table with the model of a job. "-" reads stdin."""
    source: Any = sys.stdin.buffer if file == "-" else file
    if out is not None and out.suffix.lower() not in (".csv", ".npy", ".parquet", ".json"):
        raise click.BadParameter(
            f"{out.name} has no known suffix; use .csv, .npy, .parquet or .json.", param_hint="--out"
        )
    content = client.job(job).transformed(source, out.suffix[1:].lower() if out else "json" if as_json else "csv")
    if out is None:
        click.echo(content, nl=False)
        return
    out.write_bytes(content)
    if as_json:
        write_json({"out": str(out)})


def _question(spec: dict[str, Any]) -> str:
    """Return the target of a job, or the number of clusters."""
    target = spec.get("target")
    if target is None:
        return f"{spec.get('clusters', '')} clusters"
    return ", ".join(target) if isinstance(target, list) else str(target)


def _score(metrics: dict[str, float | None]) -> str:
    """Return the first of the metrics that say how good a result is."""
    for name in ("accuracy", "r2", "nmi_reference", "silhouette"):
        if metrics.get(name) is not None:
            return f"{name} {number(metrics[name])}"
    return ""


def _announce(posted: "Job | Batch", command: str, as_json: bool) -> None:
    if as_json:
        write_json(posted.document)
        return
    click.echo(posted.id)
    tell(f"`{command}` follows it.")


def _await_job(job: "Job", as_json: bool, progress: bool | None = None) -> None:
    try:
        job.wait(progress=False if as_json and progress is None else progress)
    except KeyboardInterrupt:
        tell(f"The job continues; `ism watch {job.id}` follows it again, `ism cancel {job.id}` cancels it.")
        raise SystemExit(130) from None
    document = job.result().document
    if as_json:
        write_json(document)
        return
    print_summary(document)
    tell(f"\n`ism get {job.id} --out FOLDER` downloads all results.")


def _await_batch(batch: "Batch", as_json: bool) -> None:
    tell(f"Batch {batch.id}")
    try:
        batch.wait(progress=False if as_json else None)
    except KeyboardInterrupt:
        tell(f"The jobs continue; `ism compare {batch.id} --wait` waits for them again.")
        raise SystemExit(130) from None
    _show_batch(batch, as_json)
    failed = sum(batch.states.get(state, 0) for state in ("failed", "cancelled"))
    if failed:
        fail(f"{failed} of {sum(batch.states.values())} jobs did not succeed; `ism watch JOB` shows the reason.")


def _show_batch(batch: "Batch", as_json: bool) -> None:
    rows = batch.table()
    if as_json:
        write_json(batch.document)
        return
    settings = {name: None for job in batch.document["jobs"] for name in job.get("settings", {})}
    names = [
        "label",
        *settings,
        batch.metric,
        f"{batch.metric}_std",
        "objective",
        "iterations",
        "seconds_total",
        "error",
    ]
    columns = ["id", "state", *(name for name in dict.fromkeys(names) if name is not None and _differs(name, rows))]
    cells = [[kernel(row.get(name)) if name == "kernel" else number(row.get(name)) for name in columns] for row in rows]
    click.echo(table(["job" if name == "id" else name for name in columns], cells))


def _differs(name: str, rows: list[dict[str, Any]]) -> bool:
    """Return whether a column of the table differs between jobs; kernel and q are always shown."""
    values = [row.get(name) for row in rows]
    return name in ("kernel", "q") or any(value != values[0] for value in values)


def _table_format(name: str, format: str) -> str:
    return "json" if name == "metrics" and format == "npy" else format  # NPY cannot hold the names of metrics
