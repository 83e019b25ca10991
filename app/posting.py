"""From the body of POST /jobs to jobs in the queue: everything that can be wrong is found here."""

import hashlib
import json
import secrets
from collections.abc import Callable

from ism_jobs.checks import check_all
from ism_jobs.design import Design, columns_of
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.grids import expand
from ism_jobs.specs import JobSpec, SupervisedSpec
from ism_jobs.store import Dataset, Record, Store

ID_BYTES = 10


def post(store: Store, body: object, idempotency_key: str | None) -> tuple[list[Record], str | None]:
    """Queue what was posted; gives the jobs, and the batch if they are one.

    The ids follow from the idempotency key where there is one: then a repeated request finds its jobs made.
    """
    specs, is_batch = expand(body)
    _check(store, specs)
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


def _check(store: Store, specs: list[JobSpec]) -> None:
    datasets: dict[str, Dataset] = {}
    for place, spec in enumerate(specs):
        if spec.dataset not in datasets:
            try:
                datasets[spec.dataset] = store.datasets.get(spec.dataset)
            except NotFound as problem:
                field = "dataset" if len(specs) == 1 else f"{place}.dataset"
                raise InvalidSpec(problem.detail, [FieldError(field, problem.detail)]) from None
    check_all(specs, {id: dataset.description for id, dataset in datasets.items()})
    for spec in specs:
        if spec.missing == "drop":
            _check_rest(store, spec, datasets[spec.dataset])
    for id in datasets:
        store.datasets.keep(id)


def _check_rest(store: Store, spec: JobSpec, dataset: Dataset) -> None:
    """What is left when rows are dropped is known from the table only."""
    table = store.datasets.read(spec.dataset, columns_of(spec, dataset.description))
    design = Design.of(table, spec, dataset.description)
    rows = len(design.rows)
    if isinstance(spec, SupervisedSpec):
        assert design.given is not None
        if len({str(value) for value in design.given.tolist()}) < 2:
            sentence = f'"missing": "drop" leaves {rows} rows, all with the same target; at least 2 must differ.'
            raise InvalidSpec(sentence, [FieldError("missing", sentence)])
    elif spec.clusters > rows:
        sentence = f'"missing": "drop" leaves {rows} rows, fewer than the {spec.clusters} clusters asked for.'
        raise InvalidSpec(sentence, [FieldError("clusters", sentence)])


def _ids(key: str | None) -> Callable[[str], str]:
    if key is None:
        return lambda part: secrets.token_hex(ID_BYTES)
    return lambda part: hashlib.sha256(json.dumps([key, part]).encode()).hexdigest()[: 2 * ID_BYTES]
