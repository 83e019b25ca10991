"""Report a chaos run: as JSON, and as a table with every violation."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from drills import report
from drills.chaos.checker import Verdict
from drills.chaos.history import History
from drills.chaos.nemesis import Nemesis
from drills.chaos.recovery import Recoveries

RECOVERY_SECONDS = 30.0  # limit from a kill to the next attempt, not counting times without a worker or Redis


@dataclass(frozen=True)
class Scale:
    """The size of a run."""

    seconds: float = 300.0  # with faults; start, recovery and check take extra time
    seed: int = 0
    rows: int = 800
    clients: int = 4
    apis: int = 2
    workers: int = 3


@dataclass(frozen=True, eq=False)
class Run:
    """The measurements of a run."""

    scale: Scale
    history: History
    verdict: Verdict
    nemesis: Nemesis
    recoveries: Recoveries
    answers: dict[str, int]
    restarts: int
    unprovoked_deaths: dict[str, int]
    orphans: list[str]
    seconds: float  # in all

    @property
    def recovered_late(self) -> bool:
        """Whether a job of a killed process did not start again in time."""
        figures = self.recoveries.document()["all"]
        return figures["never"] > 0 or (figures["worst_available"] or 0.0) > RECOVERY_SECONDS

    @property
    def passed(self) -> bool:
        """Whether there is no violation, some job was acknowledged and some process was killed."""
        tested = any(post.jobs for post in self.history.posts) and self.nemesis.kills > 0
        return tested and self.verdict.passed and not self.recovered_late and not self.orphans


def document(run: Run) -> dict[str, Any]:
    """Return all figures of a run for JSON."""
    posts = run.history.posts
    return {
        "passed": run.passed,
        "scale": asdict(run.scale),
        "seconds": run.seconds,
        "load": f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores",
        "jobs": {
            "acknowledged": sum(bool(post.jobs) for post in posts),
            "unanswered": sum(not post.jobs for post in posts),
            "repeated with their key": sum(bool(post.key) and post.unanswered > 0 for post in posts),
            "restarted": sum(outcome.attempt - 1 for outcome in run.history.outcomes),
        },
        "answers": run.answers,
        "faults": dict(run.nemesis.counts),
        "kills": run.nemesis.kills,
        "restarts": run.restarts,
        "unprovoked_deaths": run.unprovoked_deaths,
        "orphans": run.orphans,
        "recovery": run.recoveries.document(),
        "recoveries": [asdict(one) for one in run.recoveries.all],
        "verdict": run.verdict.document(),
        "log": run.nemesis.log,
        "history": run.history.document(),
    }


def as_text(run: Run) -> str:
    """Return the table and every violation."""
    figures, verdict = document(run), run.verdict
    recovery = figures["recovery"]
    rows: list[report.Row] = [
        ("load average, 5 minutes", figures["load"]),
        *((f"jobs {name}", count) for name, count in figures["jobs"].items()),
        ("POSTs answered", ", ".join(f"{answer}: {count}" for answer, count in sorted(run.answers.items()))),
        ("faults", sum(run.nemesis.counts.values())),
        *((f"  {name}", count) for name, count in sorted(run.nemesis.counts.items())),
        ("kills", run.nemesis.kills),
        ("restarts", run.restarts),
        ("  of processes that the drill did not kill", sum(run.unprovoked_deaths.values())),
        ("orphaned processes", len(run.orphans)),
        *(
            (
                f"recovery after {'any kill' if name == 'all' else name}, s (median, worst)",
                f"{_seconds(one['median'])}, {_seconds(one['worst'])}",
            )
            for name, one in recovery.items()
        ),
        ("  worst, counting only time with Redis and a worker", _seconds(recovery["all"]["worst_available"])),
        ("jobs accepted by the last release", verdict.of_last_release),
        ("results, bit-identical", verdict.identical),
        ("results of resumed jobs, equal within tolerance", verdict.resumed),
        ("  largest difference of W, supervised", verdict.worst_supervised),
        ("  largest difference of W, clustering", verdict.worst_clustering),
        *((name, len(getattr(verdict, name))) for name in ("lost", "duplicated", "different", "failed", "changed")),
        ("unexpected", len(verdict.unexpected)),
    ]
    violations = [*verdict.lost, *verdict.duplicated, *verdict.different, *verdict.failed, *verdict.changed]
    violations += [*verdict.unexpected, *(f"Left running: {orphan}" for orphan in run.orphans)]
    if run.recovered_late:
        violations.append(
            f"A job of a killed process waited more than {RECOVERY_SECONDS:.0f} s for an available worker."
        )
    title = f"Chaos: {run.scale.seconds:.0f} s with seed {run.scale.seed}, {run.seconds:.0f} s in all"
    return "\n".join([report.table(title, rows), "", *violations, "PASSED" if run.passed else "FAILED"])


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
