"""What training rows teach, and that other rows teach nothing."""

import numpy as np
import pytest

from worker.pipeline.prepare import Preparation, impute

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("scale", ["standard", "none"])
@pytest.mark.parametrize("missing", ["auto", "refuse", "mean", "median", "drop"])
def test_rows_are_prepared_alike_whenever_they_come(scale: str, missing: str) -> None:
    X = RNG.normal(5, 3, size=(30, 4))
    if missing in ("auto", "mean", "median"):
        X[3, 2] = X[7, 0] = np.nan
    preparation, prepared = Preparation.fit(X, missing, scale)
    np.testing.assert_allclose(preparation.apply(X), prepared, atol=1e-12)
    assert np.isfinite(prepared).all()
    if scale == "standard":
        np.testing.assert_allclose(prepared.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(prepared.std(axis=0), 1)


def test_other_rows_do_not_change_what_was_learned() -> None:
    train, other = RNG.normal(size=(20, 3)), RNG.normal(100, 50, size=(5, 3))
    other[0] = np.nan
    preparation, _ = Preparation.fit(train, "mean", "standard")
    np.testing.assert_allclose(preparation.apply(other)[0], 0, atol=1e-12)
    np.testing.assert_allclose(preparation.apply(other)[1:], (other[1:] - train.mean(axis=0)) / train.std(axis=0))


@pytest.mark.parametrize("missing", ["auto", "median"])
def test_gaps_are_filled_with_medians_and_complete_rows_are_not_copied(missing: str) -> None:
    X = RNG.exponential(size=(31, 150))
    assert impute(X, missing) is X
    preparation, _ = Preparation.fit(X, missing, "none")
    np.testing.assert_array_equal(preparation.fill, np.median(X, axis=0))
    X[::5, ::7] = np.nan
    preparation, prepared = Preparation.fit(X, missing, "none")
    np.testing.assert_array_equal(preparation.fill, np.nanmedian(X, axis=0))
    np.testing.assert_array_equal(prepared, np.where(np.isnan(X), preparation.fill, X))


@pytest.mark.parametrize("missing", ["auto", "mean"])
def test_a_column_without_a_value_or_without_change_does_no_harm(missing: str) -> None:
    X = np.column_stack([np.full(5, np.nan), np.full(5, 7.0), np.arange(5.0)])
    preparation, prepared = Preparation.fit(X, missing, "standard")
    np.testing.assert_allclose(prepared[:, :2], 0)
    assert preparation.scaling.scale[:2].tolist() == [1.0, 1.0]
    assert preparation.apply(np.array([[2.0, 8.0, 2.0]])).tolist() == [[2.0, 1.0, 0.0]]
