"""A worker process: RQ's worker, made to notice a lost job in seconds and to hand back a running one when stopped."""

import ctypes
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import StopRequested
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer

from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAME, Store
from worker import jobs
from worker.process_limits import Watch

PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


class JobWorker(Worker):
    """Forks a process for each job. The numerics are imported before, so that a fork is all that a job waits for.

    While Redis is away, or full, a job goes on and its worker waits: no error of Redis ends either of them.
    """

    max_connection_wait_time = 2.0  # seconds between two tries to reach Redis

    def __init__(self, settings: Settings, told_to_stop: threading.Event) -> None:
        self._settings = settings
        self._told_to_stop = told_to_stop
        self._store = Store.open(settings)
        self._overdue = threading.Event()  # a job was not handed back in time when the worker was told to stop
        self._cancelled = False  # the job had been asked to stop at the last look
        super().__init__(
            [QUEUE_NAME],
            connection=self._store.redis,
            serializer=JSONSerializer,
            log_job_description=False,
            job_monitoring_interval=settings.heartbeat_interval,
            maintenance_interval=settings.heartbeat_interval,
            worker_ttl=15 + settings.heartbeat_interval,  # RQ waits 15 s less for a ticket, then runs its maintenance
        )

    def subscribe(self) -> None:
        """Not to commands: whoever may publish in Redis could stop jobs."""

    def run_maintenance_tasks(self) -> None:
        """Also look for jobs whose worker is gone, and whether a stop was asked for that the wait for a ticket has not
        heard: a signal between two workers goes to the one before, which may take itself to be busy."""
        if self._told_to_stop.is_set():
            raise StopRequested
        super().run_maintenance_tasks()  # type: ignore[no-untyped-call]
        self._store.jobs.sweep()

    def maintain_heartbeats(self, job: Ticket) -> None:
        """Also renew the lease on the job, see that a cancelled one ends, and look for jobs whose worker is gone."""
        if self._stop_requested:
            self.kill_horse(signal.SIGTERM)  # again: the first may have come before the process could hear it
        try:
            cancelled = self._store.jobs.renew_lease(job.args[0], self.name)
            if cancelled and self._cancelled:
                self.kill_horse()  # asked at the last look already, and the numerics have not heard it
            self._cancelled = cancelled
            super().maintain_heartbeats(job)
            self._store.jobs.sweep()
        except RedisError as error:
            log.warning("no sign of life could be given", reason=str(error))

    def set_current_job_working_time(self, current_job_working_time: float, pipeline: object = None) -> None:
        """Here only: nobody looks for it in Redis."""
        self.current_job_working_time = current_job_working_time

    def monitor_work_horse(self, job: Ticket, queue: Queue) -> None:
        """When the process has ended, and its job has not, it was over a limit, or lost, or late to be handed back."""
        self._cancelled = False
        with Watch(self.horse_pid, self._settings.job_time_limit, self._settings.memory_per_job) as watch:
            try:
                super().monitor_work_horse(job, queue)
            except RedisError as error:  # once the process has ended: only RQ's own account of it is missing
                log.warning("the end of a process was not noted", reason=str(error))
        while True:
            try:
                self._store.jobs.recover(
                    job.args[0], self.name, crashed=not self._overdue.is_set(), problem=watch.problem
                )
            except RedisError as error:
                log.warning("a job waits for Redis", job=job.args[0], reason=str(error))
                if self._told_to_stop.is_set():
                    return  # its lease ends, and another puts it back
                time.sleep(self.max_connection_wait_time)
            else:
                return

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Tell also that no other is to follow."""
        self._told_to_stop.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def set_shutdown_requested_date(self) -> None:
        """Not in Redis: it may be away."""

    def setup_work_horse_signals(self) -> None:
        """In the process of a job: being told to stop means to hand the job back at the next step."""
        end_with_parent()
        be_first_to_go()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: jobs.stopping.set())

    def handle_warm_shutdown_request(self) -> None:
        """Pass it on to the job, which has some time to hand itself back."""
        if self.horse_pid:
            self.kill_horse(signal.SIGTERM)
            deadline = threading.Timer(self._settings.shutdown_seconds, self._end_overdue)
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


def be_first_to_go() -> None:
    """When the machine's memory is at its end, let the kernel end this process and no other (Linux only)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def work(settings: Settings) -> None:
    """Run a worker until it is told to stop; one that Redis has failed is followed by another."""
    told_to_stop = threading.Event()
    pause = 0.0
    while not told_to_stop.is_set():
        try:
            time.sleep(pause)
            JobWorker(settings, told_to_stop).work(logging_level="WARNING")  # what happens to jobs is logged by us
        except RedisError as error:
            log.warning("a worker waits for Redis", reason=str(error))
        except StopRequested:  # by a signal that the last one has got
            return
        pause = JobWorker.max_connection_wait_time
