"""A worker process: RQ's worker, made to notice a lost job in seconds and to hand back a running one when stopped."""

import ctypes
import signal
import sys
import threading

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer

from ism_jobs import queue
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from worker import jobs

PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


class JobWorker(Worker):
    """Forks a process for each job. The numerics are imported before, so that a fork is all that a job waits for."""

    def __init__(self, settings: Settings) -> None:
        self._store = Store.open(settings)
        self._shutdown_seconds = settings.shutdown_seconds
        self._overdue = threading.Event()  # a job was not handed back in time when the worker was told to stop
        self._cancelled = False  # the job had been asked to stop at the last look
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
        """Also renew the lease on the job, see that a cancelled one ends, and look for jobs whose worker is gone."""
        super().maintain_heartbeats(job)
        cancelled = self._store.jobs.renew(job.args[0], self.name)
        if cancelled and self._cancelled:
            self.kill_horse()  # asked at the last look already, and the numerics have not heard it
        self._cancelled = cancelled
        if self._stop_requested:
            self.kill_horse(signal.SIGTERM)  # again: the first may have come before the process could hear it
        self._store.jobs.sweep()

    def monitor_work_horse(self, job: Ticket, queue: Queue) -> None:
        """When the process has ended, and its job has not, the job was lost, or took too long to be handed back."""
        self._cancelled = False
        super().monitor_work_horse(job, queue)
        self._store.jobs.abandoned(job.args[0], self.name, crashed=not self._overdue.is_set())

    def setup_work_horse_signals(self) -> None:
        """In the process of a job: being told to stop means to hand the job back at the next step."""
        end_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: jobs.stopping.set())

    def handle_warm_shutdown_request(self) -> None:
        """Pass it on to the job, which has some time to hand itself back."""
        if self.horse_pid:
            self.kill_horse(signal.SIGTERM)
            deadline = threading.Timer(self._shutdown_seconds, self._end_overdue)
            deadline.daemon = True
            deadline.start()

    def _end_overdue(self) -> None:
        self._overdue.set()
        if self.horse_pid:
            self.kill_horse()


def end_with_parent() -> None:
    """Let the kernel end this process when its parent is gone, killed perhaps (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def work(settings: Settings) -> None:
    """Run one worker until it is told to stop."""
    JobWorker(settings).work(logging_level="WARNING")  # what happens to jobs is logged by us
