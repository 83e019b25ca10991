"""One history: clients, workers and faults, all of which follow from a seed."""

from contextlib import suppress
from random import Random
from typing import Any

from redis.exceptions import ConnectionError as NotReachable

from drills.simulation.faulty_store import NONE, FaultyRedis, Wire
from drills.simulation.invariants import ENDS, Invariants, Violation
from drills.simulation.schedule import Actor, Crash, Scheduler
from ism_jobs.errors import Problem
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, CancelRequested, LostAttempt, Store, keys

QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"
SPEC = {"dataset": "table", "paradigm": "unsupervised", "clusters": 2}
OWNERS = ("alice", "bob", "carol")
WORKERS = 3
FAULTY_SECONDS = 20.0  # how long there are faults
LONGEST_RECOVERY = 600.0  # seconds in which all jobs end when the faults are over
LONGEST_JUMP = 3_600.0  # of the clock, in seconds


class HorseDied(BaseException):
    """The process of a job was killed, and its worker lives."""


class History:
    """A service that lives for a minute."""

    def __init__(self, seed: int, url: str) -> None:
        self.random = Random(seed)
        self.scheduler = Scheduler(self.random)
        self.wire = Wire(url, self.scheduler, self.random)
        limit = self.random.choice([None, None, 1, 2])
        self.settings = Settings(redis_url=url, max_running_jobs=limit)
        self.invariants = Invariants(self.wire.server, self.settings.most_running_jobs)
        self.wire.watch = self.invariants.check
        self.wire.stall = self._stall
        self.acknowledged: list[str] = []
        self.workers: dict[str, list[Actor]] = {}
        self.faults_are_over = False
        self._started = 0

    def run(self) -> None:
        """Run to the end; raise Violation if a promise was broken."""
        self.wire.server.flushall()
        self.wire.server.hset(keys.dataset("table"), "name", "what the jobs name")
        for owner in OWNERS:
            self.scheduler.add(owner, self._client)
        self.scheduler.add("nemesis", self._nemesis)
        try:
            while not self._is_over():
                if not self.scheduler.step() or self.scheduler.elapsed > FAULTY_SECONDS + LONGEST_RECOVERY:
                    stuck = [id for id, seen in self.invariants.seen.items() if seen.state not in ENDS]
                    raise Violation(f"{stuck} do not end")
        finally:
            self.scheduler.end()
        self._check_end()

    def _is_over(self) -> bool:
        seen = self.invariants.seen
        return self.faults_are_over and all(job.state in ENDS for job in seen.values())

    def _check_end(self) -> None:
        missing = [id for id in self.acknowledged if id not in self.invariants.seen | dict.fromkeys(self._deleted)]
        if missing:
            raise Violation(f"{missing} were acknowledged and are lost")
        totals = self.wire.server.hmget(keys.TOTALS, *ENDS)
        if (counted := sum(int(each or 0) for each in totals)) != self.invariants.ends:
            raise Violation(f"{counted} ends were counted, and there were {self.invariants.ends}")

    @property
    def _deleted(self) -> set[str]:
        return self.invariants.deleted

    def _store(self, actor: Actor, kills: Any, *, is_patient: bool = False) -> Store:
        redis = FaultyRedis(self.wire, actor, kills, is_patient=is_patient)
        return Store(redis, self.settings, clock=lambda: self.scheduler.time)

    def _stall(self, actor: Actor, seconds: float) -> None:
        """Let a call take long; in half of the cases the whole worker stands still."""
        if self.random.random() < 0.5:
            self._pause(actor.name, seconds)
        actor.sleep(seconds)

    def _pause(self, worker: str, seconds: float) -> None:
        for each in self.workers.get(worker, []):
            each.wakes = max(each.wakes, self.scheduler.elapsed + seconds)

    def _client(self, actor: Actor) -> None:
        """Post, cancel, finish, retry and delete jobs."""
        random, jobs = self.random, self._store(actor, lambda _: None).of(actor.name).jobs
        own: list[str] = []
        for _ in range(random.randint(2, 5)):
            actor.sleep(random.random() * 5)
            deed = random.choice(["post", "post", "cancel", "request_finish", "retry", "delete"])
            if deed == "post" or not own:
                self._post(actor, jobs, own)
                continue
            id = random.choice(own)
            if deed == "retry":
                self.invariants.retried.add(id)
            elif deed == "delete":
                self.invariants.deleted.add(id)
            with suppress(NotReachable, Problem):
                getattr(jobs, deed)(id)

    def _post(self, actor: Actor, jobs: Any, own: list[str]) -> None:
        ids = [f"{actor.name}{len(own) + number}" for number in range(self.random.randint(1, 4))]
        own += ids
        self.invariants.ids += ids
        specs = [(id, SPEC | {"priority": self.random.choice([0, 0, 5])}) for id in ids]
        for _ in range(self.random.randint(1, 5)):
            with suppress(NotReachable, Problem):
                jobs.create(specs)
                self.acknowledged += ids
                return
            actor.sleep(1)

    def _nemesis(self, actor: Actor) -> None:
        """Start workers in place of dead ones, pause them, lose tickets, and set the clock."""
        while True:
            for name, actors in list(self.workers.items()):
                if any(each.is_done or each.is_killed for each in actors):
                    self._kill(name)
            while len(self.workers) < WORKERS:
                self._start_worker()
            actor.sleep(self.random.random() * 5)
            if self.scheduler.elapsed > FAULTY_SECONDS:
                self.wire.faults, self.faults_are_over = NONE, True
                continue
            fault = self.random.choice(["none", "pause", "lose tickets", "set the clock"])
            self.wire.log.append(f"{self.scheduler.elapsed:9.3f} {actor.name:12} {fault}")
            if fault == "pause" and self.workers:
                self._pause(self.random.choice(sorted(self.workers)), self.random.random() * 30)
            elif fault == "lose tickets":
                self.wire.server.ltrim(QUEUE, self.random.randint(1, 3), -1)
            elif fault == "set the clock":
                self.scheduler.jump = self.random.uniform(-LONGEST_JUMP, LONGEST_JUMP)

    def _start_worker(self) -> None:
        self._started += 1
        name = f"worker{self._started}"
        self.workers[name] = [
            self.scheduler.add(name, self._worker),
            self.scheduler.add(name, self._heartbeat),
        ]

    def _kill(self, name: str) -> None:
        for actor in self.workers.pop(name, []):
            actor.kill()

    def _die(self, actor: Actor) -> None:
        self._kill(actor.name)
        raise Crash

    def _lose_horse(self, actor: Actor) -> None:
        if self.random.random() < 0.3:
            self._die(actor)
        raise HorseDied

    def _heartbeat(self, actor: Actor) -> None:
        """What a worker does beside its job: renew the lease, and sweep."""
        jobs = self._store(actor, self._die).jobs
        while True:
            actor.sleep(self.settings.heartbeat_interval)
            with suppress(NotReachable):
                jobs.renew_lease(actor.name)
                jobs.sweep_if_due()

    def _worker(self, actor: Actor) -> None:
        """Take tickets, and run jobs in a process of their own."""
        store = self._store(actor, self._die)
        own = self._store(actor, self._lose_horse, is_patient=True)
        while True:
            try:
                ticket = store.redis.lpop(QUEUE)
                if ticket is None:
                    actor.sleep(1.5)
                    continue
                store.redis.delete(f"rq:job:{ticket.decode()}")
            except NotReachable:
                actor.sleep(0.5)
                continue
            with suppress(HorseDied):
                self._run_job(actor, own)
            while True:
                with suppress(NotReachable):
                    store.jobs.recover(actor.name)
                    break
                actor.sleep(0.5)

    def _run_job(self, actor: Actor, store: Store) -> None:
        attempt = store.jobs.claim_next("unknown", actor.name)
        if attempt is None:
            return
        with suppress(LostAttempt):
            try:
                self._compute(actor, store, attempt)
            except CancelRequested:
                attempt.cancel()
        store.jobs.let_next_start()

    def _compute(self, actor: Actor, store: Store, attempt: Attempt) -> None:
        for step in range(self.random.randint(0, 3)):
            attempt.report({"attempt": attempt.number}, "step", {"number": step})
            actor.sleep(self.random.random() * 3)
            attempt.save_checkpoint(b"%d" % attempt.number, attempt.number)
            if attempt.checkpoint() != b"%d" % attempt.number:
                raise LostAttempt
        end = self.random.choice(["succeed", "succeed", "fail", "stop"])
        if end == "stop":
            store.jobs.requeue(attempt.record, crashed=False)
        elif end == "fail":
            attempt.fail({"attempt": attempt.number})
        else:
            attempt.save_artifacts({"W": b"%d" % attempt.number})
            attempt.succeed({"attempt": attempt.number}, ["W"])
