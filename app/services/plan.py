"""Planning jobs: what a request would do, without storing anything."""

from typing import Any

from anyio.to_thread import run_sync

from app.sandbox import SandboxPool
from app.schemas import JobPlan, PlanView
from app.services.estimate import Estimator
from app.services.submit import Submission, check_remaining_rows, check_submission, training_key
from ism_jobs.checks import column_roles
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec
from ism_jobs.store import Store
from ism_jobs.tables import Description

NUMBER_BYTES = 8  # of a double
UNCOUNTED = "Only a sample of this table was read, so rows without a target, and levels of text, are not counted."


async def plan_jobs(store: Store, sandbox: SandboxPool, settings: Settings, body: Any, *, is_batch: bool) -> PlanView:
    """Check a request like `submit_job` and `submit_batch`, and return what its jobs would do."""

    def check() -> tuple[Submission, dict[str, Description], Estimator]:
        submission = Submission.parse(body, None, store.owner, is_batch=is_batch)
        descriptions = check_submission(store, settings, submission)
        return submission, descriptions, Estimator(store)

    submission, descriptions, estimator = await run_sync(check)
    counts = await check_remaining_rows(store, sandbox, submission, every_job=True)

    def plan(spec: JobSpec, document: dict[str, Any]) -> JobPlan:
        table = descriptions[spec.dataset]
        rows, _, features, warnings = counts.get(training_key(spec)) or _uncounted(spec, table)
        return JobPlan(
            spec=document,
            rows=rows,
            rows_dropped=table.rows - rows,
            features=features,
            table_bytes=NUMBER_BYTES * rows * features,
            estimate=estimator.of(document, table.rows * len(table.columns)),
            warnings=list(warnings),
        )

    plans = [plan(*job) for job in zip(submission.specs, submission.documents, strict=True)]
    return PlanView(count=len(plans), memory_per_job=settings.memory_per_job, jobs=plans)


def _uncounted(spec: JobSpec, table: Description) -> tuple[int, int, int, list[str]]:
    """Return what is known of a job on a table by reference: its rows, columns that are features, and a note."""
    return table.rows, 0, len(column_roles(spec, table).features), [UNCOUNTED]
