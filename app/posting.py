"""From the body of POST /jobs to jobs in the queue: everything that can be wrong is found here."""

import hashlib
import json
import secrets
from collections.abc import Callable

from anyio.to_thread import run_sync

from app.children import Children
from app.chores import remaining
from ism_jobs.checks import check_all
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.grids import expand
from ism_jobs.settings import Settings
from ism_jobs.specs import JobSpec, SupervisedSpec
from ism_jobs.store import Record, Store
from ism_jobs.tables import Description

ID_BYTES = 10


async def post(
    store: Store, children: Children, settings: Settings, body: object, idempotency_key: str | None
) -> tuple[list[Record], str | None]:
    """Queue what was posted; gives the jobs, and the batch if they are one."""
    specs, is_batch = await run_sync(_checked, store, body)
    await _check_what_is_left(children, settings, specs)
    return await run_sync(_queued, store, specs, is_batch, idempotency_key)


def _checked(store: Store, body: object) -> tuple[list[JobSpec], bool]:
    """The specs, if they fit their data sets as far as the descriptions tell."""
    specs, is_batch = expand(body)
    descriptions: dict[str, Description] = {}
    for place, spec in enumerate(specs):
        if spec.dataset not in descriptions:
            try:
                descriptions[spec.dataset] = store.datasets.get(spec.dataset).description
            except NotFound as problem:
                field = "dataset" if len(specs) == 1 else f"{place}.dataset"
                raise InvalidSpec(problem.detail, [FieldError(field, problem.detail)]) from None
    check_all(specs, descriptions)
    return specs, is_batch


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


def _queued(
    store: Store, specs: list[JobSpec], is_batch: bool, idempotency_key: str | None
) -> tuple[list[Record], str | None]:
    """The ids follow from the idempotency key where there is one: then a repeated request finds its jobs made."""
    new_id = _ids(idempotency_key)
    batch = new_id("batch") if is_batch else None
    documents = [spec.model_dump(mode="json") for spec in specs]
    ids = [new_id(f"job {place}") for place in range(len(specs))]
    try:
        records = store.jobs.create(list(zip(ids, documents, strict=True)), batch)
    except NotFound:
        records = []
    same = [record.spec for record in records] == documents and all(record.batch == batch for record in records)
    if not same or (batch is not None and len(store.jobs.batch(batch)[1]) != len(records)):
        sentence = "This Idempotency-Key has been used for other jobs; use a new key for new jobs."
        raise InvalidSpec(sentence, [FieldError("Idempotency-Key", sentence)])
    return records, batch


def _ids(key: str | None) -> Callable[[str], str]:
    if key is None:
        return lambda part: secrets.token_hex(ID_BYTES)
    return lambda part: hashlib.sha256(json.dumps([key, part]).encode()).hexdigest()[: 2 * ID_BYTES]
