"""Pictures of a result, as SVG or PNG, good enough for a paper: the embedding, the loadings and the way there.

Importing this imports no matplotlib; the first picture does.
"""

from ism_plots.canvas import Format
from ism_plots.embedding import embedding_plot
from ism_plots.loadings import loadings_plot
from ism_plots.trace import trace_plot

__all__ = ["Format", "embedding_plot", "loadings_plot", "trace_plot"]
