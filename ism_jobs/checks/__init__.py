"""Checks of a job against the description of its data set, made before the job is queued."""

from ism_jobs.checks.column_use import Categorical, FeatureKind, column_use, date_parts, text_kind
from ism_jobs.checks.columns import TargetKind, column_roles
from ism_jobs.checks.job import check, check_all, problems
from ism_jobs.checks.ordinal import ordered

__all__ = [
    "Categorical",
    "FeatureKind",
    "TargetKind",
    "check",
    "check_all",
    "column_roles",
    "column_use",
    "date_parts",
    "ordered",
    "problems",
    "text_kind",
]
