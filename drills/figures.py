"""A chaos run as figures: for JSON, and as a table with every complaint."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from drills import report
from drills.checker import Verdict
from drills.history import History
from drills.nemesis import Nemesis
from drills.recovery import Recoveries

RECOVERY_LIMIT = 30.0  # seconds


@dataclass(frozen=True)
class Scale:
    """How large a run is."""

    seconds: float = 300.0  # of disturbance; starting, healing and checking come on top
    seed: int = 0
    rows: int = 800
    clients: int = 4
    apis: int = 2
    workers: int = 3


@dataclass(frozen=True, eq=False)
class Run:
    """What a run has left to judge."""

    scale: Scale
    history: History
    verdict: Verdict
    nemesis: Nemesis
    recoveries: Recoveries
    answers: dict[str, int]
    restarts: int
    own_deaths: dict[str, int]
    orphans: list[str]
    seconds: float  # all in all

    @property
    def slow(self) -> bool:
        """Whether a killed process's job was not begun again in time, counting the time in which a worker was there."""
        figures = self.recoveries.document()["all"]
        return figures["never"] > 0 or (figures["worst_served"] or 0.0) > RECOVERY_LIMIT

    @property
    def good(self) -> bool:
        """Whether all promises held, and there was somebody to hold them to."""
        proven = any(post.jobs for post in self.history.posts) and self.nemesis.kills > 0
        return proven and self.verdict.good and not self.slow and not self.orphans


def document(run: Run) -> dict[str, Any]:
    """All figures of a run, for JSON."""
    posts = run.history.posts
    return {
        "good": run.good,
        "scale": asdict(run.scale),
        "seconds": run.seconds,
        "load": f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores",
        "jobs": {
            "acknowledged": sum(bool(post.jobs) for post in posts),
            "without an answer": sum(not post.jobs for post in posts),
            "asked for again with their key": sum(bool(post.key) and post.unanswered > 0 for post in posts),
            "begun anew": sum(outcome.attempt - 1 for outcome in run.history.outcomes),
        },
        "answers": run.answers,
        "deeds": dict(run.nemesis.done),
        "kills": run.nemesis.kills,
        "restarts": run.restarts,
        "own_deaths": run.own_deaths,
        "orphans": run.orphans,
        "recovery": run.recoveries.document(),
        "recoveries": [asdict(one) for one in run.recoveries.all],
        "verdict": run.verdict.document(),
        "log": run.nemesis.log,
        "history": run.history.document(),
    }


def shown(run: Run) -> str:
    """The table, and every complaint."""
    figures, verdict = document(run), run.verdict
    recovery = figures["recovery"]
    rows: list[report.Row] = [
        ("load of the machine, last 5 minutes", figures["load"]),
        *((f"jobs {name}", count) for name, count in figures["jobs"].items()),
        ("POSTs answered", ", ".join(f"{answer}: {count}" for answer, count in sorted(run.answers.items()))),
        ("kills", run.nemesis.kills),
        *((f"  {name}", count) for name, count in sorted(run.nemesis.done.items())),
        ("restarts", run.restarts),
        ("  of processes that died by themselves", sum(run.own_deaths.values())),
        ("orphaned processes", len(run.orphans)),
        *(
            (f"recovery after {name}, s (median, worst)", f"{_seconds(one['median'])}, {_seconds(one['worst'])}")
            for name, one in recovery.items()
        ),
        ("  worst, less the time without a worker or Redis", _seconds(recovery["all"]["worst_served"])),
        ("results identical bit for bit", verdict.identical),
        ("results of resumed jobs, the same to rounding", verdict.resumed),
        ("  W of supervised jobs at most off by", verdict.worst_supervised),
        ("  W of clusterings at most off by", verdict.worst_clustering),
        *((name, len(getattr(verdict, name))) for name in ("lost", "duplicated", "different", "failed", "changed")),
        ("odd answers", len(verdict.odd)),
    ]
    complaints = [*verdict.lost, *verdict.duplicated, *verdict.different, *verdict.failed, *verdict.changed]
    complaints += [*verdict.odd, *(f"left running: {orphan}" for orphan in run.orphans)]
    if run.slow:
        complaints.append(
            f"A killed process's job was not begun again within {RECOVERY_LIMIT:.0f} seconds with a worker there."
        )
    title = f"Chaos: {run.scale.seconds:.0f} s with seed {run.scale.seed}, {run.seconds:.0f} s all in all"
    return "\n".join([report.table(title, rows), "", *complaints, "Good." if run.good else "NOT GOOD."])


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
