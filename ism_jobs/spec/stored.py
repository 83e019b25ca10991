"""Stored specs: those of earlier schema versions are migrated, and unknown fields are ignored."""

from collections.abc import Callable, Mapping
from typing import Any

from ism_jobs import schema_versions
from ism_jobs.spec.paradigms import JOB_SPEC, JobSpec

Document = dict[str, Any]
Migration = Callable[[Document], Document]

# How the spec of a job becomes one of the next schema version.
# From 1 to 2 only the record around the spec has changed.
MIGRATIONS: dict[int, Migration] = {1: dict}


# Fields that release 0.2.0 does not have. It takes a stored spec with one of them for another request, so they are
# stored only if they differ from these defaults.
LATER_FIELDS = {
    "notify": None,
    "priority": 0,
    "must_link": None,
    "cannot_link": None,
    "output": None,
    "target_kernel": "gaussian",
}


def migrate(document: Document, schema: int, migrations: Mapping[int, Migration] = MIGRATIONS) -> Document:
    """Return a stored document in the latest version, after one migration for each version in between."""
    for version in range(schema, max(migrations) + 1):
        document = migrations[version](document)
    return document


def stored_document(spec: JobSpec) -> Document:
    """Return the document of a spec as it is stored."""
    document = spec.model_dump(mode="json")
    return {name: value for name, value in document.items() if value != LATER_FIELDS.get(name, ...)}


def read_stored_spec(document: Document, schema: int = schema_versions.JOB) -> JobSpec:
    """Return the spec of a stored job.

    Unknown fields come from a later release that has not raised the schema version, so they may be ignored. The record
    keeps them.
    """
    return JOB_SPEC.validate_python(migrate(document, schema), extra="ignore")
