"""A model that rows are added to and removed from has the axes of a fit on the rows that it has."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ism_core import Gaussian, InvalidInput, Linear, Polynomial, Squared, SupervisedISM, estimators
from ism_core.arrays import Array, Ints
from ism_core.gamma import LabelGamma
from ism_core.linalg import largest_angle, project_out
from ism_core.objective import ArrayPartitions
from ism_core.solver.updates import row_moments
from ism_core.solver.updates.target_functions import ValueFunctions
from tests.ism_core import reference

KERNELS = {
    "polynomial": Polynomial(),
    "square": Polynomial(2),
    "sum": Polynomial(4) + 0.5 * Linear(),
    "linear": Linear(),
    "squared": Squared(),
}
ROUNDING = 5e-8  # angle that is left between a fit and the maximum, because J is the same up to rounding


@dataclass(frozen=True)
class Table:
    """Rows far from 0 in columns of different units, with classes and values."""

    X: Array
    classes: Ints
    values: Array


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(0)
    classes = rng.choice(4, 1_200, p=[0.4, 0.3, 0.2, 0.1])
    X = rng.standard_normal((1_200, 5)) @ rng.standard_normal((5, 5))
    X[:, 1] += 4 * (classes == 1)
    X[:, 4] += 4 * (classes >= 2)
    values = np.column_stack([X[:, 0] ** 2 + X[:, 3], X[:, 1]])
    X[:600] += 0.5  # the means move
    return Table(X * [1, 10, 0.1, 3, 1] + [50, -300, 0, 0, 7], classes, values)


def grown(X: Array, y: Any, parts: int, **options: Any) -> SupervisedISM:
    model = SupervisedISM(**options)
    for rows in np.array_split(np.arange(len(X)), parts):
        model.partial_fit(X[rows], y[rows])
    return model


def tight(model: SupervisedISM, X: Array, y: Any) -> SupervisedISM:
    """Return the fit of all rows with the same settings, as far as J resolves it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).set_params(kernel=model.result_.kernel, delta=1e-9, max_iter=2_000).fit(X, y)


def angle(one: SupervisedISM, other: SupervisedISM) -> float:
    return largest_angle(one.components_.T, other.components_.T)


@pytest.mark.parametrize(
    ("kernel", "target", "scale"),
    [
        *((kernel, target, "standard") for kernel in KERNELS for target in ("classes", "balanced classes", "values")),
        ("polynomial", "classes", "none"),
        ("squared", "values", "none"),
    ],
)
def test_rows_that_arrive_give_the_axes_of_a_fit_on_all(kernel: str, target: str, scale: str, table: Table) -> None:
    y = table.values if target == "values" else table.classes
    X = table.X if scale == "standard" else (table.X - table.X[0]) / [1, 10, 0.1, 3, 1]
    options = {"q": 2, "scale": scale, "balance": target == "balanced classes", "target_kernel": "linear"}
    found = grown(X, y, 6, kernel=KERNELS[kernel], **options)
    fitted = tight(found, X, y)
    at_once = grown(X, y, 1, kernel=KERNELS[kernel], **options)
    assert angle(found, fitted) < ROUNDING
    assert angle(found, at_once) < 1e-9
    assert found.objective_ == pytest.approx(fitted.objective_, rel=1e-12)
    np.testing.assert_allclose(found.mean_, fitted.mean_, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.scale_, fitted.scale_, rtol=1e-13)
    assert found.result_.converged
    assert found.result_.certificate.second_order
    assert found.update_.rows == 1_200


def test_axes_are_stationary_for_the_plain_double_loop(table: Table) -> None:
    X, y = table.X[::8], table.classes[::8]
    model = grown(X, y, 6, kernel=Polynomial(), q=2)
    Z, W = (X - model.mean_) / model.scale_, model.components_.T
    gamma, kernel = LabelGamma.of(y), model.result_.kernel
    phi = reference.evaluate(Z, gamma, kernel, W)
    assert np.linalg.norm(project_out(W, phi @ W)) < 1e-11 * np.linalg.norm(phi)
    assert model.objective_ == pytest.approx(reference.objective(Z, gamma, kernel, W), rel=1e-10)


