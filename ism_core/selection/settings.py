"""Complete the settings of a solve: keep those that were given and choose those that are "auto"."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from ism_core.kernels import Kernel
from ism_core.linalg import Scale
from ism_core.objective import Partitions
from ism_core.paradigms import Paradigm, SemiSupervised, Supervised, Unsupervised
from ism_core.selection.choice import Auto, Choice, Journal, Trial, never
from ism_core.selection.choose import iter_choose
from ism_core.solver import kernel_with_automatic_width

DELTA = 0.01  # default convergence tolerance
DELTA_ON_A_PATH = (
    0.1  # convergence tolerance after continuation; a smaller one overfits with narrow kernels (paper's data)
)
CLUSTERING_STARTS = 1  # starts of a clustering with chosen settings: large tables first cluster a sample to the end

Starts = int | Literal["path", "interactions"] | None


@dataclass(frozen=True)
class Settings:
    """Complete settings of a solve, and the choice that they come from, if there was one."""

    paradigm: Paradigm
    kernel: Kernel | str
    q: int
    scale: Scale
    delta: float
    starts: Starts
    choice: Choice | None


def has_automatic_settings(kernel: Kernel | str, q: int | Auto, scale: Scale | Auto | None) -> bool:
    """Tell whether a setting is to be chosen."""
    return kernel_with_automatic_width(kernel) is not None or q == "auto" or scale == "auto"


def iter_settings(
    X: ArrayLike | Partitions,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int | Auto,
    scale: Scale | Auto | None = None,
    *,
    delta: float | None = None,
    starts: Starts = None,
    seed: int = 0,
    finish: Callable[[], bool] = never,
    journal: Journal | None = None,
    may_fork: bool = False,
) -> Generator[Trial, None, Settings]:
    """Yield a Trial for each candidate, or none if all settings are given; return the complete Settings.

    A scale of None means "auto" if the kernel is "auto", else "standard". A delta of None means 0.01, or 0.1 for a
    supervised reduction whose kernel width is chosen. X may be in partitions if all settings are given. `finish`,
    `journal` and `may_fork` are those of `iter_choose`.
    """
    if scale is None:
        scale = "auto" if kernel == "auto" else "standard"
    if not has_automatic_settings(kernel, q, scale):
        assert q != "auto"
        assert scale != "auto"
        return Settings(paradigm, kernel, q, scale, DELTA if delta is None else delta, starts, None)
    assert isinstance(paradigm, Supervised | Unsupervised)
    assert not isinstance(X, Partitions)
    choice = yield from iter_choose(
        X, paradigm, kernel, q, scale=scale, seed=seed, finish=finish, journal=journal, may_fork=may_fork
    )
    chosen, on_path = choice.chosen, kernel_with_automatic_width(kernel) is not None and not paradigm.alternates
    on_path = on_path and not chosen.linear
    if delta is None:
        delta = DELTA_ON_A_PATH if on_path else DELTA
    if starts is None:
        starts = "path" if on_path else CLUSTERING_STARTS if paradigm.alternates else None
        starts = "interactions" if chosen.interactions else starts
    if chosen.linear and isinstance(starts, str):
        starts = None  # a squared kernel has no width, and one maximum
    if isinstance(paradigm, Supervised):
        paradigm = paradigm.with_neighbors(chosen.neighbors)
        paradigm = paradigm.with_target_kernel("linear") if chosen.linear else paradigm
    elif isinstance(paradigm, SemiSupervised) and choice.mu == 0:
        paradigm = paradigm.unguided
    return Settings(paradigm, chosen.kernel, chosen.q, chosen.scale, delta, starts, choice)
