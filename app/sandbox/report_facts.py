"""What a report says about a job, as sentences, tables and lines of code, for every file format of the report."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from app.sandbox.drawing import ranked_entries

Document = Mapping[str, Any]
RANKING_NOTE = (
    "The importance of a feature is its share of the axes that count; ± is one standard error. "
    "Unclear: within two standard errors of 0. Collinear features share a line."
)


@dataclass(frozen=True)
class Facts:
    """A table of a report; its columns from the index `numbers` on are aligned to the right."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: int = 1


def number(value: Any, digits: int = 4) -> str:
    """Return a number with a few digits; a dash if it is missing."""
    return "–" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def question(spec: Document, name: str) -> str:
    """Return what the job was asked, as a question."""
    if spec["paradigm"] == "supervised":
        targets = spec["target"] if isinstance(spec["target"], list) else [spec["target"]]
        return f"Which features of {name} explain {', '.join(targets)}?"
    return f"Which features of {name} show {spec['clusters']} clusters? ({spec['paradigm'].replace('_', '-')})"


def claim(result: Document) -> str:
    """Return the result in one or two sentences."""
    validation, d, q = result.get("validation"), len(result["features"]), len(result["axes"])
    text = f"{d:,} features were reduced to {q} new {'axis' if q == 1 else 'axes'}."
    if validation and validation["score"] is not None:
        measure = "accuracy" if validation["measure"] == "accuracy" else "R²"
        digits = ".1%" if measure == "accuracy" else ".3f"
        text += f" Cross-validated {measure}: {validation['score']:{digits}} ± {validation['error'] or 0:{digits}}."
    return text


def remarks(result: Document) -> list[str]:
    """Return the sentences about the baseline, about what the axes miss, and about an early end."""
    found = [each["sentence"] for each in (result.get("baseline"), result.get("missed")) if each]
    return found + ([] if result["converged"] else [result["stop"]])


def ranking(result: Document) -> Facts:
    """Return the features, the most important first."""

    def row(entry: Any) -> Sequence[Any]:
        error = "" if entry.error is None else f" ± {entry.error:.1%}"
        drop = "" if entry.drop is None else f"{entry.drop:.3g} ± {entry.drop_error:.2g}"
        return entry.name, "unclear" if entry.unclear else "", f"{entry.share:.1%}{error}", drop

    heads = ("Feature", "", "Importance", "Explained variance lost if shuffled")
    return Facts(heads, [row(entry) for entry in ranked_entries(result)], 2)


def contributions(result: Document) -> Facts:
    """Return what each axis contributes."""
    found = result.get("contributions") or [{}] * len(result["axes"])
    lines = [
        (axis, "yes" if each.get("informative", True) else "no, for plots only", _percent(each.get("share")),
         number(value))
        for axis, each, value in zip(result["axes"], found, result["eigenvalues"], strict=True)
    ]  # fmt: skip
    return Facts(("Axis", "Tells about held-out rows", "Contribution", "Eigenvalue"), lines, 2)


def weights(result: Document) -> Facts:
    """Return W, with standard errors if they are known."""
    errors = (result.get("stability") or {}).get("errors")
    lines = [
        (name, *(number(value) + (f" ± {number(errors[row][axis], 2)}" if errors else "")
                 for axis, value in enumerate(result["W"][row])))
        for row, name in enumerate(result["features"])
    ]  # fmt: skip
    return Facts(("Feature", *result["axes"]), lines)


def structure(result: Document) -> Facts | None:
    """Return the correlations of the features with the axes."""
    if not result.get("structure"):
        return None
    pairs = zip(result["features"], result["structure"], strict=True)
    return Facts(("Feature", *result["axes"]), [(name, *(number(value, 3) for value in row)) for name, row in pairs])


def scores(result: Document) -> Facts | None:
    """Return the score beside those of the baselines; None for a clustering."""
    baseline = result.get("baseline")
    if not baseline:
        return None
    is_accuracy = baseline["measure"] == "accuracy"
    written = _percent if is_accuracy else number
    rows = [("The axes", written(baseline["score"]), written(baseline["error"])),
            ("Linear model on all features", written(baseline["linear"]), written(baseline["linear_error"])),
            ("Most frequent class" if is_accuracy else "Mean", written(baseline["constant"]), "")]  # fmt: skip
    return Facts(("Prediction by", "Accuracy" if is_accuracy else "R²", "Standard error"), rows)


def confusion(result: Document) -> Facts | None:
    """Return precision, recall and the confusion matrix; None if no classes were predicted."""
    baseline = result.get("baseline")
    if not baseline or not baseline["classes"]:
        return None
    classes = baseline["classes"]
    lines = [
        (each["class"], _percent(each["precision"]), _percent(each["recall"]), each["rows"], *counts)
        for each, counts in zip(classes, baseline["confusion"], strict=True)
    ]
    return Facts(("Class", "Precision", "Recall", "Rows", *(f"as {each['class']}" for each in classes)), lines)


def certificate(result: Document) -> Facts:
    """Return the certificate of W, and how its J was computed."""
    rows = [(name.replace("_", " "), number(value, 3)) for name, value in result["certificate"].items()]
    error = (result.get("error") or {}).get("objective")
    return Facts(("", "Value"), [*rows, ("method", result["method"]), ("relative error of J", number(error, 2))])


