"""What happened in a run, as far as it can be seen from outside: the checker's only evidence."""

from dataclasses import asdict, dataclass, field
from typing import Any

ENDED = ("succeeded", "failed", "cancelled")


@dataclass
class Post:
    """One job that a client wanted, however often it had to ask."""

    token: str  # kept with the job, to find it by
    kind: str
    key: str | None  # its Idempotency-Key
    jobs: list[str] = field(default_factory=list)  # the ids of all 202s
    unanswered: int = 0


@dataclass(frozen=True)
class Look:
    """A job as it was seen at some time."""

    state: str
    attempt: int
    finished: str | None

    @property
    def ended(self) -> bool:
        """Whether nothing may happen to it any more."""
        return self.state in ENDED

    @classmethod
    def at(cls, view: dict[str, Any]) -> "Look":
        """Of a job's document."""
        return cls(view["state"], view["attempt"], view["finished"])


@dataclass
class Outcome:
    """A job at the end of all: of the service's own list, after everything was healed."""

    id: str
    token: str
    kind: str
    state: str
    attempt: int
    error: str | None
    stream: list[str]  # the states that its event stream tells, in order
    last_event: str  # the kind of the newest event in the store; of an ended job it is "state"
    W: list[list[float]] | None
    objective: float | None


@dataclass(frozen=True)
class Reference:
    """How a job of some kind ends when nobody disturbs it."""

    W: list[list[float]]
    objective: float


@dataclass
class History:
    """Everything."""

    references: dict[str, Reference] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    looks: dict[str, list[Look]] = field(default_factory=dict)  # by job, in order
    outcomes: list[Outcome] = field(default_factory=list)
    ends_counted: int = 0  # by the service, over all jobs
    odd_answers: list[str] = field(default_factory=list)  # that no client should get, whatever dies

    def saw(self, job: str, look: Look) -> None:
        """Remember a look, unless it says nothing new."""
        looks = self.looks.setdefault(job, [])
        if not looks or looks[-1] != look:
            looks.append(look)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