@pytest.mark.parametrize("target", ["classes", "values"])
def test_rows_that_are_removed_have_never_been_there(target: str, table: Table) -> None:
    y = getattr(table, target)
    options = {"kernel": Polynomial(), "q": 2, "target_kernel": "linear"}
    expected = grown(table.X[:700], y[:700], 1, **options)
    model = grown(table.X[:700], y[:700], 1, **options).partial_fit(table.X[700:], y[700:])
    assert angle(model, expected) > 1e-4
    model.remove_rows(table.X[700:1000], y[700:1000]).remove_rows(table.X[1000:], y[1000:])
    assert angle(model, expected) < 1e-9
    assert (model.update_.rows, model.update_.removed, model.update_.added) == (700, 200, 0)
    assert len(model._kept.sample.X) == 700


def test_a_table_in_partitions_can_be_added(table: Table) -> None:
    first, later = ArrayPartitions(table.X[:700], table.classes[:700], 150, 60), table.X[700:]
    options = {"kernel": Polynomial(), "q": 2}
    model = SupervisedISM(**options).partial_fit(first).partial_fit(ArrayPartitions(later, table.classes[700:]))
    assert angle(model, grown(table.X, table.classes, 1, **options)) < 1e-9


def test_a_gaussian_kernel_between_values_stays_that_of_the_first_rows(table: Table) -> None:
    y = table.values[:, 0]
    model = grown(table.X, y, 4, kernel=Polynomial(2), q=1)
    assert isinstance(model._kept.moments.targets, ValueFunctions)
    fitted = tight(model, table.X, y)
    assert angle(model, fitted) < 0.05


def test_classes_come_and_go(table: Table) -> None:
    words = np.array(["ant", "bee", "cat", "donkey"])[table.classes]
    order = np.argsort(table.classes == 3, kind="stable")
    X, y = table.X[order], words[order]
    few = int((table.classes != 3).sum())
    model = SupervisedISM(Polynomial(), q=2).partial_fit(X[:few], y[:few])
    model.partial_fit(X[few:], y[few:])
    assert model.update_.reasons == ("Class 'donkey' is new.",)
    assert not model.update_.settings_hold
    assert angle(model, grown(X, y, 1, kernel=Polynomial(), q=2)) < 1e-9
    model.remove_rows(X[few:], y[few:])
    assert model.update_.reasons == ("Class 'donkey' has no rows any more.",)
    assert angle(model, grown(X[:few], y[:few], 1, kernel=Polynomial(), q=2)) < 1e-9
    with pytest.raises(InvalidInput, match="More rows of class 'cat'"):
        model.remove_rows(np.repeat(X[:1], 500, axis=0), np.full(500, "cat"))


def test_updates_tell_how_far_the_subspace_turned(table: Table) -> None:
    model = grown(table.X[:600], table.classes[:600], 1, kernel=Polynomial(), q=2)
    first = model.components_.T / model.scale_[:, None]
    for rows in (slice(600, 900), slice(900, 1_200)):
        before = model.components_.T / model.scale_[:, None]
        model.partial_fit(table.X[rows], table.classes[rows])
        for axes, told in ((before, model.update_.angle), (first, model.update_.angle_since_choice)):
            turned = np.linalg.qr(axes * model.scale_[:, None])[0]
            assert told == pytest.approx(largest_angle(turned, model.components_.T), rel=1e-6)
    assert 0 < model.update_.angle < 0.2


def test_rows_of_another_kind_are_drift_and_others_are_not(table: Table) -> None:
    rng = np.random.default_rng(1)
    for y in (table.classes, table.values[:, 0]):
        model = grown(table.X[:400], y[:400], 1, kernel=Polynomial(2), q=2)
        for rows in (slice(400, 600), slice(600, 800), slice(800, 1_000)):
            model.partial_fit(table.X[rows], y[rows])
            assert model.update_.settings_hold, model.update_
        model.partial_fit(table.X[1_000:], rng.permutation(y[1_000:]))
        assert not model.update_.settings_hold
        assert "of arriving rows rose to" in model.update_.reasons[0]
        assert model.update_.loss > model.update_.earlier_loss


