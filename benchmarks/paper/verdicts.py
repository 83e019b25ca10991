"""Tables that compare ISM, its competitors and the paper, and sentences that say which claims hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.measuring import Row
from benchmarks.paper.printed import METHODS, PRINTED, Printed
from benchmarks.paper.tables import bold, number, percent, score, seconds, sentence, table

TITLES = {"wine": "Wine", "cancer": "Cancer", "face": "Face", "mnist": "MNIST"}
AS_LOW = 1e-4  # relative difference below which costs are equal
POINTS = 0.015  # tolerated gap in accuracy
NMI_POINTS = 0.02
SHOW: dict[str, Callable[[Sequence[float]], str]] = {"cost": number, "accuracy": percent, "NMI": score}


@dataclass(frozen=True)
class Cell:
    """The results of all methods on one data set with one kernel."""

    paradigm: str
    data: str
    kernel: str
    rows: dict[str, Row]  # of the methods that did not fail

    @property
    def title(self) -> str:
        return f"{TITLES[self.data]} {self.kernel}"

    @property
    def ours(self) -> Row:
        return self.rows["ISM"]

    @property
    def rivals(self) -> dict[str, Row]:
        return {method: row for method, row in self.rows.items() if method != "ISM"}

    def printed(self, measure: str, method: str = "ISM") -> Printed:
        return PRINTED[self.paradigm, self.data, self.kernel, method, measure]

    def excess(self, rival: Row, cost: str = "cost") -> float:
        """Return the relative excess of our cost over a rival's, on the rival's folds; negative if ours is lower."""
        theirs = np.array(rival[cost])
        return float((np.mean(self.ours[cost][: len(theirs)]) - theirs.mean()) / abs(theirs.mean()))

    def ratio(self, rival: Row) -> float:
        """Return a rival's time relative to ours on the same folds; a lower bound if it was stopped."""
        return float(np.mean(rival["seconds"]) / np.mean(self.ours["seconds"][: len(rival["seconds"])]))


def cells(paradigm: str, rows: dict[str, Row], data: Sequence[str], kernels: Sequence[str]) -> list[Cell]:
    """Return the cells in which at least ISM has a row."""
    found = []
    for name in data:
        for kernel in kernels:
            own = {method: rows.get(f"{paradigm}/{name}/{kernel}/{method}", {"failed": ""}) for method in METHODS}
            cell = Cell(paradigm, name, kernel, {method: row for method, row in own.items() if "failed" not in row})
            found += [cell] if "ISM" in cell.rows else []
    return found


def side_by_side(own: Sequence[Cell], measures: Sequence[str]) -> str:
    """Return a table with a row of ours and a row of the paper's for each cell and measure; our best is bold."""
    lines = []
    for cell in own:
        for measure in measures:
            first = measure == measures[0]
            shape = f"{cell.ours['n']:,}×{cell.ours['d']}, q = {cell.ours['q']}"
            best = _best(cell, measure)
            shown = [bold(_shown(cell, method, measure), method in best) for method in METHODS]
            lines.append([f"**{TITLES[cell.data]}** {shape}" if first else "", measure, "ours", *shown])
            lines.append(["", "", "paper", *(cell.printed(measure, method).text for method in METHODS)])
    return table(["data", "", "", *METHODS], lines, left=3)


def _shown(cell: Cell, method: str, measure: str) -> str:
    row = cell.rows.get(method)
    if row is None:
        return "failed"
    if measure != "time":
        return SHOW[measure](row[measure])
    count, stopped = len(row["finished"]), row["finished"].count(False)
    folds = f", {count} folds" if count < len(cell.ours["finished"]) else ""
    if not stopped:
        return seconds(row["seconds"]) + folds
    if stopped == count:
        return f"> {row['limit']:g} s{folds}"
    return f"> {seconds(row['seconds'])}, {stopped} of {count} folds stopped"


def _best(cell: Cell, measure: str) -> set[str]:
    """Return the methods with the best figure, as far as the printed digits tell."""
    if measure == "cost":
        bottom = max(cell.excess(row) for row in cell.rows.values())
        return {method for method, row in cell.rows.items() if bottom - cell.excess(row) <= AS_LOW}
    if measure == "time":
        ended = {method: np.mean(row["seconds"]) for method, row in cell.rows.items() if all(row["finished"])}
        return {min(ended, key=lambda method: ended[method])} if ended else set()
    figures = {method: SHOW[measure](row[measure]).split(" ±")[0] for method, row in cell.rows.items()}
    top = max(np.mean(row[measure]) for row in cell.rows.values())
    return {method for method, figure in figures.items() if figure == SHOW[measure]([float(top)])}


def verdicts(own: Sequence[Cell], measure: str) -> str:
    """Return one sentence each on the score ("accuracy" or "NMI"), the cost and the time."""
    compared = [cell for cell in own if cell.rivals]
    return "\n".join([score_verdict(own, measure), _cost_verdict(compared), _time_verdict(compared)]) + "\n"


