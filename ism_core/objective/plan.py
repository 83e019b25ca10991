"""What the ways of computing Φ cost, in flops of a matrix product."""

from collections.abc import Sequence
from dataclasses import dataclass

from ism_core.gamma import Gamma
from ism_core.kernels.feature_maps import TermMap

PAIR_FLOPS = 60.0  # what f and f′ of one pair cost: passes over memory, exp
FEATURE_FLOPS = 40.0  # what one feature of one row costs


@dataclass(frozen=True)
class FlopCounts:
    """For n rows of d columns, W with q, and a kernel of so many terms."""

    n: int
    d: int
    q: int
    terms: int
    gamma: Gamma

    def tiled_pull(self) -> float:
        """Φ(W)W by tiles."""
        return self._tiles(self.q)

    def tiled(self) -> float:
        """Φ by tiles."""
        return self._tiles(self.d) + 3.0 * self.n * self.d**2

    def half_gradient(self, count: int) -> float:
        """Φ(W)W by so many features."""
        return float(2 * self.n * count * (2 * (self.q + 1) + FEATURE_FLOPS) + 4 * self.n * self.d * self.q)

    def features(self, maps: Sequence[TermMap]) -> float:
        """Φ by features."""
        n, d, r = self.n, self.d, len(self.gamma.s)
        sums = sum(
            self.gamma.moment_flops(d, each.slope.count) + (2 * d * d * r + FEATURE_FLOPS * n) * each.slope.count
            for each in maps
        )
        return float(sums + n * d * d * any(each.form == "difference" for each in maps))

    def feature_bytes(self, maps: Sequence[TermMap], shares: int) -> int:
        """The memory of the sums over features, in so many shares."""
        widest = max((each.slope.count for each in maps), default=0)
        return 8 * len(self.gamma.s) * widest * (self.d + 1) * shares

    def _tiles(self, columns: int) -> float:
        return float(self.n**2 * (columns + len(self.gamma.s) + self.q + PAIR_FLOPS * self.terms))
