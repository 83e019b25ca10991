"""Publication-quality plots from plain arrays, as SVG or PNG: the embedding, the loadings and the trace.

matplotlib is imported when the first plot is drawn.
"""

from ism_plots.canvas import Format
from ism_plots.embedding import embedding_plot
from ism_plots.loadings import loadings_plot
from ism_plots.trace import trace_plot

__all__ = ["Format", "embedding_plot", "loadings_plot", "trace_plot"]
