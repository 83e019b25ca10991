"""Submitting jobs: from the body of POST /jobs or /batches to jobs in the queue.

Every check of a request happens here; a job can still fail in the worker.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from anyio.to_thread import run_sync

from app.sandbox import SandboxPool, count_remaining
from app.webhooks import url_refusal
from ism_jobs.checks import check_all
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.settings import Settings
from ism_jobs.spec import (
    JobSpec,
    Place,
    PostedBatch,
    SupervisedSpec,
    expand,
    read_one,
    read_stored_spec,
    stored_document,
)
from ism_jobs.store import Record, Store
from ism_jobs.tables import Description, Roots, WrongPlace
from ism_jobs.tables import Place as Location

Counts = dict[tuple[object, ...], Sequence[Any]]  # the values of `count_remaining`
ID_BYTES = 10  # bytes of the id of a job or batch: with 80 bits, random ids practically never collide


@dataclass(frozen=True)
class Submission:
    """The jobs that were requested. Their ids are derived from the idempotency key if there is one."""

    specs: list[JobSpec]
    places: list[Place]
    documents: list[dict[str, Any]]
    ids: list[str]
    batch: str | None
    label: str | None  # of the batch
    notify: str | None  # of the batch
    posted: str | None  # a hash of the body; None without an idempotency key, when the jobs cannot exist yet

    @classmethod
    def parse(cls, body: object, idempotency_key: str | None, owner: str | None, *, is_batch: bool) -> Self:
        """Parse a request body; raise InvalidSpec with every problem."""
        read = expand(body) if is_batch else PostedBatch([read_one(body)], [Place()])
        new_id = _id_maker(idempotency_key, owner)
        return cls(
            read.specs,
            read.places,
            [stored_document(spec) for spec in read.specs],
            [new_id(f"job {index}") for index in range(len(read.specs))],
            new_id("batch") if is_batch else None,
            read.label,
            read.notify,
            None if idempotency_key is None else _hash(json.dumps(body, sort_keys=True)),
        )


async def submit_job(
    store: Store, sandbox: SandboxPool, settings: Settings, body: object, idempotency_key: str | None
) -> Record:
    """Queue the job of a request body."""
    (record,) = (await _submit(store, sandbox, settings, body, idempotency_key, is_batch=False))[1]
    return record


async def submit_batch(
    store: Store, sandbox: SandboxPool, settings: Settings, body: object, idempotency_key: str | None
) -> str:
    """Queue the jobs of a request body as a batch, and return its id."""
    submission, _ = await _submit(store, sandbox, settings, body, idempotency_key, is_batch=True)
    return submission.batch or ""


async def _submit(
    store: Store, sandbox: SandboxPool, settings: Settings, body: object, key: str | None, *, is_batch: bool
) -> tuple[Submission, list[Record]]:
    submission, records = await run_sync(partial(_begin, store, settings, body, key, is_batch=is_batch))
    if records is None:
        await check_remaining_rows(store, sandbox, submission)
        records = await run_sync(_create, store, submission)
    return submission, records


def _begin(
    store: Store, settings: Settings, body: object, idempotency_key: str | None, *, is_batch: bool
) -> tuple[Submission, list[Record] | None]:
    """Check the jobs and create them. With "missing": "drop", only check them, since their tables must be read first.

    A repeated request with the same idempotency key is not checked again, since its data set may be deleted by now.
    """
    submission = Submission.parse(body, idempotency_key, store.owner, is_batch=is_batch)
    records = None if submission.posted is None else _find_existing(store, submission)
    if records is None:
        are_created = all(spec.missing != "drop" for spec in submission.specs)
        check_submission(store, settings, submission, may_be_gone=are_created)  # creating fails if a data set is gone
        if are_created:
            records = _create(store, submission)
    return submission, records


def _find_existing(store: Store, submission: Submission) -> list[Record] | None:
    """Return the jobs if an earlier request has created them."""
    try:
        records = [store.jobs.get(id) for id in submission.ids]
    except NotFound:
        return None
    return _check_same(store, submission, records)


def check_submission(
    store: Store, settings: Settings, submission: Submission, *, may_be_gone: bool = False
) -> dict[str, Description]:
    """Check the jobs against the descriptions of their data sets; raise InvalidSpec, or return the descriptions.

    With `may_be_gone`, a data set may have been deleted in the last minute.
    """
    _check_notify(settings, submission)
    _check_outputs(settings, submission)
    descriptions = _descriptions(store, submission, may_be_gone=may_be_gone)
    check_all(submission.specs, descriptions, submission.places, has_dask=settings.dask_scheduler is not None)
    return descriptions


def _check_notify(settings: Settings, submission: Submission) -> None:
    """Check that the URLs to notify may be called."""
    urls = [(FieldError("notify.url", ""), Place(), submission.notify)] if submission.notify else []
    named = zip(submission.specs, submission.places, strict=True)
    urls += [(FieldError("notify.url", ""), place, spec.notify.url) for spec, place in named if spec.notify]
    for error, place, url in urls:
        if refusal := url_refusal(url, settings):
            raise InvalidSpec(refusal, [FieldError(place.locate(error).field, refusal)])


def _check_outputs(settings: Settings, submission: Submission) -> None:
    """Check that outputs are in a place where jobs may write."""
    roots = Roots.of(settings.output_roots, "ISM_OUTPUT_ROOTS")
    for spec, place in zip(submission.specs, submission.places, strict=True):
        if isinstance(spec, SupervisedSpec) and spec.output is not None:
            try:
                roots.check(Location.parse(spec.output))
            except WrongPlace as error:
                raise InvalidSpec(str(error), [place.locate(FieldError("output", str(error)))]) from None


def _descriptions(store: Store, submission: Submission, *, may_be_gone: bool = False) -> dict[str, Description]:
    describe = store.datasets.recent_description if may_be_gone else lambda each: store.datasets.get(each).description
    descriptions: dict[str, Description] = {}
    for spec, place in zip(submission.specs, submission.places, strict=True):
        if spec.dataset not in descriptions:
            try:
                descriptions[spec.dataset] = describe(spec.dataset)
            except NotFound as problem:
                raise InvalidSpec(problem.detail, [place.locate(FieldError("dataset", problem.detail))]) from None
    return descriptions


async def check_remaining_rows(
    store: Store, sandbox: SandboxPool, submission: Submission, *, every_job: bool = False
) -> Counts:
    """Check that "missing": "drop" leaves enough rows. This requires reading the tables of these jobs, or of every job.

    Return what was counted, by `training_key`.
    """
    remaining: Counts = {}
    descriptions = await run_sync(_descriptions, store, submission)
    for spec, place in zip(submission.specs, submission.places, strict=True):
        if (spec.missing != "drop" and not every_job) or descriptions[spec.dataset].uri is not None:
            continue
        same = training_key(spec)
        if same not in remaining:
            table = store.datasets.iter_packed(spec.dataset)
            remaining[same] = await sandbox.run(count_remaining, table, spec, descriptions[spec.dataset])
        rows, values = remaining[same][:2]
        if spec.missing != "drop":
            continue
        if isinstance(spec, SupervisedSpec) and values < 2:
            sentence = f'"missing": "drop" leaves {rows} rows, all with the same target; at least 2 must differ.'
            raise InvalidSpec(sentence, [place.locate(FieldError("missing", sentence))])
        if not isinstance(spec, SupervisedSpec) and spec.clusters > rows:
            sentence = f'"missing": "drop" leaves {rows} rows, fewer than the {spec.clusters} clusters asked for.'
            raise InvalidSpec(sentence, [place.locate(FieldError("clusters", sentence))])
    return remaining


def training_key(spec: JobSpec) -> tuple[object, ...]:
    """Return what the rows and features of a job depend on."""
    roles = [str(getattr(spec, name, None)) for name in ("features", "target", "scores", "clustering", "reference")]
    return (spec.dataset, spec.missing, spec.categorical, spec.dates, *roles)


def _create(store: Store, submission: Submission) -> list[Record]:
    """Create and queue the jobs, unless a concurrent request with the same key has just created them."""
    try:
        jobs = list(zip(submission.ids, submission.documents, strict=True))
        records = store.jobs.create(
            jobs,
            submission.batch,
            label=submission.label,
            notify=submission.notify,
            posted=submission.posted,
            ids_are_random=submission.posted is None,
        )
    except NotFound:
        _descriptions(store, submission)  # raises if a data set has just been deleted
        records = []  # otherwise some of the jobs with this key have been deleted
    return records if submission.posted is None else _check_same(store, submission, records)


def _check_same(store: Store, submission: Submission, records: list[Record]) -> list[Record]:
    """Return the records if they match the request; otherwise the idempotency key was used for other jobs."""
    pairs = zip(records, submission.documents, strict=False)
    same = len(records) == len(submission.documents) and all(_is_same(submission, *pair) for pair in pairs)
    same = same and all(record.batch == submission.batch for record in records)
    if not same or (submission.batch is not None and len(store.batches.get(submission.batch).jobs) != len(records)):
        sentence = "This Idempotency-Key was already used for other jobs; use a new key for new jobs."
        raise InvalidSpec(sentence, [FieldError("Idempotency-Key", sentence)])
    return records


def _is_same(submission: Submission, record: Record, document: dict[str, Any]) -> bool:
    """Return whether a job was posted by the same request. Jobs of the first schema version have no hash of it."""
    if record.posted is None:
        return stored_document(read_stored_spec(record.spec, record.schema)) == document
    return record.posted == submission.posted


def _id_maker(key: str | None, owner: str | None) -> Callable[[str], str]:
    if key is None:
        return lambda part: secrets.token_hex(ID_BYTES)
    owner_part = [owner] if owner else []  # two owners may use the same key
    return lambda part: _hash(json.dumps([key, part, *owner_part]))[: 2 * ID_BYTES]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
