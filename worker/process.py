"""A worker process: RQ's worker, made to notice a lost job in seconds and to hand back a running one when stopped."""

import signal

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer

from ism_jobs import queue
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from worker import jobs


class JobWorker(Worker):
    """Forks a process for each job. The numerics are imported before, so that a fork is all that a job waits for."""

    def __init__(self, settings: Settings) -> None:
        self._store = Store.open(settings)
        sign_of_life = max(1, settings.lease_seconds // 3)
        super().__init__(
            [queue.NAME],
            connection=self._store.redis,
            serializer=JSONSerializer,
            log_job_description=False,
            job_monitoring_interval=sign_of_life,
            maintenance_interval=sign_of_life,
            worker_ttl=15 + sign_of_life,  # RQ waits 15 seconds less than this for a ticket, then does its maintenance
        )

    def run_maintenance_tasks(self) -> None:
        """Also look for jobs whose worker is gone."""
        super().run_maintenance_tasks()  # type: ignore[no-untyped-call]
        self._store.jobs.sweep()

    def maintain_heartbeats(self, job: Ticket) -> None:
        """Also renew the lease on the job, which the numerics may not do for a long while."""
        super().maintain_heartbeats(job)
        self._store.jobs.renew(job.args[0], self.name)
        if self._stop_requested:
            self.kill_horse(signal.SIGTERM)  # again: the first may have come before the process could hear it

    def monitor_work_horse(self, job: Ticket, queue: Queue) -> None:
        """When the process has ended, and its job has not, the job was lost."""
        super().monitor_work_horse(job, queue)
        self._store.jobs.abandoned(job.args[0], self.name)

    def setup_work_horse_signals(self) -> None:
        """In the process of a job: being told to stop means to hand the job back at the next step."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: jobs.stopping.set())

    def handle_warm_shutdown_request(self) -> None:
        """Pass it on to the job."""
        if self.horse_pid:
            self.kill_horse(signal.SIGTERM)


def work(settings: Settings) -> None:
    """Run one worker until it is told to stop."""
    JobWorker(settings).work(logging_level="WARNING")  # what happens to jobs is logged by us
