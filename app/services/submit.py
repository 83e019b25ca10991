"""Submitting jobs: from the body of POST /jobs to jobs in the queue. All validation happens here."""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from anyio.to_thread import run_sync

from app.sandbox import SandboxPool, count_remaining
from ism_jobs.checks import check_all
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec, SupervisedSpec, expand, read_stored_spec
from ism_jobs.store import Record, Store
from ism_jobs.tables import Description

ID_BYTES = 10  # bytes of the id of a job or batch: with 80 bits, random ids practically never collide


@dataclass(frozen=True)
class _Submission:
    """The jobs that were requested. Their ids are derived from the idempotency key if there is one."""

    specs: list[JobSpec]
    documents: list[dict[str, Any]]
    ids: list[str]
    batch: str | None
    posted: str | None  # a hash of the body; None without an idempotency key, when the jobs cannot exist yet

    @classmethod
    def parse(cls, body: object, idempotency_key: str | None, owner: str | None) -> Self:
        specs, is_batch = expand(body)
        new_id = _id_maker(idempotency_key, owner)
        return cls(
            specs,
            [spec.model_dump(mode="json") for spec in specs],
            [new_id(f"job {index}") for index in range(len(specs))],
            new_id("batch") if is_batch else None,
            None if idempotency_key is None else _hash(json.dumps(body, sort_keys=True)),
        )


async def submit_jobs(
    store: Store, sandbox: SandboxPool, settings: Settings, body: object, idempotency_key: str | None
) -> tuple[list[Record], str | None]:
    """Queue the jobs of a request body. Return their records, and the id of their batch if they form one."""
    submission, records = await run_sync(_begin, store, settings, body, idempotency_key)
    if records is None:
        await _check_remaining_rows(sandbox, settings, submission.specs)
        records = await run_sync(_create, store, submission)
    return records, submission.batch


def _begin(
    store: Store, settings: Settings, body: object, idempotency_key: str | None
) -> tuple[_Submission, list[Record] | None]:
    """Check the jobs and create them. With "missing": "drop", only check them, since their tables must be read first.

    A repeated request with the same idempotency key is not checked again, since its data set may be deleted by now.
    """
    submission = _Submission.parse(body, idempotency_key, store.owner)
    records = None if submission.posted is None else _find_existing(store, submission)
    if records is None:
        descriptions = _descriptions(store, submission.specs)
        check_all(submission.specs, descriptions, has_dask=settings.dask_scheduler is not None)
        if all(spec.missing != "drop" for spec in submission.specs):
            records = _create(store, submission)
    return submission, records


def _find_existing(store: Store, submission: _Submission) -> list[Record] | None:
    """Return the jobs if an earlier request has created them."""
    try:
        records = [store.jobs.get(id) for id in submission.ids]
    except NotFound:
        return None
    return _check_same(store, submission, records)


def _descriptions(store: Store, specs: list[JobSpec]) -> dict[str, Description]:
    descriptions: dict[str, Description] = {}
    for index, spec in enumerate(specs):
        if spec.dataset not in descriptions:
            try:
                descriptions[spec.dataset] = store.datasets.get(spec.dataset).description
            except NotFound as problem:
                field = "dataset" if len(specs) == 1 else f"{index}.dataset"
                raise InvalidSpec(problem.detail, [FieldError(field, problem.detail)]) from None
    return descriptions


async def _check_remaining_rows(sandbox: SandboxPool, settings: Settings, specs: list[JobSpec]) -> None:
    """Check that "missing": "drop" leaves enough rows; this requires reading the table."""
    remaining: dict[object, tuple[int, int]] = {}
    for spec in specs:
        if spec.missing != "drop":
            continue
        given = spec.target if isinstance(spec, SupervisedSpec) else None
        columns = (str(spec.features), spec.categorical, spec.dates, str(given), getattr(spec, "reference", None))
        same = (spec.dataset, *columns)
        if same not in remaining:
            remaining[same] = await sandbox.run(count_remaining, spec, settings)
        rows, values = remaining[same]
        if isinstance(spec, SupervisedSpec) and values < 2:
            sentence = f'"missing": "drop" leaves {rows} rows, all with the same target; at least 2 must differ.'
            raise InvalidSpec(sentence, [FieldError("missing", sentence)])
        if not isinstance(spec, SupervisedSpec) and spec.clusters > rows:
            sentence = f'"missing": "drop" leaves {rows} rows, fewer than the {spec.clusters} clusters asked for.'
            raise InvalidSpec(sentence, [FieldError("clusters", sentence)])


def _create(store: Store, submission: _Submission) -> list[Record]:
    """Create and queue the jobs, unless a concurrent request with the same key has just created them."""
    try:
        jobs = list(zip(submission.ids, submission.documents, strict=True))
        records = store.jobs.create(
            jobs, submission.batch, posted=submission.posted, ids_are_random=submission.posted is None
        )
    except NotFound:
        _descriptions(store, submission.specs)  # raises if a data set has just been deleted
        records = []  # otherwise some of the jobs with this key have been deleted
    return records if submission.posted is None else _check_same(store, submission, records)


def _check_same(store: Store, submission: _Submission, records: list[Record]) -> list[Record]:
    """Return the records if they match the request; otherwise the idempotency key was used for other jobs."""
    pairs = zip(records, submission.documents, strict=False)
    same = len(records) == len(submission.documents) and all(_is_same(submission, *pair) for pair in pairs)
    same = same and all(record.batch == submission.batch for record in records)
    if not same or (submission.batch is not None and len(store.jobs.batch(submission.batch)[1]) != len(records)):
        sentence = "This Idempotency-Key was already used for other jobs; use a new key for new jobs."
        raise InvalidSpec(sentence, [FieldError("Idempotency-Key", sentence)])
    return records


def _is_same(submission: _Submission, record: Record, document: dict[str, Any]) -> bool:
    """Return whether a job was posted by the same request. Jobs of the first schema version have no hash of it."""
    if record.posted is None:
        return read_stored_spec(record.spec, record.schema).model_dump(mode="json") == document
    return record.posted == submission.posted


def _id_maker(key: str | None, owner: str | None) -> Callable[[str], str]:
    if key is None:
        return lambda part: secrets.token_hex(ID_BYTES)
    owner_part = [owner] if owner else []  # two owners may use the same key
    return lambda part: _hash(json.dumps([key, part, *owner_part]))[: 2 * ID_BYTES]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
