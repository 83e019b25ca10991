"""How well an SVM on the projection does on rows that nothing was learnt from.

W is learnt from all training rows, and where the job chooses its settings, so is the choice: the scores come from rows
that it never saw. Of more than 5,000 rows the SVM sees a sample.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from ism_core import InvalidInput, iter_solve
from ism_core.arrays import Array
from ism_core.paradigms import Supervised, Targets
from ism_core.solver import relay
from ism_jobs.data import Guidance, TrainingData
from ism_jobs.sentences import counted
from ism_jobs.spec import JobSpec, SupervisedSpec
from worker.pipeline.choose import decide
from worker.pipeline.prepare import Preparation, filled
from worker.to_core import kernel_of, settled_q, settled_scale

Rows = NDArray[np.intp]

SVM_ROWS = 5_000  # an SVM's time grows with the square of its rows: 0.7 s for 4,000, 17 s for 16,000


@dataclass(frozen=True)
class Validation:
    """The scores of the folds: accuracies for classes, R² for values."""

    measure: str
    scores: tuple[float, ...]


class Folds:
    """The folds of a supervised job. Choice, scaling, W and SVM see the training rows only.

    `options` gives the solver's options for a spec that leaves nothing open.
    """

    def __init__(
        self, training: TrainingData, spec: SupervisedSpec, options: Callable[[JobSpec], dict[str, Any]]
    ) -> None:
        assert training.guidance is not None
        self._training = training
        self._spec = spec
        self._options = options
        self._y: Guidance = training.guidance
        assert training.guidance_kind is not None
        self._kind = training.guidance_kind
        self._codes = codes = Targets(self._y, "y", self._kind).codes
        self.warnings: list[str] = []
        if codes is None:
            most, of = len(self._y) // 2, f"There are {len(self._y)} rows"  # R² needs 2 rows to score
        else:
            most = int(np.bincount(codes).min())
            of = f"The smallest class has {counted(most, 'row')}"
        self.count = min(spec.folds, most)
        if spec.folds and self.count < 2:
            self.count = 0
            self.warnings.append(f"{of}, so there is no cross-validation.")
        elif self.count < spec.folds:
            self.warnings.append(f"{of}, so there are {self.count} folds.")

    def scores(self) -> Generator[int | None, None, Validation]:
        """Yields the number of folds that are done, or None when a fold has made a step."""
        scores: list[float] = []
        yield 0
        for done, (train, test) in enumerate(self._splits(), 1):
            try:
                scores.append((yield from self._score(train, test)))
            except InvalidInput as error:  # all rows together can be learnt from: the job has been solved
                if error.parameter == "memory":
                    raise
            yield done
        if len(scores) < self.count:
            self.warnings.append(
                f"{self.count - len(scores)} of {self.count} folds could not be scored:"
                " what is left of the rows without them does not vary."
            )
        return Validation("r2" if self._codes is None else "accuracy", tuple(scores))

    def _splits(self) -> list[tuple[Rows, Rows]]:
        kind = KFold if self._codes is None else StratifiedKFold
        splitter = kind(self.count, shuffle=True, random_state=self._spec.seed)
        return list(splitter.split(self._training.X, self._codes))

    def _score(self, train: Rows, test: Rows) -> Generator[None, None, float]:
        rows, spec = self._training.X[train], self._spec
        paradigm = self._paradigm(train, spec)
        decision = decide(spec, filled(rows, spec.missing), paradigm)
        decided, _ = yield from relay(decision, _nothing)
        preparation, X = Preparation.learnt(rows, spec.missing, settled_scale(decided), paradigm.codes)
        options = self._options(decided) | {"whitening": preparation.scaling.whitening}
        assert isinstance(decided, SupervisedSpec)
        paradigm = self._paradigm(train, decided)
        steps = iter_solve(X, paradigm, kernel_of(decided), settled_q(decided), max_iter=spec.max_iter, **options)
        W = (yield from relay(steps, _nothing)).W
        taught, judged = self._sample(train), self._sample(test)
        P_taught = preparation.apply(self._training.X[taught]) @ W
        P_judged = preparation.apply(self._training.X[judged]) @ W
        if self._codes is not None:
            return float(SVC().fit(P_taught, self._codes[taught]).score(P_judged, self._codes[judged]))
        return _r2(P_taught, self._y[taught], P_judged, self._y[judged])

    def _paradigm(self, rows: Rows, spec: SupervisedSpec) -> Supervised:
        return Supervised(self._y[rows], self._kind, balance=spec.balance, neighbors=spec.neighbors)

    def _sample(self, rows: Rows) -> Rows:
        """So many rows as an SVM can take; of classes, each keeps its share and at least one row."""
        if len(rows) <= SVM_ROWS:
            return rows
        shuffled = np.random.default_rng(self._spec.seed).permutation(rows)
        if self._codes is None:
            return shuffled[:SVM_ROWS]
        first_of_each = np.unique(self._codes[shuffled], return_index=True)[1]
        return shuffled[np.union1d(first_of_each, np.arange(SVM_ROWS))]


def _nothing(_: object) -> None:
    """Say only that the work goes on."""


def _r2(P_train: Array, y_train: Guidance, P_test: Array, y_test: Guidance) -> float:
    """Of an SVM for each column of the target, averaged."""
    columns = []
    for values, truth in zip(np.atleast_2d(y_train.T), np.atleast_2d(y_test.T), strict=True):
        mean, spread = values.mean(), values.std() or 1.0
        predicted = SVR().fit(P_train, (values - mean) / spread).predict(P_test) * spread + mean
        columns.append(r2_score(truth, predicted))
    return float(np.mean(columns))
