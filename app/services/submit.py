"""From the body of POST /jobs to jobs in the queue: everything that can be wrong is found here."""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from anyio.to_thread import run_sync

from app.sandbox.pool import Children
from app.sandbox.tasks import remaining
from ism_jobs.checks import check_all
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec, SupervisedSpec, expand
from ism_jobs.store import Record, Store
from ism_jobs.tables import Description

ID_BYTES = 10


@dataclass(frozen=True)
class _Wanted:
    """The jobs that were asked for. Their ids follow from the idempotency key where there is one."""

    specs: list[JobSpec]
    documents: list[dict[str, Any]]
    ids: list[str]
    batch: str | None
    fresh: bool  # there is no key, so nobody can have asked for them before

    @classmethod
    def of(cls, body: object, idempotency_key: str | None, owner: str | None) -> Self:
        specs, is_batch = expand(body)
        new_id = _ids(idempotency_key, owner)
        return cls(
            specs,
            [spec.model_dump(mode="json") for spec in specs],
            [new_id(f"job {place}") for place in range(len(specs))],
            new_id("batch") if is_batch else None,
            idempotency_key is None,
        )


async def post(
    store: Store, children: Children, settings: Settings, body: object, idempotency_key: str | None
) -> tuple[list[Record], str | None]:
    """Queue what was posted; gives the jobs, and the batch if they are one."""
    wanted, records = await run_sync(_begin, store, settings, body, idempotency_key)
    if records is None:
        await _check_what_is_left(children, settings, wanted.specs)
        records = await run_sync(_made, store, wanted)
    return records, wanted.batch


def _begin(
    store: Store, settings: Settings, body: object, idempotency_key: str | None
) -> tuple[_Wanted, list[Record] | None]:
    """The jobs, unless tables must be read first, to see what "missing": "drop" leaves of them.

    A request that is repeated under its key is not checked again: what it needs may be gone since.
    """
    wanted = _Wanted.of(body, idempotency_key, store.owner)
    records = None if wanted.fresh else _found(store, wanted)
    if records is None:
        descriptions = _descriptions(store, wanted.specs)
        check_all(wanted.specs, descriptions, has_dask=settings.dask_scheduler is not None)
        if all(spec.missing != "drop" for spec in wanted.specs):
            records = _made(store, wanted)
    return wanted, records


def _found(store: Store, wanted: _Wanted) -> list[Record] | None:
    """The jobs, if they have been made before."""
    try:
        records = [store.jobs.get(id) for id in wanted.ids]
    except NotFound:
        return None
    return _the_same(store, wanted, records)


def _descriptions(store: Store, specs: list[JobSpec]) -> dict[str, Description]:
    descriptions: dict[str, Description] = {}
    for place, spec in enumerate(specs):
        if spec.dataset not in descriptions:
            try:
                descriptions[spec.dataset] = store.datasets.get(spec.dataset).description
            except NotFound as problem:
                field = "dataset" if len(specs) == 1 else f"{place}.dataset"
                raise InvalidSpec(problem.detail, [FieldError(field, problem.detail)]) from None
    return descriptions


async def _check_what_is_left(children: Children, settings: Settings, specs: list[JobSpec]) -> None:
    """What "missing": "drop" leaves is known from the table only."""
    left: dict[object, tuple[int, int]] = {}
    for spec in specs:
        if spec.missing != "drop":
            continue
        given = spec.target if isinstance(spec, SupervisedSpec) else None
        same = (spec.dataset, str(spec.features), str(given), spec.categorical, getattr(spec, "reference", None))
        if same not in left:
            left[same] = await children.run(remaining, spec, settings)
        rows, values = left[same]
        if isinstance(spec, SupervisedSpec) and values < 2:
            sentence = f'"missing": "drop" leaves {rows} rows, all with the same target; at least 2 must differ.'
            raise InvalidSpec(sentence, [FieldError("missing", sentence)])
        if not isinstance(spec, SupervisedSpec) and spec.clusters > rows:
            sentence = f'"missing": "drop" leaves {rows} rows, fewer than the {spec.clusters} clusters asked for.'
            raise InvalidSpec(sentence, [FieldError("clusters", sentence)])


def _made(store: Store, wanted: _Wanted) -> list[Record]:
    """The jobs, queued; those of a request with the same key may have been quicker."""
    try:
        made = list(zip(wanted.ids, wanted.documents, strict=True))
        records = store.jobs.create(made, wanted.batch, ids_are_random=wanted.fresh)
    except NotFound:
        _descriptions(store, wanted.specs)  # if it is a data set that has just been deleted, this says so
        records = []  # else some of the jobs with this key have been deleted
    return records if wanted.fresh else _the_same(store, wanted, records)


def _the_same(store: Store, wanted: _Wanted, records: list[Record]) -> list[Record]:
    """The records, if they are what was asked for."""
    same = [record.spec for record in records] == wanted.documents
    same = same and all(record.batch == wanted.batch for record in records)
    if not same or (wanted.batch is not None and len(store.jobs.batch(wanted.batch)[1]) != len(records)):
        sentence = "This Idempotency-Key has been used for other jobs; use a new key for new jobs."
        raise InvalidSpec(sentence, [FieldError("Idempotency-Key", sentence)])
    return records


def _ids(key: str | None, owner: str | None) -> Callable[[str], str]:
    if key is None:
        return lambda part: secrets.token_hex(ID_BYTES)
    whose = [owner] if owner else []  # two owners may use the same key
    return lambda part: hashlib.sha256(json.dumps([key, part, *whose]).encode()).hexdigest()[: 2 * ID_BYTES]
