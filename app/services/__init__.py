"""The work behind the larger routes: submitting jobs, comparing a batch, comparing groups of rows."""

from app.services.compare import batch_table, batch_view
from app.services.group_differences import compare_groups
from app.services.submit import submit_jobs

__all__ = ["batch_table", "batch_view", "compare_groups", "submit_jobs"]
