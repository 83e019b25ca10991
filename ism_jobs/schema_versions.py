"""The schema version of each kind of stored document.

A process reads its own version of a document and all earlier ones. A document without a version has version 1.

- Raise a number if an earlier release would misread the document, and write the migration from the version before.
- A new field that an earlier release may ignore needs no new number. Unknown fields of a stored document are ignored
  and kept; only requests are strict.

docs/upgrading.md says how releases with different numbers work together.
"""

from ism_jobs.errors import Unavailable

# The record of a job with its spec. Jobs of each version have their own queue, so a worker sees only those it can run.
# 1: up to release 0.2.0, whose workers refuse unknown fields; 2: has `schema` and `posted`.
JOB = 2
# The description of a data set. 1: its rows are in Redis, as Arrow batches; 2: its only chunk says where they are.
DATASET, DATASET_WITH_ROWS = 2, 1
RESULT = 1  # the result document of a job
EVENT = 1  # an entry of a job's stream of events
MODEL = 1  # the model that projects new rows, an NPZ file
CHECKPOINT = 1  # where the next attempt at a job resumes; one of another version is ignored


def check_readable(what: str, found: int, known: int) -> None:
    """Raise Unavailable if a document was written by a newer release in a way that this one cannot read."""
    if found > known:
        raise Unavailable(
            f"The {what} was written by a newer release of the service (schema {found}; this one reads up to {known})."
            " Ask again when the upgrade is complete."
        )
