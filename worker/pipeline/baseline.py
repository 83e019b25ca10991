"""Baselines for the cross-validated score of the axes: a constant prediction, and a linear model on all features.

The linear model is a logistic regression for classes and a ridge regression for values, cross-validated with as many
folds. Differences count if they exceed two standard errors, which come from the losses of the same rows.
"""

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.paradigms import Targets
from ism_jobs.data import TrainingData
from ism_jobs.spec import SupervisedSpec
from worker.pipeline.prepare import Preparation
from worker.pipeline.validate import FOLDS_AFTER_SAMPLE, Validation

Document = dict[str, Any]
Verdict = Literal["better_than_linear", "keeps", "below_linear", "no_better_than_constant"]

CLEAR = 2.0  # standard errors from which a difference counts
LINEAR_CELLS = 400_000  # rows × features of the linear model at most: 0.1 to 0.4 s for five folds
FEWEST_ROWS, MOST_ROWS = 1_000, 5_000  # of the linear model, whatever the number of features
ITERATIONS = 50  # of the logistic regression; more change its accuracy on common tables by less than 0.1 %
PENALTIES = np.logspace(-2, 4, 7)  # of the ridge regression; leave-one-out errors choose one
MOST_CLASSES = 50  # of more classes there is no confusion matrix


@own_threads()  # the products are small: threads of the BLAS would spin between them
def baseline_document(training: TrainingData, spec: SupervisedSpec, validation: Validation | None) -> Document | None:
    """Compare the validated score of the axes with the baselines; None if there is no score."""
    if validation is None or not np.isfinite(validation.score):
        return None
    target = _Target(training)
    rows, predictions = validation.rows, validation.predictions
    score, losses = validation.score, target.losses(rows, predictions)
    constant, constant_losses = target.constant(rows)
    n, d = training.X.shape
    sample, others = _sample(rows, n, d, spec.seed)
    folds = max(len(validation.scores), FOLDS_AFTER_SAMPLE) if len(others) else len(validation.scores)
    learned = np.concatenate([rows[sample], others])
    by_linear = _linear_predictions(training, spec, target, learned, folds)[: len(sample)]
    linear_losses = target.losses(rows[sample], by_linear)
    linear = 1 - float(linear_losses.mean())
    better = score - constant > CLEAR * _error(constant_losses - losses)
    ahead = (score - linear) / _error(linear_losses - losses[sample])
    verdict: Verdict = "keeps"
    worth = linear - constant > CLEAR * _error(constant_losses[sample] - linear_losses)
    if not better:
        verdict = "no_better_than_constant"
    elif abs(ahead) > CLEAR:
        verdict = "better_than_linear" if ahead > 0 else "below_linear"
    return {
        "measure": validation.measure,
        "score": score,
        "error": validation.error,
        "constant": constant,
        "linear": linear,
        "linear_error": _error(linear_losses),
        "verdict": verdict,
        "sentence": _sentence(verdict, validation.measure, score, constant, linear, worth),
        **target.confusion(rows, predictions),
    }


