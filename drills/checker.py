"""What must hold after a run, whatever was killed: judged from the history alone."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from drills.history import History, Outcome, Reference

# A job that was never resumed must end in the same W bit for bit. One that goes on from a checkpoint takes other steps
# to the same end: J cannot tell W apart below the root of the rounding, 1.5e-8, and a clustering ends at its delta.
SUPERVISED_TOLERANCE = 1e-6
CLUSTERING_TOLERANCE = 1e-3


@dataclass
class Verdict:
    """What was wrong, each as sentences, and how far apart the results were that may differ a little."""

    lost: list[str] = field(default_factory=list)  # acknowledged, and not ended
    duplicated: list[str] = field(default_factory=list)  # a job, or its end, twice
    different: list[str] = field(default_factory=list)  # another W than undisturbed
    failed: list[str] = field(default_factory=list)  # ended, not with a result
    changed: list[str] = field(default_factory=list)  # after their end
    odd: list[str] = field(default_factory=list)  # answers, and jobs that nobody asked for
    identical: int = 0
    resumed: int = 0
    worst_supervised: float = 0.0
    worst_clustering: float = 0.0

    @property
    def good(self) -> bool:
        """Whether all that was promised held."""
        return not (self.lost or self.duplicated or self.different or self.failed or self.changed or self.odd)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {"good": self.good, **asdict(self)}


def check(history: History) -> Verdict:
    """Judge a run."""
    verdict = Verdict(odd=list(history.odd_answers))
    _check_posts(history, verdict)
    for outcome in history.outcomes:
        _check_end(history, outcome, verdict)
        if outcome.state == "succeeded":
            _check_result(history.references, outcome, verdict)
    ended = sum(bool(outcome.stream) for outcome in history.outcomes)
    if history.ends_counted > ended:
        verdict.duplicated.append(f"{ended} jobs have ended, and the service has counted {history.ends_counted} ends.")
    if history.ends_counted < ended:
        verdict.lost.append(f"{ended} jobs have ended, and the service has counted {history.ends_counted} ends.")
    return verdict


def _check_posts(history: History, verdict: Verdict) -> None:
    """Every acknowledged job is there, once; every other one at most once."""
    there = Counter(outcome.token for outcome in history.outcomes)
    ids = {outcome.id for outcome in history.outcomes}
    for post in history.posts:
        for id in set(post.jobs) - ids:
            verdict.lost.append(f"{id} ({post.token}) was acknowledged and is not there.")
        if len(set(post.jobs)) > 1:
            verdict.duplicated.append(f"{post.token} with one key became the jobs {', '.join(sorted(set(post.jobs)))}.")
        if there[post.token] > 1:
            verdict.duplicated.append(f"{post.token} was asked for once and is there {there[post.token]} times.")
    known = {post.token for post in history.posts} | {f"reference {kind}" for kind in history.references}
    verdict.odd += [
        f"{one.id} ({one.token}): nobody asked for it." for one in history.outcomes if one.token not in known
    ]


def _check_end(history: History, outcome: Outcome, verdict: Verdict) -> None:
    """It has ended once, and nothing happened to it since."""
    if outcome.state in ("queued", "running"):
        verdict.lost.append(f"{outcome.id} ({outcome.kind}) is {outcome.state}, at attempt {outcome.attempt}.")
        return
    if outcome.state != "succeeded":
        verdict.failed.append(f"{outcome.id} ({outcome.kind}) has {outcome.state}: {outcome.error}")
    ends = [state for state in outcome.stream if state not in ("queued", "running")]
    if ends != [outcome.state] or outcome.stream[-1] != outcome.state:
        verdict.duplicated.append(f"{outcome.id} has {outcome.state}; its stream tells {', '.join(outcome.stream)}.")
    if outcome.last_event != "state":
        verdict.changed.append(f"{outcome.id} has a {outcome.last_event} after its end.")
    looks = history.looks.get(outcome.id, [])
    first = next((place for place, look in enumerate(looks) if look.ended), len(looks))
    for later in looks[first + 1 :]:
        verdict.changed.append(f"{outcome.id} was {looks[first]}, and then {later}.")
    attempts = [look.attempt for look in looks]
    if attempts != sorted(attempts):
        verdict.changed.append(f"{outcome.id} was seen at the attempts {attempts}.")


def _check_result(references: dict[str, Reference], outcome: Outcome, verdict: Verdict) -> None:
    """It is what an undisturbed run found."""
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
        verdict.different.append(f"{outcome.id} ({outcome.kind}, attempt {outcome.attempt}): W is {apart:.1e} off.")
    elif clustering:
        verdict.worst_clustering = max(verdict.worst_clustering, apart)
    else:
        verdict.worst_supervised = max(verdict.worst_supervised, apart)