def other_last_steps(own: Sequence[Cell]) -> str:
    """Report, for each NMI below the paper's, the NMI of other clusterings of the same XW."""
    lines = []
    for cell in misses(own, "NMI"):
        others = [f"{value:.3f} by {name}" for name, value in cell.ours["NMI of XW"].items()]
        lines.append(f"{cell.title} {sentence(others)}")
    if not lines:
        return ""
    moved = [value - cell.ours["NMI"][0] for cell in own for value in cell.ours["NMI of XW"].values()]
    return (
        "The paper does not say which affinity its final spectral clustering uses. If scikit-learn clusters XW, with"
        f" the same W, the NMI is: {'; '.join(lines)}. This is not better in general: over all cells of this table such"
        f" a final step changes the NMI by {min(moved):+.2f} to {max(moved):+.2f}.\n"
    ).replace("-0.", "−0.")


def training_accuracies(own: Sequence[Cell]) -> str:
    """Report, for each accuracy below the paper's, the accuracy on the training rows."""
    lines = [f"{cell.title} {percent(cell.ours['training accuracy'])}" for cell in misses(own, "accuracy")]
    return f"The accuracy on the training folds is: {'; '.join(lines)}.\n" if lines else ""


def misses(own: Sequence[Cell], measure: str) -> list[Cell]:
    """Return the cells whose score is below the paper's by more than the tolerance."""
    return [cell for cell in own if np.mean(cell.ours[measure]) < enough(cell, measure)]


def enough(cell: Cell, measure: str) -> float:
    """Return the smallest score that counts as equal to the paper's."""
    printed = cell.printed(measure)
    assert printed.value is not None
    return printed.value - (NMI_POINTS if measure == "NMI" else max(printed.deviation or 0.0, POINTS))


def score_verdict(own: Sequence[Cell], measure: str) -> str:
    rule = "minus 0.02" if measure == "NMI" else "minus its standard deviation or 1.5 points, whichever is more"
    name = measure if measure == "NMI" else measure.capitalize()
    show = (lambda value: f"{value:.3f}") if measure == "NMI" else (lambda value: f"{100 * value:.1f} %")
    short = [
        f"{cell.title} ({show(np.mean(cell.ours[measure]))}; the paper has {cell.printed(measure).text}, "
        f"and {show(enough(cell, measure))} would be enough)"
        for cell in misses(own, measure)
    ]
    return _verdict(f"{name}: ISM has at least the paper's value, {rule}", len(own), short)


def _cost_verdict(own: Sequence[Cell]) -> str:
    higher = []
    for cell in _dearer(own):
        lower = {method: cell.excess(row) for method, row in cell.rivals.items() if cell.excess(row) > AS_LOW}
        higher.append(
            f"{cell.title} ({sentence([f'{name} is lower by {100 * by:.2g} %' for name, by in lower.items()])})"
        )
    return _verdict("Cost: ISM has the lowest cost of its row, within 1e-4", len(own), higher) + _fold_by_fold(own)


def _fold_by_fold(own: Sequence[Cell]) -> str:
    """Report the single folds in which a competitor's cost is lower."""
    runs = [
        ((ours - theirs) / abs(theirs), f"{cell.title}, {method}")
        for cell in own
        for method, row in cell.rivals.items()
        for ours, theirs in zip(cell.ours["cost"], row["cost"], strict=False)
    ]
    lower = [run for run in runs if run[0] > AS_LOW]
    if not lower or len(runs) == sum(len(cell.rivals) for cell in own):
        return ""
    most, where = max(lower)
    return (
        f" In single folds a competitor has the lower cost in {len(lower)} of {len(runs)} runs, by at most"
        f" {100 * most:.2g} % ({where})."
    )


def _dearer(own: Sequence[Cell]) -> list[Cell]:
    """Return the cells in which a competitor's cost is lower."""
    return [cell for cell in own if any(cell.excess(row) > AS_LOW for row in cell.rivals.values())]


def _time_verdict(own: Sequence[Cell]) -> str:
    slower, ratios = [], []
    for cell in own:
        sooner = [_sooner(cell, method) for method, row in cell.rivals.items() if cell.ratio(row) < 1]
        if sooner:
            slower.append(f"{cell.title} ({sentence(sooner)})")
        else:
            least = min(cell.rivals, key=lambda method: cell.ratio(cell.rivals[method]))
            stopped = "" if all(cell.rivals[least]["finished"]) else ", stopped at its limit"
            ratios.append((cell.ratio(cell.rivals[least]), f"{cell.title}, {least}{stopped}"))
    text = _verdict("Time: ISM has the smallest time of its row", len(own), slower)
    if not ratios:
        return text
    nearest, furthest = min(ratios), max(ratios)
    return (
        f"{text} {'In the other cells the' if slower else 'The'} fastest competitor took from {_times(nearest[0])} as"
        f" long ({nearest[1]}) to {_times(furthest[0])} ({furthest[1]})."
    )


def _sooner(cell: Cell, method: str) -> str:
    row = cell.rivals[method]
    if all(row["finished"]):
        return f"{method} took {_times(cell.ratio(row))} as long"
    return f"{method} was stopped after {row['limit']:g} s, ISM took {seconds(cell.ours['seconds'])}"


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times" if ratio >= 0.95 else f"{ratio:.2f} times"


def _verdict(claim: str, count: int, exceptions: list[str]) -> str:
    what, rest = claim.split(": ", 1)
    if not exceptions:
        return f"- **{what}, holds:** {rest}, in all {count} cells."
    held = count - len(exceptions)
    return f"- **{what}, holds in part:** {rest}, in {held} of {count} cells. Exceptions: {'; '.join(exceptions)}."
