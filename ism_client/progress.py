"""A progress bar on stderr that shows the events of a job."""

import sys
from typing import Any, Self

from tqdm import tqdm

from ism_client.events import Event

# tqdm's default without the rate and the remaining time.
_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
_STAGES = {
    "preparing": "Preparing",
    "search": "Searching for a start",
    "ascent": "Iterating",
    "choosing": "Choosing settings",
    "sparsity": "Choosing features",
    "validation": "Validating",
    "stability": "Resampling",
    "measuring": "Measuring",
}


class ProgressBar:
    """A bar that shows events; None for `progress` shows it on a terminal only.

    with ProgressBar() as bar:
        for event in job.events():
            bar.show_event(event)
    """

    def __init__(self, progress: bool | None = None, unit: str = "it") -> None:
        self.is_shown = sys.stderr.isatty() if progress is None else progress
        self._bar = tqdm(
            desc="Waiting",
            total=1,
            unit=unit,
            disable=not self.is_shown,
            file=sys.stderr,
            bar_format=_FORMAT,
            leave=True,
        )
        self._max_iter: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show_event(self, event: Event) -> None:
        """Show the progress that an event reports."""
        if not isinstance(event.data, dict):
            return
        if event.type == "state":
            self._state(event.data)
        elif event.type == "step":
            self._step(event.data)
        elif event.type == "trial":
            self._step({"stage": "choosing", **event.data, "trying": event.data})
        elif event.type in ("resample", "validation"):
            stage = "stability" if event.type == "resample" else "validation"
            self.show(_STAGES[stage], event.data.get("fold"), event.data.get("folds"))

    def show(self, what: str, done: int | None, total: int | None, postfix: str = "") -> None:
        """Show how much of the total is done."""
        self._bar.set_description_str(what, refresh=False)
        self._bar.set_postfix_str(postfix, refresh=False)
        self._bar.total = total or max(1, done or 0)
        self._bar.n = done or 0
        self._bar.refresh()

    def _state(self, job: dict[str, Any]) -> None:
        state, progress = job.get("state"), job.get("progress") or {}
        self._max_iter = progress.get("max_iter") or (job.get("spec") or {}).get("max_iter")
        if state == "queued":
            ahead = job.get("position")
            self.show(f"Queued, {ahead} ahead" if ahead else "Queued", 0, None)
        elif state == "running" and progress:
            self._step(progress)
        elif state == "running":
            self.show("Starting", 0, None)
        else:
            self.show(str(state).capitalize(), *((1, 1) if state == "succeeded" else (0, 1)))

    def _step(self, step: dict[str, Any]) -> None:
        stage = str(step.get("stage"))
        if stage in ("validation", "choosing", "stability"):
            candidate = _candidate_text(step.get("trying") or {})
            step_text = _step_text({**step, "objective": None})
            postfix = ", ".join(filter(None, [candidate, _time_text(step)])) if candidate else step_text
            self.show(_STAGES[stage], step.get("fold"), step.get("folds"), postfix)
            return
        total = self._max_iter if stage == "ascent" else None
        self.show(_STAGES.get(stage, stage), step.get("iteration"), total, _step_text(step))


def _candidate_text(trying: dict[str, Any]) -> str:
    if not trying:
        return ""
    best = "" if trying.get("best") is None else f", best {trying['best']:.3f}"
    return f"{trying.get('scale')}, q {trying.get('q')}, {trying.get('tried')} tried{best}"


def _time_text(step: dict[str, Any]) -> str:
    """Return the share of the time that has passed and the time left, if they are known."""
    elapsed, left = step.get("elapsed_seconds"), step.get("remaining_seconds")
    if left is None:
        return ""
    done = "" if elapsed is None else f"{100 * elapsed / (elapsed + left or 1):.0f} % done, "
    return f"{done}about {left:.0f} s left"


def _step_text(step: dict[str, Any]) -> str:
    parts = []
    if step.get("objective") is not None:
        parts.append(f"objective {step['objective']:.6g}")
    if step.get("change") is not None:
        parts.append(f"change {step['change']:.1e}")
    return ", ".join(filter(None, [*parts, _time_text(step)]))
