"""The names of all keys in Redis, and what each holds.

A value that may grow large is a list of chunks, so that none comes near Redis's limit of 512 MB.
"""

OWNERS = "ism:owners"  # set: the names of all owners that have stored something
SERVED = "ism:jobs:served"  # sorted set: owner by the number of the last turn at which one of its jobs was started
LAST_SWEEP = "ism:jobs:sweep"  # number: when the last sweep began
WAITING_WORKERS = "ism:workers:waiting"  # sorted set: worker by the time when it last found Redis full
TOTALS = "ism:totals"  # hash: counts and seconds, summed over all ended jobs

WEBHOOK_NOTICES = "ism:webhooks:notices"  # list: ids of ended jobs for which there may be messages
WEBHOOKS_DUE = "ism:webhooks:due"  # sorted set: queue by the time of its next try
WEBHOOK_LEADER = "ism:webhooks:leader"  # text: the process that sends messages; it expires


def is_id(text: str) -> bool:
    """Return whether a text can be an id. A colon in it could address another key."""
    return text.isascii() and text.isalnum()


def queued(schema: int) -> str:
    """Sorted set: id of a queued job by time of creation. One for each job schema."""
    return f"ism:jobs:queued{_suffix(schema)}"


def waiting_owners(schema: int) -> str:
    """Set: the owners with queued jobs that have a place. One with none left may remain until a claim removes it."""
    return f"ism:jobs:waiting:{schema}"


def waiting(owner: str, schema: int) -> str:
    """Sorted set: id of a queued job of an owner by its place, the next first."""
    return f"ism:jobs:waiting:{schema}:{owner}"


def running(schema: int) -> str:
    """Sorted set: id by the time its lease ends. One for each job schema."""
    return f"ism:jobs:running{_suffix(schema)}"


def swept(schema: int) -> str:
    """Number: time of the last search for expired leases. One for each job schema."""
    return f"ism:jobs:swept{_suffix(schema)}"


def _suffix(schema: int) -> str:
    return f":{schema}" if schema > 1 else ""  # version 1 is from before the versions


def datasets(owner: str) -> str:
    """Sorted set: id by time of upload. Without API keys there is one owner, whose name is empty."""
    return f"ism:datasets:of:{owner}" if owner else "ism:datasets"


def jobs(owner: str) -> str:
    """Sorted set: id by time of creation."""
    return f"ism:jobs:of:{owner}" if owner else "ism:jobs"


def batches(owner: str) -> str:
    """Sorted set: id by time of creation."""
    return f"ism:batches:of:{owner}" if owner else "ism:batches"


def open_jobs(owner: str) -> str:
    """Set: the jobs of an owner that are queued or running."""
    return f"ism:jobs:open:{owner}"


def webhooks(owner: str) -> str:
    """Sorted set: id of a message by time of creation."""
    return f"ism:webhooks:of:{owner}"


def webhook(id: str) -> str:
    """Hash: owner, document (a Delivery as JSON)."""
    return f"ism:webhook:{id}"


def webhook_queue(name: str) -> str:
    """List: ids of the messages about one job or batch, in the order in which they are delivered."""
    return f"ism:webhooks:queue:{name}"


def webhook_secret(owner: str) -> str:
    """Text: the key that signs the messages of an owner."""
    return f"ism:webhooks:secret:{owner}"


def rate(owner: str) -> str:
    """Number: requests of an owner in this minute."""
    return f"ism:rate:{owner}"


def dataset(id: str) -> str:
    """Hash: schema, owner, name, created, size (of the file), stored (bytes in Redis), description."""
    return f"ism:dataset:{id}"


def dataset_chunks(id: str) -> str:
    """List: Arrow record batches; of a data set by reference, one JSON document that says where its rows are."""
    return f"ism:dataset:{id}:chunks"


def of_dataset(id: str) -> tuple[str, str]:
    """The keys of a data set that expire together."""
    return dataset(id), dataset_chunks(id)


def dataset_jobs(id: str) -> str:
    """Set: the queued and running jobs that use the data set."""
    return f"ism:dataset:{id}:jobs"


def job(id: str) -> str:
    """Hash: the fields of Record; worker, claim, reported, notify, cancel, finish; stored (bytes, at its end)."""
    return f"ism:job:{id}"


def events(id: str) -> str:
    """Stream: the events of a job."""
    return f"ism:job:{id}:events"


def checkpoint(id: str) -> str:
    """List of chunks: where the next attempt of a job resumes."""
    return f"ism:job:{id}:checkpoint"


def picture(id: str) -> str:
    """List of chunks: the latest picture of a job."""
    return f"ism:job:{id}:picture"


def of_job(id: str) -> tuple[str, ...]:
    """All keys of a job, except those of its artifacts."""
    return job(id), events(id), checkpoint(id), picture(id)


def artifact(id: str, attempt: int, name: str) -> str:
    """List of chunks: one output. The attempt is part of the key, so that outputs of two attempts never mix."""
    return f"ism:job:{id}:{attempt}:{name}"


def artifact_keys(id: str) -> str:
    """Set: the keys of the artifacts of all attempts, including those that did not succeed."""
    return f"ism:job:{id}:saved"


def batch(id: str) -> str:
    """Hash: owner, created, jobs (a list of ids); label and notify (a URL) if they were given."""
    return f"ism:batch:{id}"
