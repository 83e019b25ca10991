"""What is to be solved: the settings that were given, and for those left open the ones that are chosen."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from ism_core.kernels.base import Kernel
from ism_core.paradigms.base import Paradigm, Supervised, Unsupervised
from ism_core.scaling import Scale
from ism_core.selection.choice import Auto, Choice, Trial
from ism_core.selection.choose import choosing
from ism_core.solver.starts.continuation import opened

DELTA = 0.01
DELTA_ON_A_PATH = 0.1  # a narrow kernel that has settled more than this fits the rows it was learnt from
CAREFUL = 1  # start of a clustering whose settings are chosen: of many rows it then clusters a sample to the end

Starts = int | Literal["path"] | None


@dataclass(frozen=True)
class Decision:
    """Settings that leave nothing open, and the choice that they come from if there was one."""

    paradigm: Paradigm
    kernel: Kernel | str
    q: int
    scale: Scale
    delta: float
    starts: Starts
    choice: Choice | None


def is_open(kernel: Kernel | str, q: int | Auto, scale: Scale | Auto | None) -> bool:
    """Whether something is to be chosen."""
    return opened(kernel) is not None or q == "auto" or scale == "auto"


def deciding(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int | Auto,
    scale: Scale | Auto | None = None,
    *,
    delta: float | None = None,
    starts: Starts = None,
    seed: int = 0,
) -> Generator[Trial, None, Decision]:
    """Yields a Trial for everything that is tried, nothing where all is given.

    A scale of None is chosen where the kernel is "auto", and else "standard". A delta of None is 0.01, or 0.1 for a
    supervised reduction whose kernel's width is chosen.
    """
    if scale is None:
        scale = "auto" if kernel == "auto" else "standard"
    if not is_open(kernel, q, scale):
        assert q != "auto"
        assert scale != "auto"
        return Decision(paradigm, kernel, q, scale, DELTA if delta is None else delta, starts, None)
    assert isinstance(paradigm, Supervised | Unsupervised)
    choice = yield from choosing(X, paradigm, kernel, q, scale=scale, seed=seed)
    chosen, on_path = choice.chosen, opened(kernel) is not None and not paradigm.alternates
    if delta is None:
        delta = DELTA_ON_A_PATH if on_path else DELTA
    if starts is None:
        starts = "path" if on_path else CAREFUL if paradigm.alternates else None
    if isinstance(paradigm, Supervised):
        paradigm = paradigm.with_neighbors(chosen.neighbors)
    return Decision(paradigm, chosen.kernel, chosen.q, chosen.scale, delta, starts, choice)
