"""Cross-validation: the score of an SVM that is trained on the projection of the training rows.

If the job chooses its settings, each fold repeats the choice on its training rows (nested cross-validation).
The SVM is trained and tested on samples of at most 5,000 rows.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from ism_core import InvalidInput, iter_solve
from ism_core.arrays import Array, Ints
from ism_core.paradigms import Supervised, Targets
from ism_core.solver import relay
from ism_jobs.data import Guidance, TrainingData
from ism_jobs.sentences import counted
from ism_jobs.spec import JobSpec, SupervisedSpec
from worker.pipeline.choose import iter_choose_settings
from worker.pipeline.prepare import Preparation, impute
from worker.to_core import chosen_q, chosen_scale, kernel_of

SVM_ROWS = 5_000  # of training for the SVM at most; its time is quadratic: 0.7 s for 4,000 rows, 17 s for 16,000


@dataclass(frozen=True)
class Validation:
    """The scores of the folds: accuracies for classes, R² for values."""

    measure: str
    scores: tuple[float, ...]


class CrossValidation:
    """The cross-validation of a supervised job. Choice, scaling, W and SVM use the training rows only.

    `options` returns the solver options for a spec without open settings.
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
            most, reason = len(self._y) // 2, f"There are {len(self._y)} rows"  # R² needs 2 test rows
        else:
            most = int(np.bincount(codes).min())
            reason = f"The smallest class has {counted(most, 'row')}"
        self.count = min(spec.folds, most)
        if spec.folds and self.count < 2:
            self.count = 0
            self.warnings.append(f"{reason}, so there is no cross-validation.")
        elif self.count < spec.folds:
            self.warnings.append(f"{reason}, so there are {self.count} folds.")

    def iter_scores(self) -> Generator[int | None, None, Validation]:
        """Yield the number of finished folds, or None after a step within a fold."""
        scores: list[float] = []
        yield 0
        for done, (train, test) in enumerate(self._splits(), 1):
            try:
                scores.append((yield from self._score(train, test)))
            except InvalidInput as error:
                # The training rows of this fold are degenerate, since the job was solved on all rows.
                if error.parameter == "memory":
                    raise
            yield done
        if len(scores) < self.count:
            self.warnings.append(
                f"{self.count - len(scores)} of {self.count} folds could not be scored:"
                " their training rows do not vary."
            )
        return Validation("r2" if self._codes is None else "accuracy", tuple(scores))

    def _splits(self) -> list[tuple[Ints, Ints]]:
        kind = KFold if self._codes is None else StratifiedKFold
        splitter = kind(self.count, shuffle=True, random_state=self._spec.seed)
        return list(splitter.split(self._training.X, self._codes))

    def _score(self, train: Ints, test: Ints) -> Generator[None, None, float]:
        rows, spec = self._training.X[train], self._spec
        paradigm = self._paradigm(train, spec)
        trials = iter_choose_settings(spec, impute(rows, spec.missing), paradigm)
        decided, _ = yield from relay(trials, _nothing)
        preparation, X = Preparation.fit(rows, spec.missing, chosen_scale(decided), paradigm.codes)
        options = self._options(decided) | {"whitening": preparation.scaling.whitening}
        assert isinstance(decided, SupervisedSpec)
        paradigm = self._paradigm(train, decided)
        steps = iter_solve(X, paradigm, kernel_of(decided), chosen_q(decided), max_iter=spec.max_iter, **options)
        result = yield from relay(steps, _nothing)
        train, test = self._sample(train), self._sample(test)
        P_train = preparation.apply(self._training.X[train]) @ result.W
        P_test = preparation.apply(self._training.X[test]) @ result.W
        if self._codes is not None:
            return float(SVC().fit(P_train, self._codes[train]).score(P_test, self._codes[test]))
        return _r2(P_train, self._y[train], P_test, self._y[test])

    def _paradigm(self, rows: Ints, spec: SupervisedSpec) -> Supervised:
        return Supervised(self._y[rows], self._kind, balance=spec.balance, neighbors=spec.neighbors)

    def _sample(self, rows: Ints) -> Ints:
        """Return at most SVM_ROWS rows; each class keeps its share and at least one row."""
        if len(rows) <= SVM_ROWS:
            return rows
        shuffled = np.random.default_rng(self._spec.seed).permutation(rows)
        if self._codes is None:
            return shuffled[:SVM_ROWS]
        first_of_each = np.unique(self._codes[shuffled], return_index=True)[1]
        return shuffled[np.union1d(first_of_each, np.arange(SVM_ROWS))]


def _r2(P_train: Array, y_train: Guidance, P_test: Array, y_test: Guidance) -> float:
    """Return the R² of one SVM per column of the target, averaged."""
    columns = []
    for values, truth in zip(np.atleast_2d(y_train.T), np.atleast_2d(y_test.T), strict=True):
        mean, std = values.mean(), values.std() or 1.0
        predicted = SVR().fit(P_train, (values - mean) / std).predict(P_test) * std + mean
        columns.append(r2_score(truth, predicted))
    return float(np.mean(columns))


def _nothing(_: object) -> None:
    """Convert the progress within a fold into None."""
