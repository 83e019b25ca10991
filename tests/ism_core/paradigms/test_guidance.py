"""Labels that guide a clustering: how they act with an automatic weight, and how with a given one."""

import numpy as np
import pytest

from ism_core import SemiSupervised, solve
from ism_core.arrays import Array
from ism_core.metrics import nmi
from ism_core.paradigms import Clustering
from tests.ism_core.conftest import Labelled


@pytest.fixture
def apart(rng: np.random.Generator) -> Labelled:
    """Three clusters that are well apart."""
    y = np.arange(60) % 3
    return Labelled(5 * np.eye(5)[y] + rng.standard_normal((60, 5)), y)


def some_labels(y: Array, known: Array) -> Array:
    labels = np.full(len(y), None, dtype=object)
    labels[known] = y[known]
    return labels


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "squared"])
def test_labels_on_all_rows_are_the_clusters(kernel: str, blobs: Labelled, rng: np.random.Generator) -> None:
    for labels in (blobs.y, rng.integers(3, size=60)):
        np.testing.assert_array_equal(solve(blobs.X, SemiSupervised(labels, 3), kernel, 2).labels, labels)


@pytest.mark.parametrize("limit", [None, 1])
def test_a_row_with_a_label_is_in_the_cluster_of_its_class(limit: int | None, apart: Labelled) -> None:
    wrong = apart.y.copy()
    wrong[8] = 0  # its class is 2
    known = np.arange(0, 60, 4)
    labels = solve(apart.X, SemiSupervised(some_labels(wrong, known), 3), "gaussian", 2, features_per_axis=limit).labels
    np.testing.assert_array_equal(labels[known], wrong[known])
    assert nmi(np.delete(labels, known), np.delete(apart.y, known)) > 0.9


def test_a_cluster_without_labels_is_found(apart: Labelled) -> None:
    known = np.flatnonzero(apart.y < 2)[1::3]
    labels = solve(apart.X, SemiSupervised(some_labels(apart.y, known), 3), "gaussian", 2).labels
    np.testing.assert_array_equal(labels, apart.y)


def test_with_a_given_weight_labels_act_through_the_axes_only(blobs: Labelled, rng: np.random.Generator) -> None:
    result = solve(blobs.X, SemiSupervised(rng.integers(3, size=60), 3, mu=5.0), "gaussian", 2)
    np.testing.assert_array_equal(result.labels, Clustering.of(result.spectral).labels(0))
    assert not any("hardly agree" in warning for warning in result.warnings)


def test_labels_that_contradict_the_table_are_reported(blobs: Labelled, rng: np.random.Generator) -> None:
    for labels, contradicts in ((blobs.y, False), (rng.permutation(blobs.y), True)):
        warnings = solve(blobs.X, SemiSupervised(labels, 3), "gaussian", 1).warnings
        assert any("hardly agree with the labels" in warning for warning in warnings) is contradicts


def test_the_fewer_rows_have_a_score_the_larger_is_its_weight(blobs: Labelled, rng: np.random.Generator) -> None:
    for scores, weight in ((blobs.y, 50), (rng.standard_normal(60), 5)):
        assert SemiSupervised(scores, 3).mu == weight
        half = np.where(np.arange(60) % 2, scores, np.nan)
        assert SemiSupervised(half, 3).mu == 2 * weight
        assert SemiSupervised(half, 3).restricted(np.arange(1, 60, 2)).mu == weight
        assert SemiSupervised(half, 3, mu=7.0).mu == 7


def test_a_result_says_if_classes_and_clusters_differ_in_number(blobs: Labelled) -> None:
    many = solve(blobs.X, SemiSupervised(blobs.y, 2), "gaussian", 2)
    assert "3 classes, more than the 2 clusters" in many.warnings[0]
    assert set(many.labels) == {0, 1}
    few = solve(blobs.X, SemiSupervised(blobs.y > 0, 3), "gaussian", 2)
    assert "1 of the 3 clusters have no rows" in few.warnings[0]
    np.testing.assert_array_equal(few.labels, blobs.y > 0)
