"""What the estimators share: the fit of complete settings, in memory or in parts; updates; their docstrings."""

from ism_core.selection.estimation.at_scale import checked, choose_at_scale, final_check
from ism_core.selection.estimation.docstrings import CLUSTERS, LABELS, documented
from ism_core.selection.estimation.fit import Fit, fit_in_memory, fit_in_parts
from ism_core.selection.estimation.kept import Update
from ism_core.selection.estimation.updates import UpdatedMixin

__all__ = [
    "CLUSTERS",
    "LABELS",
    "Fit",
    "Update",
    "UpdatedMixin",
    "checked",
    "choose_at_scale",
    "documented",
    "final_check",
    "fit_in_memory",
    "fit_in_parts",
]