class _Target:
    """The target of a job: the loss of a prediction is 1 for a wrong class, or the squared error over the variance."""

    def __init__(self, training: TrainingData) -> None:
        assert training.guidance is not None
        assert training.guidance_kind is not None
        targets = Targets(training.guidance, "y", training.guidance_kind)
        self.codes = targets.codes
        self.values = targets.values
        self._names = [] if self.codes is None else [_name(label) for label in np.unique(training.guidance)]

    def losses(self, rows: Ints, predictions: Array) -> Array:
        if self.codes is not None:
            wrong: Array = (predictions != self.codes[rows]).astype(float)
            return wrong
        assert self.values is not None
        variances = self.values[rows].var(axis=0)
        squares = (self.values[rows] - predictions.reshape(len(rows), -1)) ** 2
        losses: Array = (squares / np.where(variances > 0, variances, 1.0)).mean(axis=1)
        return losses

    def constant(self, rows: Ints) -> tuple[float, Array]:
        """Return the score of the best constant prediction, the most frequent class or the mean, and its losses."""
        if self.codes is None:
            assert self.values is not None
            return 0.0, self.losses(rows, np.tile(self.values[rows].mean(axis=0), (len(rows), 1)))
        losses = self.losses(rows, np.full(len(rows), np.bincount(self.codes[rows]).argmax()))
        return 1 - float(losses.mean()), losses

    def confusion(self, rows: Ints, predictions: Array) -> Document:
        """Return the rows of each class by predicted class, and the precision and recall of each class."""
        k = len(self._names)
        if self.codes is None or k > MOST_CLASSES:
            return {"classes": [], "confusion": []}
        counts = np.zeros((k, k), dtype=int)
        np.add.at(counts, (self.codes[rows], predictions.astype(np.intp)), 1)
        right, there, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
        classes = [
            {
                "class": name,
                "precision": int(right[place]) / int(predicted[place]) if predicted[place] else None,
                "recall": int(right[place]) / int(there[place]) if there[place] else None,
                "rows": int(there[place]),
            }
            for place, name in enumerate(self._names)
        ]
        return {"classes": classes, "confusion": counts.tolist()}


def _linear_predictions(training: TrainingData, spec: SupervisedSpec, target: _Target, rows: Ints, folds: int) -> Array:
    """Return the cross-validated predictions of the linear model for these rows."""
    y = target.values if target.codes is None else target.codes
    assert y is not None
    y = y[rows]
    predictions = np.empty(y.shape)
    folds = max(folds, 2)
    stratified = target.codes is not None and np.unique(y, return_counts=True)[1].min() >= folds
    splitter = (StratifiedKFold if stratified else KFold)(folds, shuffle=True, random_state=spec.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in splitter.split(rows, y):
            preparation, X = Preparation.fit(training.X[rows[train]], spec.missing, "standard")
            X_test = preparation.apply(training.X[rows[test]])
            if target.codes is None:
                model = RidgeCV(PENALTIES)
            else:
                varies = np.ptp(y[train]) > 0
                model = LogisticRegression(max_iter=ITERATIONS) if varies else DummyClassifier()
            predictions[test] = model.fit(X, y[train]).predict(X_test).reshape(predictions[test].shape)
    return predictions


def _sample(rows: Ints, n: int, d: int, seed: int) -> tuple[Ints, Ints]:
    """Return places in `rows` that the linear model predicts, and other rows that it learns from too.

    W has learned from rows that were not predicted, so the linear model does so too.
    """
    most = int(np.clip(LINEAR_CELLS // d, FEWEST_ROWS, MOST_ROWS))
    rng = np.random.default_rng(seed)
    places = np.sort(rng.permutation(len(rows))[:most])
    others = rng.permutation(np.setdiff1d(np.arange(n), rows))[: most - len(places)]
    return places, others


def _error(losses: Array) -> float:
    """Return the standard error of the mean; at least that of one row that differs by 1."""
    return max(float(losses.std() / np.sqrt(len(losses))), 1 / len(losses))


def _sentence(
    verdict: Verdict, measure: str, score: float, constant: float, linear: float, linear_is_better: bool
) -> str:
    def written(value: float) -> str:
        return f"{100 * value:.1f}\u00a0%" if measure == "accuracy" else f"R² {value:.2f}"

    compared = f"({written(score)} against {written(linear)})"
    if verdict == "better_than_linear":
        return f"The axes predict better than a linear model on all features {compared}."
    if verdict == "keeps":
        return f"The axes keep what a linear model on all features knows {compared}."
    if verdict == "below_linear":
        return f"The axes lose information: a linear model on all features predicts better {compared}."
    answer = "the most frequent class" if measure == "accuracy" else "the mean"
    claim = f"The axes predict no better than always answering {answer} ({written(score)} against {written(constant)})."
    return f"{claim} A linear model on all features reaches {written(linear)}." if linear_is_better else claim


def _name(label: Any) -> str:
    return str(int(label)) if isinstance(label, float | np.floating) and float(label).is_integer() else str(label)
