"""Pictures of a result, as SVG or PNG, good enough for a paper: the embedding, the loadings and the way there.

Importing this imports no matplotlib; the first picture does.
"""

from app.plots.canvas import Format
from app.plots.embedding import embedding_plot
from app.plots.loadings import loadings_plot
from app.plots.trace import trace_plot

__all__ = ["Format", "embedding_plot", "loadings_plot", "trace_plot"]
