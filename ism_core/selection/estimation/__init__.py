"""What the estimators share: the fit of complete settings, in memory or in parts, and their docstrings."""

from ism_core.selection.estimation.docstrings import CLUSTERS, LABELS, documented
from ism_core.selection.estimation.fit import Fit, fit_in_memory, fit_in_parts, given_settings

__all__ = ["CLUSTERS", "LABELS", "Fit", "documented", "fit_in_memory", "fit_in_parts", "given_settings"]
