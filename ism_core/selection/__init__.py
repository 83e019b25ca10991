"""Automatic choice of kernel, q and scale from the data; measures of a projection on held-out rows."""

from ism_core.selection.choice import Auto, Candidate, Choice, FinalCheck, Journal, Leader, OutOfFold, Trial, never
from ism_core.selection.choose import choose, iter_choose
from ism_core.selection.estimation import (
    CLUSTERS,
    LABELS,
    Fit,
    Update,
    UpdatedMixin,
    checked,
    choose_at_scale,
    documented,
    final_check,
    fit_in_memory,
    fit_in_parts,
)
from ism_core.selection.fold_paths import FoldScore
from ism_core.selection.held_out import HeldOut, Losses, Target, sample
from ism_core.selection.rule import standard_error
from ism_core.selection.scoring import NeighborScoreMixin
from ism_core.selection.settings import Settings, Starts, has_automatic_settings, iter_settings

__all__ = [
    "CLUSTERS",
    "LABELS",
    "Auto",
    "Candidate",
    "Choice",
    "FinalCheck",
    "Fit",
    "FoldScore",
    "HeldOut",
    "Journal",
    "Leader",
    "Losses",
    "NeighborScoreMixin",
    "OutOfFold",
    "Settings",
    "Starts",
    "Target",
    "Trial",
    "Update",
    "UpdatedMixin",
    "checked",
    "choose",
    "choose_at_scale",
    "documented",
    "final_check",
    "fit_in_memory",
    "fit_in_parts",
    "has_automatic_settings",
    "iter_choose",
    "iter_settings",
    "never",
    "sample",
    "standard_error",
]
