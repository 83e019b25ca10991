"""The report of a job as PDF, to print or to attach: plots, ranking, tests, settings, and how to repeat the job."""

from collections.abc import Iterator

from app.links import Plot
from app.sandbox import report_facts as facts
from app.sandbox.drawing import draw_plot
from app.sandbox.report_facts import Document, Facts
from ism_plots import Block, Grid, Plots, Text, pdf_document

MOST_RANKED = 12  # features, beside the plot of their importance
MOST_CANDIDATES = 8  # of a choice


def render_pdf_report(
    job: Document, result: Document, dataset: Document | None, embedding: bytes, trace: bytes, url: str
) -> bytes:
    """Return the report of a job as PDF. The arguments are those of `render_report`, and the trace."""
    title = job["label"] or (dataset["name"] if dataset else "the table")
    return pdf_document(list(_blocks(job, result, dataset, embedding, trace, url)), f"{title} · ISM report")


def _blocks(
    job: Document, result: Document, dataset: Document | None, embedding: bytes, trace: bytes, url: str
) -> Iterator[Block]:
    spec, name = job["spec"], dataset["name"] if dataset else "the table"

    def plot(which: Plot, table: bytes | None = None) -> bytes:
        return draw_plot(which, table, "png", {**spec, "label": None}, result)

    yield Text(job["label"] or name, "title")
    yield Text(facts.question(spec, name), "lead")
    yield Text(facts.claim(result), "lead")
    for sentence in (*facts.remarks(result), *result["warnings"]):
        yield Text(sentence)
    yield Plots([plot("embedding", embedding), plot("importance")])
    ranking = facts.ranking(result)
    yield Text("Which features matter", "heading")
    yield _grid(Facts(ranking.heads, ranking.rows[:MOST_RANKED], ranking.numbers))
    yield Text(facts.RANKING_NOTE, "note")

    yield Text("Axes", "heading")
    yield _grid(facts.contributions(result))
    yield Plots([plot("loadings")])

    yield Text("Quality", "heading")
    for table in (facts.scores(result), facts.confusion(result)):
        if table:
            yield _grid(table)
    yield Text(result["stop"])
    yield Plots([plot("trace", trace)])
    yield Text("Certificate", "heading")
    yield _grid(facts.certificate(result))

    if choice := result.get("choice"):
        yield Text("Choice of settings", "heading")
        yield Text(facts.chosen(choice))
        yield _grid(facts.candidates({**choice, "candidates": _best(choice)}))
    if dataset:
        sentence, columns = facts.columns(spec, result, dataset)
        yield Text("Columns of the table", "heading")
        yield Text(sentence)
        left_out = [row for row in columns.rows if row[2] == "left out"]
        if left_out:
            yield _grid(Facts(columns.heads, left_out, columns.numbers))

    sentence, numbers = facts.exact_numbers(job, result)
    yield Text("Repeat it", "heading")
    yield Text(sentence)
    yield _grid(numbers)
    yield Text(facts.python_lines(job, name, url), "code")
    yield Text(", ".join(f"{package} {version}" for package, version in facts.versions(result).rows), "note")
    yield Text(f"Job {job['id']}, data set {job['dataset']}.", "note")


def _best(choice: Document) -> list[Document]:
    """Return the chosen candidate, then those with the best scores."""
    return sorted(choice["candidates"], key=lambda each: (not each["chosen"], -(each["score"] or 0.0)))[
        :MOST_CANDIDATES
    ]


def _grid(table: Facts) -> Grid:
    return Grid(table.heads, table.rows, table.numbers)
