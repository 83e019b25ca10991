"""The worker process: an RQ worker that detects lost jobs within seconds and requeues its own job at shutdown."""

import ctypes
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import StopRequested
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer
from rq.utils import utcformat
from rq.worker_registration import register

from ism_core.objective import preload_compiled
from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Store, redis_time
from worker import jobs
from worker.process_limits import ProcessWatchdog

PR_SET_PDEATHSIG = 1  # from <sys/prctl.h>
RQ_WAIT_MARGIN = 15  # RQ waits for a ticket for worker_ttl minus this many seconds


class JobWorker(Worker):
    """Forks a process for each job. The numerics are imported before, so that a job starts as soon as it is forked.

    While Redis is unreachable or full, a running job continues and its worker waits.
    """

    max_connection_wait_time = 2.0  # seconds between two tries to connect to Redis

    def __init__(self, settings: Settings, stop_event: threading.Event) -> None:
        self._settings = settings
        self._stop_event = stop_event
        self._store = Store.open(settings)
        self._overdue = threading.Event()  # set if a job did not return in time at shutdown
        self._cancelled = False  # whether the job was already cancelled at the last heartbeat
        super().__init__(
            QUEUE_NAMES,
            connection=self._store.redis,
            serializer=JSONSerializer,
            log_job_description=False,
            job_monitoring_interval=settings.heartbeat_interval,
            maintenance_interval=settings.heartbeat_interval,
            worker_ttl=RQ_WAIT_MARGIN + settings.heartbeat_interval,  # RQ does its maintenance between two waits
        )

    def subscribe(self) -> None:
        """Do not subscribe to RQ commands, because anyone who can publish in Redis could stop jobs."""

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Send the commands of a heartbeat together, because each write may wait for Redis's disk.

        The heartbeat has the time of Redis, and registers the worker again: if the clock of Redis was set forward, the
        entry of the worker has expired.
        """
        seen = utcformat(redis_time(self.connection))
        with self.connection.pipeline(transaction=False) as own:
            pipe = own if pipeline is None else pipeline
            super().heartbeat(timeout, pipe)
            pipe.hset(self.key, "last_heartbeat", seen)
            register(self, pipe)
            if pipeline is None:
                pipe.execute()

    def run_maintenance_tasks(self) -> None:
        """Also requeue jobs whose worker has died, and stop if a signal was missed.

        After a Redis error a new JobWorker replaces the old one. A signal in between reaches only the old one.
        """
        if self._stop_event.is_set():
            raise StopRequested
        super().run_maintenance_tasks()  # type: ignore[no-untyped-call]
        self._store.jobs.sweep_if_due()

    def maintain_heartbeats(self, job: Ticket) -> None:
        """Also renew the lease of the job, and requeue jobs of dead workers.

        The job process is killed if it has not reacted to a cancellation.
        """
        if self._stop_requested:
            self.kill_horse(signal.SIGTERM)  # again, because the first signal may have come before the handler was set
        try:
            cancelled = self._store.jobs.renew_lease(self.name)
            if cancelled and self._cancelled:
                self.kill_horse()  # it was cancelled before the last heartbeat and has not reacted
            self._cancelled = cancelled
            super().maintain_heartbeats(job)
            self._store.jobs.sweep_if_due()
        except RedisError as error:
            log.warning("heartbeat failed", reason=str(error))

    def set_current_job_working_time(self, current_job_working_time: float, pipeline: object = None) -> None:
        """Keep the time in this process only, because nothing reads it from Redis."""
        self.current_job_working_time = current_job_working_time

    def monitor_work_horse(self, job: Ticket, queue: Queue) -> None:
        """When the process has ended but its job has not, requeue the job or record it as failed."""
        self._cancelled = False
        settings = self._settings
        limits = (settings.job_time_limit, settings.memory_per_job, settings.stall_seconds)
        with ProcessWatchdog(self.horse_pid, *limits) as watchdog:
            try:
                super().monitor_work_horse(job, queue)
            except RedisError as error:  # the process has ended, so only the bookkeeping of RQ is incomplete
                log.warning("end of job process not recorded", reason=str(error))
        while True:
            try:
                self._store.jobs.recover(self.name, crashed=not self._overdue.is_set(), problem=watchdog.problem)
            except RedisError as error:
                log.warning("waiting for Redis to record the end of a job", reason=str(error))
                if self._stop_event.is_set():
                    return  # its lease expires, and another worker requeues the job
                time.sleep(self.max_connection_wait_time)
            else:
                return

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Also record that no further worker should start in this process."""
        self._stop_event.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def set_shutdown_requested_date(self) -> None:
        """Do not write the date to Redis, which may be unreachable."""

    def setup_work_horse_signals(self) -> None:
        """In the job process: SIGTERM returns the job to the queue at its next step."""
        die_with_parent()
        prefer_for_oom_kill()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: jobs.stop_requested.set())

    def handle_warm_shutdown_request(self) -> None:
        """Forward the signal to the job process, and kill the process if it does not end in time."""
        if self.horse_pid:
            self.kill_horse(signal.SIGTERM)
            deadline = threading.Timer(self._settings.shutdown_seconds, self._kill_overdue)
            deadline.daemon = True
            deadline.start()

    def _kill_overdue(self) -> None:
        self._overdue.set()
        if self.horse_pid:
            self.kill_horse()


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent dies (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def prefer_for_oom_kill() -> None:
    """Let the OOM killer choose this process first (Linux only)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def work(settings: Settings) -> None:
    """Run workers until a signal stops them. A worker that fails because of Redis is replaced by another."""
    preload_compiled()  # or compile it in the background
    stop_event = threading.Event()
    pause = 0.0
    while not stop_event.is_set():
        try:
            time.sleep(pause)
            JobWorker(settings, stop_event).work(logging_level="WARNING")  # worker.jobs logs what happens to jobs
        except RedisError as error:
            log.warning("worker is waiting for Redis", reason=str(error))
        except StopRequested:  # the previous worker has received the signal
            return
        pause = JobWorker.max_connection_wait_time
