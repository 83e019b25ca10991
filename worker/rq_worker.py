"""The worker process: an RQ worker that detects lost jobs within seconds and requeues its own job at shutdown."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType

from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import StopRequested
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer
from rq.utils import utcformat
from rq.worker import WorkerStatus
from rq.worker_registration import register

from ism_core.objective import preload_compiled
from ism_jobs.errors import Problem
from ism_jobs.logs import log
from ism_jobs.processes import die_with_parent
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Record, Store, is_full, redis_time
from worker import jobs
from worker.horse import Horse
from worker.process_limits import ProcessWatchdog

RQ_WAIT_MARGIN = 15  # RQ waits for a ticket for worker_ttl minus this many seconds
LOOK_SECONDS = 0.4  # between two looks whether a running job is to be cancelled; it is killed at the second


class JobWorker(Worker):
    """Runs each job in its `Horse`. The numerics are imported before that is forked, so that a job starts at once.

    While Redis is unreachable or full, a running job continues and its worker waits.
    """

    max_connection_wait_time = 2.0  # seconds between two tries to connect to Redis

    def __init__(self, settings: Settings, stop_event: threading.Event) -> None:
        self._settings = settings
        self._stop_event = stop_event
        self._store = Store.open(settings)
        self._overdue = threading.Event()  # set if a job did not return in time at shutdown
        self._horse: Horse | None = None
        self._next_heartbeat = 0.0
        self._renew_at = 0.0  # when the lease of the running job is renewed next
        self._job: Record | None = None  # the running job, once it has been looked at
        self._cancelled = False  # whether the last look at the running job found that it is to be cancelled
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

        Between small jobs there is no heartbeat if the last one is recent.

        The heartbeat has the time of Redis, and registers the worker again: if the clock of Redis was set forward, the
        entry of the worker has expired.
        """
        if pipeline is None and time.monotonic() < self._next_heartbeat:
            return
        self._next_heartbeat = time.monotonic() + self._settings.heartbeat_interval / 2
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

    def execute_job(self, job: Ticket, queue: Queue) -> None:
        """Run a job in the process that waits for one, or in a new one, and delete its ticket."""
        self.set_state(WorkerStatus.BUSY)
        try:
            self._run_ticket(job)
        finally:
            self._horse_pid = 0
            self.set_state(WorkerStatus.IDLE)

    def _run_ticket(self, ticket: Ticket) -> None:
        self._job, self._cancelled = None, False
        self._renew_at = time.monotonic() + self._settings.heartbeat_interval
        if self._horse is None or not self._horse.is_ready():
            self._horse = Horse(partial(self._set_up_horse, os.getpid()), self._job_runner())
        self._horse_pid = self._horse.pid
        settings = self._settings
        limits = (settings.job_time_limit, settings.memory_per_job, settings.stall_seconds)
        with ProcessWatchdog(self.horse_pid, *limits) as watchdog:
            self._horse.start(ticket.args[0])
            while (ended_well := self._horse.wait(LOOK_SECONDS)) is None:
                self._look_after()
        self._horse_pid = 0
        if watchdog.problem is not None:
            self.dismiss_horse()  # it was killed, perhaps just after the job had ended
        if not ended_well:
            self._recover(watchdog.problem)
        try:
            self.connection.delete(ticket.key)
        except RedisError as error:
            log.warning("ticket not deleted", reason=str(error))

    def _job_runner(self) -> Callable[[str], bool]:
        """Return the function that runs jobs in a horse, which keeps its connection to Redis."""
        store: Store | None = None

        def run(id: str) -> bool:
            nonlocal store
            store = store or Store.open_patiently(self._settings)
            return jobs.run_in(store, self._settings, id, self.name)

        return run

    def _look_after(self) -> None:
        """Kill the job process if it does not react to a cancellation; keep its lease, and this worker, alive."""
        if self._stop_requested:
            self.kill_horse(signal.SIGTERM)  # again, because the first signal may have come before the handler was set
        try:
            self._job = self._job or self._store.jobs.held_by(self.name)
            cancelled = self._job is not None and self._store.jobs.is_cancel_requested(self._job.id)
            if cancelled and self._cancelled:
                self.kill_horse()
            self._cancelled = cancelled
            if time.monotonic() >= self._renew_at:
                self._renew_at = time.monotonic() + self._settings.heartbeat_interval
                self._store.jobs.renew_lease(self.name)
                self.heartbeat()
                self._store.jobs.sweep_if_due()
        except RedisError as error:
            log.warning("heartbeat failed", reason=str(error))
            _note_waiting(self._store, error)

    def _recover(self, problem: Problem | None) -> None:
        """Requeue the job whose process has ended, or record it as failed."""
        while True:
            try:
                self._store.jobs.recover(self.name, crashed=not self._overdue.is_set(), problem=problem)
            except RedisError as error:
                log.warning("waiting for Redis to record the end of a job", reason=str(error))
                if self._stop_event.is_set():
                    return  # its lease expires, and another worker requeues the job
                time.sleep(self.max_connection_wait_time)
            else:
                return

    def dismiss_horse(self) -> None:
        """End the process that waits for jobs."""
        if self._horse is not None:
            self._horse.dismiss()

    def set_state(self, state: str, pipeline: object = None) -> None:
        """Keep the state in this process only: nothing reads it from Redis, and each write may wait for its disk."""
        self._state = state

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Also record that no further worker should start in this process."""
        self._stop_event.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def set_shutdown_requested_date(self) -> None:
        """Do not write the date to Redis, which may be unreachable."""

    def _set_up_horse(self, parent: int) -> None:
        """In the job process: SIGTERM returns the job to the queue at its next step."""
        die_with_parent(parent)
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


def _note_waiting(store: Store, error: RedisError) -> None:
    """Let this process count as a worker if it waits because Redis is full."""
    if is_full(error):
        with suppress(RedisError):
            store.jobs.note_waiting_worker(socket.gethostname(), os.getpid())


def prefer_for_oom_kill() -> None:
    """Let the OOM killer choose this process first (Linux only)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def work(settings: Settings) -> None:
    """Run workers until a signal stops them. A worker that fails because of Redis is replaced by another."""
    preload_compiled()  # or compile it in the background
    stop_event, store = threading.Event(), Store.open(settings)
    pause = 0.0
    while not stop_event.is_set():
        try:
            time.sleep(pause)
            worker = JobWorker(settings, stop_event)
            try:
                worker.work(logging_level="WARNING")  # worker.jobs logs what happens to jobs
            finally:
                worker.dismiss_horse()
        except RedisError as error:
            log.warning("worker is waiting for Redis", reason=str(error))
            _note_waiting(store, error)
        except StopRequested:  # the previous worker has received the signal
            return
        pause = JobWorker.max_connection_wait_time
