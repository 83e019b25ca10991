"""The score of an SVM on the projection of rows that W has not learned from.

A job with given settings is cross-validated. A job that chooses its settings has two ways:

- "bootstrap": the choice has cross-validated all candidates already. `corrected_score` in
  `ism_core.selection.rule` removes the optimism of choosing the best of them. If the choice used a sample of the
  rows, or if the axes are sparse, the chosen settings are cross-validated, and the optimism is subtracted.
- "nested": each fold repeats the choice on its training rows.

The SVM is trained and tested on samples of at most 5,000 rows.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from ism_core import InvalidInput, iter_solve
from ism_core.arrays import Array, Ints
from ism_core.engines import SharedWork
from ism_core.paradigms import Supervised, Targets
from ism_core.selection import OutOfFold, standard_error
from ism_core.solver import relay
from ism_jobs.data import Guidance, TrainingData
from ism_jobs.sentences import counted
from ism_jobs.spec import JobSpec, SupervisedSpec
from worker.pipeline.choose import iter_choose_settings, may_fork
from worker.pipeline.prepare import Preparation, impute
from worker.to_core import chosen_q, chosen_scale, kernel_of

FOLDS = 5  # by default
FOLDS_AFTER_SAMPLE = 3  # by default, if the settings were chosen from a sample: such tables are large
SCORED_AFTER_SAMPLE = 2  # of these: two thirds of a large table predict the score well enough, on two cores at once
SVM_ROWS = 5_000  # of training for the SVM at most; its time is quadratic: 0.7 s for 4,000 rows, 17 s for 16,000


FoldPart = tuple[Ints, Array, Array]  # test rows, their predictions, and for each row its part of 1 − score
Method = Literal["bootstrap", "nested", "cross_validation"]
Measure = Literal["accuracy", "r2"]


@dataclass(frozen=True, eq=False)
class Validation:
    """A score for rows that W has not learned from, with the predictions that it comes from."""

    method: Method
    measure: Measure
    score: float
    error: float  # the standard error of the score
    scores: tuple[float, ...]  # of the folds
    rows: Ints  # places of the predicted rows in the training data, in ascending order
    predictions: Array  # the class number, or the values, of each of them

    @staticmethod
    def of_choice(known: OutOfFold, measure: Measure) -> "Validation":
        """Return the corrected score of a choice that used all rows."""
        return Validation(
            "bootstrap", measure, known.corrected, known.error, known.scores, known.rows, known.predictions
        )

    def corrected(self, known: OutOfFold, share: float) -> "Validation":
        """Return the score minus the optimism of the choice, times the share of the rows that the choice used."""
        return replace(self, method="bootstrap", score=self.score - known.optimism * share)

    def document(self) -> dict[str, Any]:
        """Return the validation as the result shows it."""
        return {
            "method": self.method,
            "measure": self.measure,
            "score": self.score,
            "error": self.error,
            "folds": len(self.scores),
        }


class CrossValidation:
    """The cross-validation of a supervised job. Choice, scaling, W and SVM use the training rows only.

    `options` returns the solver options for a spec without automatic settings. `known` has the predictions of the
    choice that the settings come from, if there was one.
    """

    def __init__(
        self,
        training: TrainingData,
        spec: SupervisedSpec,
        options: Callable[[JobSpec], dict[str, Any]],
        known: OutOfFold | None = None,
    ) -> None:
        assert training.guidance is not None
        self._training = training
        self._spec = spec
        self._options = options
        self._y: Guidance = training.guidance
        assert training.guidance_kind is not None
        self._kind = training.guidance_kind
        self._codes = codes = Targets(self._y, "y", self._kind).codes
        self._known = known
        self._is_complete = known is not None and len(known.rows) == len(training.X) and not spec.features_per_axis
        self.warnings: list[str] = []
        self._parts: dict[int, FoldPart] = {}  # of each fold that is done
        self.count = 0
        if self._is_complete:
            return
        if codes is None:
            most, reason = len(self._y) // 2, f"There are {len(self._y)} rows"  # R² needs 2 test rows
        else:
            most = int(np.bincount(codes).min())
            reason = f"The smallest class has {counted(most, 'row')}"
        wanted = spec.folds or (FOLDS if known is None else FOLDS_AFTER_SAMPLE)
        self._parts_of_rows = self.count = min(wanted, most)
        if self.count < 2:
            self.count = 0
            self.warnings.append(f"{reason}, so there is no cross-validation.")
        elif self.count < wanted:
            self.warnings.append(f"{reason}, so there are {self.count} folds.")
        if known is not None and spec.folds is None:
            self.count = min(self.count, SCORED_AFTER_SAMPLE)

    def iter_scores(self) -> Generator[int | None, None, Validation | None]:
        """Yield the number of finished folds, or None after a step within a fold; return None without any score."""
        measure: Measure = "r2" if self._codes is None else "accuracy"
        if self._known is not None and self._is_complete:
            return Validation.of_choice(self._known, measure)
        if self.count == 0:
            return None
        yield 0
        splits = self._splits()
        work = SharedWork(self._iter_predict, may_fork(self._spec, self._training.X))
        try:
            done = 0
            for fold, parts in work.iter_parts(splits):
                if parts is not None:
                    self._parts.update((fold, part) for part in parts)
                    done += 1
                yield None if parts is None else done
        finally:
            work.close()
        if missing := self.count - len(self._parts):
            self.warnings.append(
                f"{missing} of {self.count} folds could not be scored: their training rows do not vary."
            )
        return self._found()

    def cut_short(self) -> Validation | None:
        """Return the score of the folds so far, or the score of the choice if there are none."""
        self.warnings.append(
            f"The cross-validation was finished early on request: {len(self._parts)} of {self.count} folds are scored."
        )
        return self._found()

    def _found(self) -> Validation | None:
        measure: Measure = "r2" if self._codes is None else "accuracy"
        if not self._parts:
            return None if self._known is None else Validation.of_choice(self._known, measure)
        found = self._validation([self._parts[fold] for fold in sorted(self._parts)], measure)
        if self._known is None:
            return found
        return found.corrected(self._known, len(self._known.rows) / len(self._training.X))

    def _validation(self, parts: list[FoldPart], measure: Measure) -> Validation:
        """Return the score, given test rows, predictions and relative losses of each fold."""
        scores = tuple(1 - float(losses.mean()) for _, _, losses in parts)
        rows, predictions, losses = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Validation(
            "nested" if self._spec.has_automatic_settings else "cross_validation",
            measure,
            float(np.mean(scores)),
            standard_error(losses),
            scores,
            rows[order],
            predictions[order],
        )

    def _splits(self) -> list[tuple[Ints, Ints]]:
        kind = KFold if self._codes is None else StratifiedKFold
        splitter = kind(self._parts_of_rows, shuffle=True, random_state=self._spec.seed)
        return list(splitter.split(self._training.X, self._codes))[: self.count]

    def _iter_predict(self, split: tuple[Ints, Ints]) -> Generator[list[FoldPart] | None, None, None]:
        """Yield the predictions of a fold, if it has any, and None after each step on the way."""
        try:
            yield [(yield from self._predict(*split))]
        except InvalidInput as error:
            # The training rows of this fold are degenerate, since the job was solved on all rows.
            if error.parameter == "memory":
                raise
            yield []

    def _predict(self, train: Ints, test: Ints) -> Generator[None, None, FoldPart]:
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
            predicted = SVC().fit(P_train, self._codes[train]).predict(P_test)
            return test, predicted, (predicted != self._codes[test]).astype(float)
        return test, *_regression(P_train, self._y[train], P_test, self._y[test])

    def _paradigm(self, rows: Ints, spec: SupervisedSpec) -> Supervised:
        return Supervised(self._y[rows], self._kind, spec.target_kernel, spec.balance, spec.neighbors)

    def _sample(self, rows: Ints) -> Ints:
        """Return at most SVM_ROWS rows; each class keeps its share and at least one row."""
        if len(rows) <= SVM_ROWS:
            return rows
        shuffled = np.random.default_rng(self._spec.seed).permutation(rows)
        if self._codes is None:
            return shuffled[:SVM_ROWS]
        first_of_each = np.unique(self._codes[shuffled], return_index=True)[1]
        return shuffled[np.union1d(first_of_each, np.arange(SVM_ROWS))]


def _regression(P_train: Array, y_train: Guidance, P_test: Array, y_test: Guidance) -> tuple[Array, Array]:
    """Return the predictions of one SVM per column of the target, and each row's part of 1 − R², averaged."""
    Y_train, Y_test = (np.asarray(y, dtype=np.float64).reshape(len(y), -1) for y in (y_train, y_test))
    mean, std = Y_train.mean(axis=0), Y_train.std(axis=0)
    std = np.where(std > 0, std, 1.0)
    machines = [SVR().fit(P_train, column) for column in ((Y_train - mean) / std).T]
    predicted = np.column_stack([machine.predict(P_test) for machine in machines]) * std + mean
    variances = Y_test.var(axis=0)
    losses = ((predicted - Y_test) ** 2 / np.where(variances > 0, variances, 1.0)).mean(axis=1)
    return predicted, losses


def _nothing(_: object) -> None:
    """Convert the progress within a fold into None."""
