"""What clients observed in a chaos run. The checker judges from this alone."""

from dataclasses import asdict, dataclass, field
from typing import Any

from ism_jobs.schema_versions import JOB

ENDED = ("succeeded", "failed", "cancelled")


@dataclass
class Post:
    """One job that a client asked for, with one or more requests."""

    token: str  # stored in the job's metadata, to find the job later
    kind: str
    key: str | None  # its Idempotency-Key
    jobs: list[str] = field(default_factory=list)  # the ids in all 202 answers
    unanswered: int = 0  # requests without a 202


@dataclass(frozen=True)
class Observation:
    """The state of a job at one time."""

    state: str
    attempt: int
    finished: str | None

    @property
    def ended(self) -> bool:
        """Whether the job has ended, so that it may not change any more."""
        return self.state in ENDED

    @classmethod
    def of(cls, view: dict[str, Any]) -> "Observation":
        """Return the observation that a job's document shows."""
        return cls(view["state"], view["attempt"], view["finished"])


@dataclass
class Outcome:
    """A job at the end of the run, after all faults were removed."""

    id: str
    token: str
    kind: str
    state: str
    attempt: int
    error: str | None
    stream: list[str]  # the states in its event stream, in order
    last_event: str  # the kind of the newest event in the store; "state" if the job ended properly
    W: list[list[float]] | None
    objective: float | None
    schema: int = JOB  # jobs that the last release has accepted have other defaults, and so no reference


@dataclass(frozen=True)
class Reference:
    """The result of a job of one kind without faults."""

    W: list[list[float]]
    objective: float


@dataclass
class History:
    """All observations of a run."""

    references: dict[str, Reference] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    observations: dict[str, list[Observation]] = field(default_factory=dict)  # of each job, in order
    outcomes: list[Outcome] = field(default_factory=list)
    ends_counted: int = 0  # the service's own counter of ended jobs
    unexpected_answers: list[str] = field(default_factory=list)  # answers that no fault explains

    def observe(self, job: str, seen: Observation) -> None:
        """Add an observation, unless it equals the last one."""
        known = self.observations.setdefault(job, [])
        if not known or known[-1] != seen:
            known.append(seen)

    def document(self) -> dict[str, Any]:
        """Return the history for JSON."""
        return asdict(self)
