"""Few rows in whole matrices give the same J, Φ and Φ(W)W as tiles in double precision."""

import numpy as np
import pytest

from ism_core import Supervised
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Gaussian
from ism_core.objective import ClassNeighborGamma, EvaluationOptions, Precision, Problem, ProblemData

ROUNDING: dict[Precision, float] = {"double": 1e-13, "single": 3e-6}


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("kind", ["fixed", "classes", "values"])
def test_few_rows_in_whole_matrices_agree_with_tiles(
    kind: str, precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X, classes = 3 + rng.standard_normal((90, 6)), np.arange(90) % 3
    X[:, 0] += classes
    W = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    gammas: dict[str, Gamma] = {
        "fixed": LabelGamma.of(classes),
        "classes": ClassNeighborGamma.of(classes),
        "values": Supervised(X[:, :2] ** 2, neighbors=True).target_gamma(),
    }
    gamma = gammas[kind]

    def problem(precision: Precision) -> Problem:
        return Problem.of(X, gamma, 2.0 * Gaussian(0.7), 2, options=EvaluationOptions(precision=precision))

    whole = problem(precision)
    assert isinstance(whole.data, ProblemData)
    assert whole.data.few_rows is not None
    ours = whole.evaluate(W), whole.half_gradient(W)
    monkeypatch.setattr("ism_core.objective.data.in_memory.MOST_ROWS", 0)
    theirs = problem("double").evaluate(W), problem("double").half_gradient(W)
    for (found, J), (expected, same_J) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING[precision] * np.abs(expected).max())
        np.testing.assert_allclose(J, same_J, rtol=ROUNDING[precision])
