"""What was left out or filled in, in sentences for the warnings of a result."""

from collections.abc import Sequence

import pyarrow as pa

from ism_jobs.data.encoding import Encoding
from ism_jobs.data.imputation import Missing
from ism_jobs.data.source import MISSING_LEVEL
from ism_jobs.sentences import counted, named
from ism_jobs.spec import JobSpec, UnsupervisedSpec

MAX_NAMED = 50  # columns that one sentence names


def left_out_warnings(
    left_out: Sequence[tuple[str, str]], advice: str = "To use a column all the same, name it in features."
) -> list[str]:
    """Name the columns that are no features, each with its reason, and say how to use them."""
    if not left_out:
        return []
    listed = _joined([f"{named(name)} ({reason})" for name, reason in left_out])
    return [f"Left out of the features: {listed}. {advice}"]


def dropped_warnings(rows: int, with_target: int, complete: int) -> list[str]:
    """State how many rows have no target, and how many of the others have missing values."""
    counts = {"they have no target": rows - with_target, "they have missing values": with_target - complete}
    return [f"{count} of {rows} rows were dropped because {why}." for why, count in counts.items() if count]


def filled_warnings(table: pa.Table, encoding: Encoding, missing: Missing) -> list[str]:
    """Name the features whose missing values are filled in."""
    if missing in ("refuse", "drop"):
        return []
    filled = "mean" if missing == "mean" else "median"
    found = []
    for source in encoding.sources:
        gaps = table.column(source.name).null_count
        if gaps:
            value = f"level {named(MISSING_LEVEL)}" if source.has_missing_level else filled
            found.append(f"{named(source.name)} ({counted(gaps, 'value')}, with the {value})")
    return [f"Missing values were filled in: {_joined(found)}."] if found else []


def class_warnings(encoding: Encoding, spec: JobSpec) -> list[str]:
    """Ask whether a text column of a clustering holds known classes, which it should not learn from."""
    texts = [named(source.name) for source in encoding.sources if source.levels is not None]
    if not isinstance(spec, UnsupervisedSpec) or spec.reference is not None or not texts:
        return []
    advice = "If a column holds known classes, name it in reference: then the clusters are only compared with it."
    return [f"The clusters are learned from text too: {_joined(texts)}. {advice}"]


def _joined(parts: Sequence[str]) -> str:
    others = f" and {len(parts) - MAX_NAMED:,} others" if len(parts) > MAX_NAMED else ""
    return ", ".join(parts[:MAX_NAMED]) + others
