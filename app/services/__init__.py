"""The work behind the larger routes: submitting and planning jobs, comparing a batch, comparing groups of rows."""

from app.services.compare import batch_page, batch_table, read_batch
from app.services.group_differences import compare_groups, selected_rows
from app.services.plan import plan_jobs
from app.services.submit import submit_batch, submit_job

__all__ = [
    "batch_page",
    "batch_table",
    "compare_groups",
    "plan_jobs",
    "read_batch",
    "selected_rows",
    "submit_batch",
    "submit_job",
]
