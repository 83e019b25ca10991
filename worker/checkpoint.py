"""Checkpoints: the state of a job that a later attempt resumes from, packed as .npz."""

import io
import json
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from redis.exceptions import RedisError

from ism_core.selection import FoldScore, Journal
from ism_jobs import schema_versions
from ism_jobs.logs import log
from ism_jobs.store import Attempt, is_full
from worker.trace import Trace

CHECKPOINT_SECONDS = 1.0  # shortest time between two checkpoints of an ascent
LEVEL_RATIO = 1.1  # ratio of the step counts of two successive progress levels
ASCENT_LEVEL = 1_000  # the level at which the ascent begins; no choice has enough scores to reach it


def pack_trace(trace: Trace) -> bytes:
    """Serialize a trace."""
    file = io.BytesIO()
    W = np.empty((0, 0)) if trace.W is None else trace.W
    documents = {"rows": trace.rows, "choice": trace.choice, "predicted": trace.out_of_fold}
    arrays: dict[str, Any] = {name: _encode(each) for name, each in documents.items()}
    np.savez(file, schema=schema_versions.CHECKPOINT, W=W, **arrays, **_packed(trace.journal))
    return file.getvalue()


def resumed_trace(checkpoint: bytes | None) -> Trace:
    """Return the trace of an earlier attempt, or an empty one if its checkpoint is of another version or unreadable.

    A checkpoint only saves time, so a job that cannot use it begins again.
    """
    if checkpoint is None:
        return Trace()
    try:
        return unpack_trace(checkpoint)
    except Exception as error:
        log.warning("checkpoint ignored; the job begins again", reason=str(error))
        return Trace()


def unpack_trace(packed: bytes) -> Trace:
    """Restore the trace of an earlier attempt, ready to be continued."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        schema = int(file["schema"]) if "schema" in file else 1
        if schema != schema_versions.CHECKPOINT:
            raise ValueError(f"it has version {schema}, not {schema_versions.CHECKPOINT}")
        rows = json.loads(file["rows"].tobytes())
        # old checkpoints have no choice or no predictions
        choice, predicted = (
            json.loads(file[name].tobytes()) if name in file else None for name in ("choice", "predicted")
        )
        if not rows:
            return Trace(choice=choice, out_of_fold=predicted, journal=_unpacked(file))
        resumed = {"resumed_at": rows[-1]["iteration"], "resumed_round": rows[-1]["round"]}
        return Trace(rows, file["W"], choice, predicted, **resumed)


class Checkpoints:
    """Saves the trace of an attempt at most once per CHECKPOINT_SECONDS, unless it is forced to.

    `execute` gets the write to the store, and executes it at once or later, in the order of all writes of the job.
    """

    def __init__(self, attempt: Attempt, trace: Trace, execute: Callable[[Callable[[], None]], None]) -> None:
        self._attempt = attempt
        self._trace = trace
        self._execute = execute
        self._saved_at = time.monotonic()

    def save_if_due(self) -> None:
        """Save the trace if the last checkpoint is old enough."""
        if time.monotonic() - self._saved_at > CHECKPOINT_SECONDS:
            self.save()

    def save(self) -> None:
        """Save the present trace, if it has anything to resume from."""
        if self._trace.rows or self._trace.choice or self._trace.journal:
            self._execute(partial(self._write, pack_trace(self._trace), _progress(self._trace)))
            self._saved_at = time.monotonic()

    def _write(self, packed: bytes, progressed: int) -> None:
        """Write a checkpoint. A full store keeps the previous one."""
        try:
            self._attempt.save_checkpoint(packed, progressed)
        except RedisError as error:
            if not is_full(error):
                raise
            log.warning("checkpoint not saved: the store is full")


def _progress(trace: Trace) -> int:
    """Return a progress level: it rises by 1 when the number of scores or steps grows by about 10 %.

    So a job that crashes repeatedly at one place shows no progress.
    """
    scores = sum(len(found) for found in trace.journal.values())
    has_chosen = trace.choice is not None or bool(trace.rows)
    steps = len(trace.rows) if has_chosen else scores
    return int(math.log(1 + steps, LEVEL_RATIO)) + ASCENT_LEVEL * has_chosen


def _packed(journal: Journal) -> dict[str, Any]:
    """Return the scores of a choice as a few arrays."""
    found = [score for scores in journal.values() for score in scores]
    if not found:
        return {}
    index = [[*key, [[score.place, score.seconds, len(score.scores)] for score in journal[key]]] for key in journal]
    scores = np.concatenate([score.scores for score in found])
    return {"index": _encode(index), "scores": scores, "labels": np.concatenate([each.predictions for each in found])}


def _unpacked(file: Any) -> Journal:
    """Return the scores of a choice from the arrays of a checkpoint."""
    journal: Journal = {}
    if "index" not in file:
        return journal
    scores, predictions, start = file["scores"], file["labels"], 0
    for *key, candidates in json.loads(file["index"].tobytes()):
        found = []
        for place, seconds, count in candidates:
            rows = slice(start, start + count)
            found.append(FoldScore(place, scores[rows], predictions[rows], seconds))
            start += count
        scale, q, neighbors, interactions, linear, fold = key
        journal[scale, q, neighbors, interactions, linear, fold] = found
    return journal


def _encode(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
