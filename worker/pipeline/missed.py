"""What the axes of a supervised job miss, as the result shows it."""

from typing import Any

from ism_core import InvalidInput, Result, missed_dependence
from ism_core.arrays import Array
from ism_core.solver import Stability, scale_of_deviations
from ism_jobs.data import TrainingData
from ism_jobs.sentences import listed
from ism_jobs.spec import SupervisedSpec


def missed_document(
    X: Array, spec: SupervisedSpec, training: TrainingData, result: Result, stability: Stability | None
) -> dict[str, Any] | None:
    """Test whether the target depends on the features beyond the axes; None if there are too few rows.

    X are the rows that the result was solved on. The resamples of its stability give the error of W.
    """
    assert training.guidance is not None
    assert training.guidance_kind is not None
    deviations: list[Array] = []
    if stability is not None:
        scale = scale_of_deviations(stability.rows, len(X))
        deviations = [scale * (resample.W - result.W) for resample in stability.resamples]
    try:
        missed = missed_dependence(
            X,
            training.guidance,
            result.W,
            result.kernel,
            kind=training.guidance_kind,
            deviations=deviations,
            seed=spec.seed,
        )
    except InvalidInput:  # too few rows
        return None
    names = training.encoding.names
    target = listed([spec.target] if isinstance(spec.target, str) else spec.target, quoted=True)
    return {
        "p_value": missed.p_value,
        "rows": missed.rows,
        "advice": missed.advice,
        "features": [names[feature] for feature in missed.features],
        "sentence": missed.sentence(names, target),
    }
