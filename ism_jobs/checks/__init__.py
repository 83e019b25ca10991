"""Checks of a job against the description of its data set, made before the job is queued."""

from ism_jobs.checks.columns import ColumnRoles, TargetKind, column_roles
from ism_jobs.checks.job import check, check_all, problems

__all__ = ["ColumnRoles", "TargetKind", "check", "check_all", "column_roles", "problems"]