def metrics(result: Document) -> Facts:
    """Return all metrics."""
    return Facts(("Metric", "Value"), [(name, number(value)) for name, value in result["metrics"].items()])


def candidates(choice: Document) -> Facts:
    """Return the settings that were tried."""
    rows = [
        (_kernel(each), each["scale"], "chosen" if each["chosen"] else "", each["q"],
         number(each["score"]), number(each["error"], 2))
        for each in choice["candidates"]
    ]  # fmt: skip
    return Facts(("Kernel", "Scale", "", "Axes", choice["criterion"], "Standard error"), rows, 3)


def chosen(choice: Document) -> str:
    """Return the settings that were chosen, and why."""
    for each in choice["candidates"]:
        if each["chosen"]:
            q = each["q"]
            return f"Chosen: {_kernel(each)}, {each['scale']}, {q} {'axis' if q == 1 else 'axes'}. {choice['reason']}"
    return str(choice["reason"])


def columns(spec: Document, result: Document, dataset: Document) -> tuple[str, Facts]:
    """Return a sentence about the columns of the table, and how each is used."""
    used = set((result.get("encoding") or {}).get("columns") or result["features"])
    given = [spec.get(role) for role in ("target", "scores", "clustering", "reference")]
    roles = {name for each in given if each for name in (each if isinstance(each, list) else [each])}
    rows = [
        (column["name"], column["kind"],
         "feature" if column["name"] in used else "given" if column["name"] in roles else "left out",
         "" if column["name"] in used | roles else column.get("reason") or "see the notes above",
         column["missing"])
        for column in dataset["columns"]
    ]  # fmt: skip
    left_out = sum(row[2] == "left out" for row in rows)
    sentence = f"{dataset['rows']:,} rows, {len(rows):,} columns; {left_out:,} left out."
    return sentence, Facts(("Column", "Kind", "Use", "Reason", "Missing values"), rows, 4)


def pinned_spec(job: Document, result: Document) -> dict[str, Any]:
    """Return the job with all settings that were chosen."""
    return dict((result.get("choice") or {}).get("spec") or job["spec"])


def exact_numbers(job: Document, result: Document) -> tuple[str, Facts]:
    """Return the numbers that the lines of `python_lines` give, with a sentence that says how nearly."""
    rows = [("J", repr(result["objective"]))]
    for axis, value in zip(result["axes"], result["eigenvalues"], strict=True):
        rows.append((f"eigenvalue of {axis}", repr(value)))
    sentence = (
        "The same table and the same lines give the numbers below. Other versions, processors or numbers of threads "
        "may change them by rounding; the iteration itself stops at a tolerance of "
        f"{number(pinned_spec(job, result).get('delta'))}. If the service needs an API key, add "
        "api_key='…' to Client, and -H 'Authorization: Bearer …' to curl."
    )
    return sentence, Facts(("Number", "Value"), rows)


def python_lines(job: Document, name: str, url: str) -> str:
    """Return the lines of Python that repeat the job with the service at `url`."""
    return (
        "from ism_client import Client\n\n"
        f"spec = {pformat(_without_dataset(job), width=100, sort_dicts=False)}\n"
        f"client = Client({url!r})\n"
        f"job = client.submit(client.upload({name!r}), **spec)\n"
        "result = job.wait().result()\n"
        "print(result.objective, result.metrics)\n"
    )


def curl_lines(job: Document, name: str, url: str) -> str:
    """Return the commands that repeat the job."""
    id_of = "python3 -c \"import json, sys; print(json.load(sys.stdin)['id'])\""
    numbers = "python3 -c \"import json, sys; r = json.load(sys.stdin); print(r['objective'], r['metrics'])\""
    body = json.dumps(_without_dataset(job), ensure_ascii=False).replace("'", "'\\''")
    return (
        f"DATASET=$(curl -s -F file=@{shlex.quote(name)} {url}/datasets | {id_of})\n"
        f"JOB=$(printf '%s' '{body[:-1]}, \"dataset\": \"'$DATASET'\"}}' |\n"
        f"  curl -s {url}/jobs -H 'Content-Type: application/json' -d @- | {id_of})\n"
        f"curl -sN {url}/jobs/$JOB/events > /dev/null  # until the job ends\n"
        f"curl -s {url}/jobs/$JOB/result | {numbers}\n"
    )


def versions(result: Document) -> Facts:
    """Return the packages that computed the result."""
    return Facts(("Package", "Version"), list((result.get("versions") or {}).items()))


def _without_dataset(job: Document) -> dict[str, Any]:
    """Return the spec for another data set, without what is not set."""
    return {key: value for key, value in job["spec"].items() if key != "dataset" and value not in (None, {})}


def _kernel(candidate: Document) -> str:
    """Return the name of a kernel and its numbers; JSON for a combination."""
    kernel = candidate["kernel"]
    if "name" not in kernel:
        return json.dumps(kernel)
    numbers = [f"{name} {value:.3g}" for name, value in kernel.items() if isinstance(value, int | float)]
    text = " ".join([kernel["name"].replace("_", " "), *numbers])
    return f"{text}, neighbors" if candidate.get("neighbors") else text


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
