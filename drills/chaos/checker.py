"""Check a history: no job is lost, doubled, changed after its end, or ends with another result."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from drills.chaos.history import History, Outcome, Reference
from ism_jobs.schema_versions import JOB

# Largest difference of W from the reference. Without a resumption W is the same bit for bit. A resumed job takes other
# steps to the same optimum: J determines W only to the square root of the rounding error, 1.5e-8, and a clustering
# stops at its tolerance.
SUPERVISED_TOLERANCE = 1e-6
CLUSTERING_TOLERANCE = 1e-3


@dataclass
class Verdict:
    """The violations as sentences, and the largest differences of results that may differ."""

    lost: list[str] = field(default_factory=list)  # acknowledged, but not there or not ended
    duplicated: list[str] = field(default_factory=list)  # jobs, or ends of jobs, that are there twice
    different: list[str] = field(default_factory=list)  # W differs from the reference
    failed: list[str] = field(default_factory=list)  # ended without a result
    changed: list[str] = field(default_factory=list)  # changed after their end
    unexpected: list[str] = field(default_factory=list)  # answers that no fault explains, and jobs without a request
    of_last_release: int = 0  # jobs that the last release has accepted; W is not compared
    identical: int = 0
    resumed: int = 0
    worst_supervised: float = 0.0
    worst_clustering: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether there is no violation."""
        return not (self.lost or self.duplicated or self.different or self.failed or self.changed or self.unexpected)

    def document(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        return {"passed": self.passed, **asdict(self)}


def check(history: History) -> Verdict:
    """Return the verdict on a run."""
    verdict = Verdict(unexpected=list(history.unexpected_answers))
    _check_posts(history, verdict)
    for outcome in history.outcomes:
        _check_end(history, outcome, verdict)
        if outcome.state == "succeeded" and outcome.schema == JOB:
            _check_result(history.references, outcome, verdict)
    verdict.of_last_release = sum(outcome.schema != JOB for outcome in history.outcomes)
    ended = sum(bool(outcome.stream) for outcome in history.outcomes)
    if history.ends_counted > ended:
        verdict.duplicated.append(f"{ended} jobs have ended, but the service counted {history.ends_counted} ends.")
    if history.ends_counted < ended:
        verdict.lost.append(f"{ended} jobs have ended, but the service counted {history.ends_counted} ends.")
    return verdict


def _check_posts(history: History, verdict: Verdict) -> None:
    """Check that every acknowledged job is there once, and every other one at most once."""
    there = Counter(outcome.token for outcome in history.outcomes)
    ids = {outcome.id for outcome in history.outcomes}
    for post in history.posts:
        for id in set(post.jobs) - ids:
            verdict.lost.append(f"{id} ({post.token}) was acknowledged, but is not there.")
        if len(set(post.jobs)) > 1:
            verdict.duplicated.append(
                f"{post.token} has one idempotency key, but became the jobs {', '.join(sorted(set(post.jobs)))}."
            )
        if there[post.token] > 1:
            verdict.duplicated.append(f"{post.token} was requested once, but is there {there[post.token]} times.")
    known = {post.token for post in history.posts} | {f"reference {kind}" for kind in history.references}
    verdict.unexpected += [
        f"{one.id} ({one.token}): no client requested it." for one in history.outcomes if one.token not in known
    ]


def _check_end(history: History, outcome: Outcome, verdict: Verdict) -> None:
    """Check that the job has ended once and did not change afterwards."""
    if outcome.state in ("queued", "running"):
        verdict.lost.append(f"{outcome.id} ({outcome.kind}) is {outcome.state}, at attempt {outcome.attempt}.")
        return
    if outcome.state != "succeeded":
        verdict.failed.append(f"{outcome.id} ({outcome.kind}) ended as {outcome.state}: {outcome.error}")
    ends = [state for state in outcome.stream if state not in ("queued", "running")]
    if ends != [outcome.state] or outcome.stream[-1] != outcome.state:
        verdict.duplicated.append(
            f"{outcome.id} is {outcome.state}, but its event stream shows {', '.join(outcome.stream)}."
        )
    if outcome.last_event != "state":
        verdict.changed.append(f"{outcome.id} has a {outcome.last_event} event after its end.")
    seen = history.observations.get(outcome.id, [])
    first = next((place for place, one in enumerate(seen) if one.ended), len(seen))
    for later in seen[first + 1 :]:
        verdict.changed.append(f"{outcome.id} was {seen[first]}, and then {later}.")
    attempts = [one.attempt for one in seen]
    if attempts != sorted(attempts):
        verdict.changed.append(f"{outcome.id} went back in its attempts: {attempts}.")


def _check_result(references: dict[str, Reference], outcome: Outcome, verdict: Verdict) -> None:
    """Check that W is that of the reference."""
    W, wanted = np.array(outcome.W), np.array(references[outcome.kind].W)
    apart = float(np.abs(W - wanted).max()) if W.shape == wanted.shape else np.inf
    if apart == 0:
        verdict.identical += 1
        return
    clustering = outcome.kind.startswith("clustering")
    allowed = CLUSTERING_TOLERANCE if clustering else SUPERVISED_TOLERANCE
    if outcome.attempt == 1:
        allowed = 0.0
    else:
        verdict.resumed += 1
    if apart > allowed:
        verdict.different.append(f"{outcome.id} ({outcome.kind}, attempt {outcome.attempt}): W differs by {apart:.1e}.")
    elif clustering:
        verdict.worst_clustering = max(verdict.worst_clustering, apart)
    else:
        verdict.worst_supervised = max(verdict.worst_supervised, apart)
