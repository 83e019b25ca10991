"""The names of all keys in Redis.

A value that may grow large is a list of chunks, so that none comes near Redis's limit of 512 MB.
"""

OWNERS = "ism:owners"  # set: the names of all who have had something here
QUEUED = "ism:jobs:queued"  # sorted set: id by time of creation, so that the sweep sees those first that run first
RUNNING = "ism:jobs:running"  # sorted set: id by the time its lease ends
SWEPT = "ism:jobs:swept"  # number: when somebody last looked for jobs whose lease has ended
TOTALS = "ism:totals"  # hash: counts and seconds over all jobs that have ended


def is_id(text: str) -> bool:
    """Whether this can be an id: one with a colon would lead to another key."""
    return text.isascii() and text.isalnum()


def datasets(owner: str) -> str:
    """Sorted set: id by time of upload. Without API keys there is one owner, whose name is empty."""
    return f"ism:datasets:of:{owner}" if owner else "ism:datasets"


def jobs(owner: str) -> str:
    """Sorted set: id by time of creation."""
    return f"ism:jobs:of:{owner}" if owner else "ism:jobs"


def open_jobs(owner: str) -> str:
    """Set: the jobs that wait or run."""
    return f"ism:jobs:open:{owner}"


def rate(owner: str) -> str:
    """Number: requests of this minute."""
    return f"ism:rate:{owner}"


def dataset(id: str) -> str:
    """Hash: owner, name, created, size, description."""
    return f"ism:dataset:{id}"


def dataset_chunks(id: str) -> str:
    """List: Arrow record batches."""
    return f"ism:dataset:{id}:chunks"


def dataset_jobs(id: str) -> str:
    """Set: the open jobs that use it."""
    return f"ism:dataset:{id}:jobs"


def job(id: str) -> str:
    """Hash: see ism_jobs.store.records."""
    return f"ism:job:{id}"


def events(id: str) -> str:
    """Stream: what happened to a job."""
    return f"ism:job:{id}:events"


def checkpoint(id: str) -> str:
    """List of chunks: where a job's next attempt goes on from."""
    return f"ism:job:{id}:checkpoint"


def artifact(id: str, attempt: int, name: str) -> str:
    """List of chunks: one output, of the attempt that made it, so that attempts cannot mix."""
    return f"ism:job:{id}:{attempt}:{name}"


def saved(id: str) -> str:
    """Set: the keys of all artifacts that attempts have saved, also of those that did not succeed."""
    return f"ism:job:{id}:saved"


def batch(id: str) -> str:
    """Hash: owner, created, jobs."""
    return f"ism:batch:{id}"