def test_many_cells_beyond_the_limits_of_gross_cells_are_drift(table: Table) -> None:
    X = table.X.copy()
    X[3, 2] = 1e9
    with pytest.warns(UserWarning, match="1 cells far outside"):
        model = SupervisedISM(Polynomial(2)).partial_fit(X[:800], table.classes[:800])
    limit = model.limits_[1, 2]
    model.partial_fit(X[800:] + np.array([0, 0, 0.5, 0, 0]), table.classes[800:])
    assert model.limits_[1, 2] == limit
    assert "of x2 are beyond the limits" in model.update_.reasons[-1]


def test_frames_are_encoded_like_the_first(table: Table) -> None:
    frame = pd.DataFrame(table.X, columns=list("abcde"))
    frame["color"] = np.where(table.classes == 1, "red", "blue")
    model = SupervisedISM(Polynomial(2)).partial_fit(frame[:600], table.classes[:600])
    model.partial_fit(frame[600:], table.classes[600:])
    encoded = np.column_stack([table.X, *(frame["color"] == level for level in ("blue", "red"))])[:, : len(model.mean_)]
    assert model.features_.tolist()[:5] == list("abcde")
    assert model.update_.rows == 1_200
    np.testing.assert_allclose(model.mean_[:5], encoded[:, :5].mean(axis=0), rtol=1e-12)


def test_a_column_that_was_constant_may_vary_later(table: Table) -> None:
    X = np.column_stack([table.X, np.full(1_200, 0.3)])
    kernel = Polynomial(2, gamma=0.2)
    model = grown(X[:600], table.classes[:600], 3, kernel=kernel, q=2)
    assert model.scale_[-1] == 1
    assert abs(model.components_[:, -1]).max() < 1e-10
    X[600:, -1] += table.classes[600:]
    model.partial_fit(X[600:], table.classes[600:])
    fitted = tight(model, X, table.classes)
    assert angle(model, fitted) < ROUNDING


def test_a_fit_can_be_updated_and_forgets_other_rows(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    first, later = (table.X[:700], table.classes[:700]), (table.X[700:], table.classes[700:])
    model = grown(*later, 2, kernel=Polynomial(), q=2).fit(*first).partial_fit(*later)
    assert angle(model, grown(table.X, table.classes, 1, kernel=Polynomial(), q=2)) < 1e-9
    monkeypatch.setattr(estimators, "KEPT_NUMBERS", 100)
    model.fit(*first)
    for change in (model.partial_fit, model.remove_rows):
        with pytest.raises(InvalidInput, match="begin with partial_fit"):
            change(*later)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kernel": Gaussian()}, "the kernel Gaussian cannot be updated: its objective at another W"),
        ({"kernel": "gaussian"}, "the kernel gaussian cannot be updated"),
        ({"kernel": Polynomial() + Gaussian()}, "Gaussian cannot be updated"),
        ({"scale": "whiten"}, 'scale "whiten" cannot be updated'),
        ({"neighbors": True}, "compares rows in pairs"),
    ],
)
def test_settings_without_sums_have_no_updates_and_say_why(options: dict[str, Any], sentence: str) -> None:
    model = SupervisedISM(**({"kernel": Polynomial()} | options))
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        _ = model.partial_fit
    assert sentence in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lambda X, y: (X[:, :3], y), "3 features"),
        (lambda X, y: (X, y[:-1]), "one for each row"),
        (lambda X, y: (X, y.astype(str)), "are numbers"),
        (lambda X, y: (X, np.where(y == 1, np.nan, y)), "missing value"),
        (lambda X, y: (np.where(X[5] == X, np.inf, X), y), "infinity"),
        (lambda X, y: (X, None), "y to be passed"),
    ],
)
def test_wrong_rows_are_refused_and_change_nothing(rows: Any, sentence: str, table: Table) -> None:
    model = grown(table.X, table.classes, 1, kernel=Polynomial(2))
    before = model.components_
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(*rows(table.X[:50], table.classes[:50]))
    assert model.components_ is before
    assert model._kept.moments.rows == 1_200


def test_a_model_with_too_many_sums_is_refused(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_moments, "MOST_ENTRIES", 100)
    with pytest.raises(InvalidInput, match="5 columns with a kernel of degree 3 needs"):
        grown(table.X, table.classes, 1, kernel=Polynomial())
