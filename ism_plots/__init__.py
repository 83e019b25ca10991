"""Publication-quality plots from plain arrays, as SVG or PNG: the embedding, the importance of features,
the loadings and the trace. `pdf_document` puts them on pages with text and tables.

matplotlib is imported when the first plot is drawn.
"""

from ism_plots.arrows import Arrow, arrows_of
from ism_plots.canvas import Format
from ism_plots.document import Block, Grid, Plots, Text, pdf_document
from ism_plots.embedding import embedding_plot, leading_axes
from ism_plots.estimator import estimator_plot
from ism_plots.importance import Importance, importance_plot
from ism_plots.loadings import loadings_plot
from ism_plots.trace import trace_plot

__all__ = [
    "Arrow",
    "Block",
    "Format",
    "Grid",
    "Importance",
    "Plots",
    "Text",
    "arrows_of",
    "embedding_plot",
    "estimator_plot",
    "importance_plot",
    "leading_axes",
    "loadings_plot",
    "pdf_document",
    "trace_plot",
]
