"""The plot of a fitted estimator of ism_core: its rows in the new axes, with features as arrows."""

from typing import Any

import numpy as np

from ism_plots.arrows import arrows_of
from ism_plots.embedding import embedding_plot, leading_axes


class Svg(str):
    """An SVG as text, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def estimator_plot(estimator: Any, X: Any, y: Any = None) -> Svg:
    """Draw rows in the axes of a fitted estimator, colored by y; a clustering colors its own rows by cluster."""
    embedding = np.asarray(estimator.transform(X), dtype=np.float64)
    found = estimator.interpretation_
    names = [str(name) for name in estimator.features_]
    groups = [[names[row] for row in group] for group in found.groups]
    if y is None and len(getattr(estimator, "labels_", ())) == len(embedding):
        y = estimator.labels_
    shares = [each.share if each.informative else 0.0 for each in found.contributions]
    shown = leading_axes(shares, embedding.shape[1])
    arrows = arrows_of(names, found.structure[:, shown], groups, found.importance) if embedding.shape[1] > 1 else ()
    svg = embedding_plot(
        embedding,
        None if y is None else list(y),
        legend=getattr(y, "name", None),
        shares=shares,
        arrows=arrows,
    )
    return Svg(svg.decode())
