"""Φ and J: the one place that computes them, by whichever way costs less.

tiles              every pair of rows, for any kernel                                                        n²
features           sums over rows, for kernels with a finite feature map or, within a tolerance, a cut one   n
random features    the same with random features, where they were asked for                                  n
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines.base import ALONE, LOCAL, Engine, Placed, Threads
from ism_core.engines.threads import allowed_threads, own_threads
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma, NeighborGamma
from ism_core.kernels.base import Kernel
from ism_core.kernels.feature_maps import TermMap
from ism_core.kernels.maps import exact_maps, random_maps, taylor_maps
from ism_core.linalg import row_passes as rows
from ism_core.linalg.buffers import Workspace
from ism_core.linalg.subspaces import NARROW, corrected
from ism_core.objective import features, tiles
from ism_core.objective.options import EvaluationOptions
from ism_core.objective.plan import FlopCounts
from ism_core.objective.random_frame import turn, turning
from ism_core.objective.taylor_bound import ErrorBound, Projections, least_degree

Method = Literal["tiles", "features", "random features"]

SMALL = 1e9  # flops, of a narrow Φ
HERE = 2e9  # flops: some 30 ms of two threads, about what the messages to a cluster cost
ONE_THREAD = 3e8  # flops: with less, two threads spend more time on taking turns than they save
SCATTER_ROWS = 2_000
SIZE_ROWS = 500
ROUGH = 3e-2  # how far Φ may be off away from W, relative to Φ(W)W
SHARE = 0.1  # of the tolerance for Φ(W)W that J may be off
SINGLE = 1e-8  # the rounding of J by tiles in single precision
NOISE = 1e-6  # times the tolerance
MARGIN = 0.5  # of the tolerance, for W still moves
PULLS = 5  # of Φ(W)W for one Φ, in a solve as it usually goes


@dataclass(frozen=True)
class Problem:
    """maximize J(W) = Σij Γij f(βij(W)) over W with q orthonormal columns, for rows X and a kernel bound to them."""

    rows: Placed[Array]
    gamma: Gamma
    kernel: Kernel
    q: int
    null_directions: Array  # d×e: directions that no row has anything of
    options: EvaluationOptions
    projections: Projections
    maps: list[TermMap] | None = None  # of the features that are used; None: tiles
    rough: list[TermMap] | None = None  # fewer features, that do for what of Φ is not Φ(W)W; None: the same
    features_are: Literal["exact", "cut", "random"] = "exact"
    frame: Array | None = None  # d×q: the W that others are turned to where features are random
    noise: float = 0.0  # the share of J below which J and Φ(W)W of cut features need not agree
    tolerance: float = 0.0  # how far J and Φ(W)W may be off, relative to them, where features were cut
    workspace: Workspace = field(default_factory=Workspace)  # for one Φ after the other

    @staticmethod
    def of(
        X: Array,
        gamma: Gamma,
        kernel: Kernel,
        q: int,
        null_directions: Array | None = None,
        options: EvaluationOptions | None = None,
    ) -> "Problem":
        """With the kernel's exact features where they are cheaper than tiles."""
        options = options or EvaluationOptions()
        null_directions = np.empty((X.shape[1], 0)) if null_directions is None else null_directions
        problem = Problem(options.engine.place(X), gamma, kernel, q, null_directions, options, Projections(X))
        return problem._cheaper(exact_maps(kernel, q))

    @own_threads()
    def within(self, tolerances: Iterable[float], W: Array, size: ErrorBound | None = None) -> "Problem":
        """With random features if they were asked for, else with features cut at the first tolerance that makes them
        cheaper than tiles; for a W like this, where J and Φ(W)W are of that size if it is known.
        """
        if exact_maps(self.kernel, self.q) is not None or self.gamma_depends_on_W:
            return self
        if self.options.features is not None:
            return self._with_random_features(self.options.features, W)
        tiled = replace(self, maps=None, rough=None, features_are="exact", noise=0.0)
        if tiled.is_small or taylor_maps(self.kernel, self.q, 0) is None:
            return tiled
        norms, size = self.projections.norms(W, self.gamma), size or self._size(W)
        costs = self._costs
        most = int(costs.tiled_pull() / (costs.half_gradient(1) - costs.half_gradient(0)))
        for tolerance in tolerances:
            allowed = ErrorBound(SHARE * tolerance * size.objective, MARGIN * tolerance * size.gradient)
            degree = least_degree(self.kernel, self.q, norms, allowed, most) if tolerance > 0 else None
            if degree is not None:
                enough = ErrorBound(np.inf, ROUGH * size.gradient)
                rough = least_degree(self.kernel, self.q, norms, enough, most) or 0
                maps = [taylor_maps(self.kernel, self.q, each) for each in (degree, min(degree, rough))]
                cut = replace(self, features_are="cut", tolerance=tolerance, noise=NOISE * tolerance)
                return cut._cheaper(*maps)
        return tiled

    def _with_random_features(self, count: int, W: Array) -> "Problem":
        beta = 2 * float(np.var(self.X @ W, axis=0).sum())
        maps = random_maps(self.kernel, self.q, count, beta, np.random.default_rng(self.options.seed))
        if maps is None:
            raise InvalidInput(
                "approximation",
                "The relative gaussian kernel has no random features, since its width differs from row to row;"
                " leave out the approximation, or take another kernel.",
            )
        return replace(self, maps=maps, features_are="random", frame=W)

    @own_threads()
    def bound(self, W: Array) -> ErrorBound:
        """How far off J and Φ(W)W can be, rounding aside, since features were cut."""
        if not self.maps or self.features_are != "cut":
            return ErrorBound(0.0, 0.0)
        return self.projections.norms(W, self.gamma).bound(self.maps)

    @property
    def X(self) -> Array:  # noqa: N802
        """The rows."""
        return self.rows.here

    @property
    def method(self) -> Method:
        """How Φ and J are computed."""
        if self.maps is None:
            return "tiles"
        return "random features" if self.features_are == "random" else "features"

    @property
    def gamma_depends_on_W(self) -> bool:  # noqa: N802
        """Whether Γ follows W."""
        return isinstance(self.gamma, NeighborGamma)

    @property
    def resolution(self) -> float:
        """The share of J below which it says nothing about whether a step was good."""
        return SINGLE if self.maps is None and self.options.precision == "single" else self.noise

    @property
    def dimensions(self) -> int:
        """How many directions W may be made of."""
        return int(self.X.shape[1] - self.null_directions.shape[1])

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Φ(W) and J(W); Φ(W)W and J(W) may have been pulled."""
        if isinstance(self.gamma, NeighborGamma):
            fixed, objective = self._following(self.gamma, W)
            return fixed.evaluate(W)[0], objective
        engine = self._engine(self.flops)
        if self.maps is None:
            phi, objective = tiles.evaluate(
                self.rows,
                self.placed_gamma,
                self._kernel,
                W,
                precision=self.options.precision,
                engine=engine,
                lean=self.options.spare is not None and self.options.spare < self.X.nbytes,
                workspace=self.workspace,
            )
        else:
            maps = self.rough or self.maps
            V = self._framed(W)
            known = self.projections.projected(V)
            phi, objective = features.evaluate(self.rows, self.placed_gamma, maps, V, known=known, engine=engine)
        phi = self._inside(phi)
        if self.is_corrected:
            along, objective = half_gradient or self.half_gradient(W)
            phi = corrected(phi, W, along)
        return phi, objective

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        """Φ(W)W, half of the gradient of J at any W, orthonormal or not; and J(W)."""
        coefficients, objective = self.row_coefficients(W)
        half_gradient = self.column_sums(coefficients)
        return half_gradient if self.frame is None else half_gradient + turning(W, self.frame, half_gradient), objective

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        """The n×q coefficients C with Φ(W)W = XᵀC, and J(W)."""
        if isinstance(self.gamma, NeighborGamma):
            fixed, objective = self._following(self.gamma, W)
            return fixed.row_coefficients(W)[0], objective
        engine = self._engine(self.half_gradient_flops)
        if self.maps is not None:
            V = self._framed(W)
            known = self.projections.projected(V)
            C, objective = features.half_gradient(
                self.rows, self.placed_gamma, self.maps, V, known=known, engine=engine
            )
            return C if self.frame is None else C @ turn(W, self.frame).T, objective
        return tiles.half_gradient(
            self.rows,
            self.placed_gamma,
            self._kernel,
            W,
            precision=self.options.precision,
            engine=engine,
            known=self.projections.projected(W) if isinstance(engine, Threads) else None,  # elsewhere W is less to send
        )

    def objective(self, W: Array) -> float:
        """J(W)"""
        if self.maps is not None:
            engine = self._engine(self.half_gradient_flops)
            return features.objective(self.rows, self.placed_gamma, self.maps, self._framed(W), engine=engine)
        return self.row_coefficients(W)[1]

    def _following(self, gamma: NeighborGamma, W: Array) -> tuple["Problem", float]:
        """The problem with Γ as it is at W, and J(W)."""
        P, engine = self.projections.projected(W), self._engine(self.half_gradient_flops)
        nearness = tiles.kernel_product(P, self._kernel, gamma.onehot, precision=self.options.precision, engine=engine)
        nearness -= sum(weight for weight, _ in self.kernel.terms) * gamma.onehot  # a gaussian is 1 where β is 0
        fixed, objective = gamma.at(np.maximum(nearness, 0))
        return replace(self, gamma=fixed), objective

    def _engine(self, flops: float) -> Engine:
        """Who does work of so many flops: for little of it, to send it elsewhere would take longer."""
        return self.options.engine if flops > HERE else LOCAL if flops > ONE_THREAD else ALONE

    def _framed(self, W: Array) -> Array:
        return W if self.frame is None else W @ turn(W, self.frame)

    def initial_surrogate(self) -> Array:
        """Φ0"""
        return self._inside(
            features.initial_surrogate(self.rows, self.placed_gamma, self.kernel, engine=self.options.engine)
        )

    def restricted(self, chosen: Ints) -> "Problem":
        """The problem on some of the rows, computed here."""
        options = replace(self.options, engine=LOCAL)
        kernel = self.kernel.restricted(chosen, chosen)
        few = rows.picked(self.X, chosen)
        return Problem.of(few, self.gamma.restricted(chosen), kernel, self.q, self.null_directions, options)

    def _inside(self, phi: Array) -> Array:
        """Φ without what rounding has left of the empty directions."""
        if self.null_directions.shape[1] == 0:
            return phi
        with np.errstate(over="ignore", invalid="ignore"):
            return self._outside_empty(self._outside_empty(phi).T)

    def _outside_empty(self, V: Array) -> Array:
        outside: Array = V - self.null_directions @ (self.null_directions.T @ V) if self.null_directions.shape[1] else V
        return outside

    def without_null_directions(self, phi: Array) -> Array:
        """Φ, which has nothing of the empty directions, with these below all others."""
        if self.null_directions.shape[1] == 0:
            return phi
        lowest: Array = phi - (2 * float(np.linalg.norm(phi, np.inf)) or 1.0) * self._emptiness
        return lowest

    @cached_property
    def _emptiness(self) -> Array:
        projector: Array = self.null_directions @ self.null_directions.T
        return projector

    @cached_property
    def scatter(self) -> Array:
        """XᵀX of the centered rows, of some of them where there are many."""
        return self._inside(self._centered.T @ self._centered)

    def spread(self, V: Array) -> Array:
        """The same times V."""
        return self._outside_empty(self._centered.T @ (self._centered @ V))

    @cached_property
    def _centered(self) -> Array:
        few = self.X[:: max(1, len(self.X) // SCATTER_ROWS)]
        centered: Array = few - few.mean(axis=0)
        return centered

    def column_sums(self, C: Array) -> Array:
        """XᵀC, less what rounding has left of the empty directions."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._outside_empty(rows.column_sums(self.X, C))

    @cached_property
    def flops(self) -> float:
        """What all of Φ costs, in flops of a matrix product."""
        if self.maps is None:
            return self._costs.tiled()
        half_gradient = self.half_gradient_flops if self.is_corrected else 0.0
        return half_gradient + self._costs.features(self.rough or self.maps)

    @cached_property
    def half_gradient_flops(self) -> float:
        """What Φ(W)W costs."""
        if self.maps is None:
            return self._costs.tiled_pull()
        return self._costs.half_gradient(sum(each.slope.count for each in self.maps))

    @property
    def is_corrected(self) -> bool:
        """Whether Φ is set right along W by Φ(W)W, since it is of fewer features or of random ones."""
        return self.rough is not None or self.features_are == "random"

    @property
    def is_small(self) -> bool:
        """Whether Φ costs so little that there is no point in saving."""
        return self.flops < (SMALL if self.X.shape[1] < NARROW else SMALL / 10)

    def rows_within(self, flops: float) -> int:
        """How many of the rows a problem may have for its Φ, or what a step takes of it, to cost no more than that."""
        share = (flops / (self.half_gradient_flops if self.gamma_depends_on_W else self.flops)) ** (
            0.5 if self.maps is None else 1.0
        )
        return min(len(self.X), int(len(self.X) * share))

    def _cheaper(self, maps: list[TermMap] | None, rough: list[TermMap] | None = None) -> "Problem":
        """With these features if they are cheaper than tiles."""
        other = replace(self, maps=maps, rough=None if rough == maps else rough)
        tiles = replace(self, maps=None, rough=None, features_are="exact", noise=0.0)
        if maps is None or other.solve_flops > tiles.solve_flops or not other._fits:
            return tiles
        return other

    @property
    def _fits(self) -> bool:
        """Whether the sums over features fit into what memory there is, of each of the engine's shares and in all."""
        size = self._costs.feature_bytes(self.rough or self.maps or [], allowed_threads() + 2)
        return self.options.spare is None or size <= self.options.spare

    @property
    def solve_flops(self) -> float:
        """What an ascent costs, as it usually goes."""
        return self.flops + PULLS * self.half_gradient_flops

    @property
    def _costs(self) -> FlopCounts:
        n, d = self.X.shape
        return FlopCounts(n, d, self.q, len(self.kernel.terms), self.gamma)

    def _size(self, W: Array) -> ErrorBound:
        """About how large J and Φ(W)W are, from a sample of the rows."""
        few = self.sampled(SIZE_ROWS, np.random.default_rng(0))
        half_gradient, objective = few.half_gradient(W)
        scale = (len(self.X) / len(few.X)) ** 2
        return ErrorBound(scale * abs(objective), scale * float(np.linalg.norm(half_gradient)))

    def sampled(self, count: int, rng: np.random.Generator) -> "Problem":
        """The problem on a sample of so many rows, computed here; itself if it has no more."""
        return self if count >= len(self.X) else self.restricted(self.gamma.sample(count, rng))

    @cached_property
    def placed_gamma(self) -> Placed[Gamma]:
        """Γ, where the work is done."""
        return self.options.engine.place(self.gamma)

    @cached_property
    def _kernel(self) -> Placed[Kernel]:
        return self.options.engine.place(self.kernel)
