"""A connection to a real Redis whose every call may fail before or after it takes effect, stall, or kill the caller.

Lua scripts run in the server; only their clock is that of the simulation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import WatchError

from drills.simulation.schedule import Actor, Scheduler

CLOCK = "simulation:clock"  # hash: seconds and microseconds
WRITES = frozenset({"EVALSHA", "EXEC"})  # what changes jobs
LONGEST_STALL = 25.0  # seconds; longer than a lease


@dataclass
class Faults:
    """How likely each fault is at each call to the store."""

    unreachable: float = 0.03  # the call does not reach the server
    answer_lost: float = 0.03  # it takes effect, and the caller does not learn so
    stall: float = 0.03
    crash: float = 0.015


NONE = Faults(0, 0, 0, 0)


class Wire:
    """What all connections of one history share: the server, the clock, the faults, and who watches the calls."""

    def __init__(self, url: str, scheduler: Scheduler, random: Random) -> None:
        self.server: Any = Redis.from_url(url)
        self.url = url
        self.faults = Faults()
        self.log: list[str] = []
        self.watch: Callable[[], None] = lambda: None  # called after each call that may change jobs
        self.stall: Callable[[Actor, float], None] = lambda actor, seconds: actor.sleep(seconds)
        self._scheduler = scheduler
        self._random = random
        self._scripts: dict[str, Any] = {}
        self._set_clock: float | None = None

    def script(self, connection: Any, text: str) -> Any:
        """Register a script that reads the clock of the simulation."""
        text = text.replace("redis.call('TIME')", f"redis.call('HMGET', '{CLOCK}', 'seconds', 'microseconds')")
        if text not in self._scripts:
            self._scripts[text] = self.server.script_load(text)  # so that no history loads it, and another does not
        return Redis.register_script(connection, text)

    def call(self, actor: Actor, name: str, act: Callable[[], Any], kills: Callable[[Actor], None]) -> Any:
        """Make a call to the store, or fail."""
        faults, dice = self.faults, self._random.random()
        actor.give_up_control()
        if dice < faults.stall:
            self._note(actor, name, "stalls")
            self.stall(actor, self._random.random() * LONGEST_STALL)
        dice = self._random.random()
        if dice < faults.unreachable:
            self._note(actor, name, "fails")
            raise NotReachable("simulated")
        if self._scheduler.time != self._set_clock:
            seconds, part = divmod(self._scheduler.time, 1)
            self.server.hset(CLOCK, mapping={"seconds": int(seconds), "microseconds": int(part * 1e6)})
            self._set_clock = self._scheduler.time
        try:
            answer = act()
        except WatchError:
            self._note(actor, name, "meets another change")
            raise
        self._note(actor, name, "")
        if name in WRITES:
            self.watch()
        if dice < faults.unreachable + faults.answer_lost:
            self._note(actor, name, "loses its answer")
            raise NotReachable("simulated")
        if dice > 1 - faults.crash:
            self._note(actor, name, "is killed")
            kills(actor)
        return answer

    def _note(self, actor: Actor, name: str, what: str) -> None:
        self.log.append(f"{self._scheduler.elapsed:9.3f} {actor.name:12} {name} {what}".rstrip())


class FaultyRedis(Redis):
    """A connection of one actor. A patient one tries again until there is an answer."""

    def __init__(self, wire: Wire, actor: Actor, kills: Callable[[Actor], None], *, is_patient: bool = False) -> None:
        super().__init__(connection_pool=wire.server.connection_pool)
        self.wire, self.actor, self.kills, self.is_patient = wire, actor, kills, is_patient

    def send(self, name: str, act: Callable[[], Any]) -> Any:
        """Make a call."""
        while True:
            try:
                return self.wire.call(self.actor, name, act, self.kills)
            except NotReachable:
                if not self.is_patient:
                    raise
                self.actor.sleep(0.5)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Execute a command, or fail."""
        return self.send(str(args[0]), lambda: Redis.execute_command(self, *args, **options))  # type: ignore[no-untyped-call]

    def register_script(self, script: Any) -> Any:
        """Register a Lua script."""
        return self.wire.script(self, script)

    def time(self, **options: Any) -> Any:
        """Return the time of the simulation."""
        seconds, part = divmod(self.wire._scheduler.time, 1)
        return self.send("TIME", lambda: (int(seconds), int(part * 1e6)))

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Any:
        """Return a pipeline."""
        return FaultyPipeline(self, transaction, shard_hint)


class FaultyPipeline(Pipeline):
    """A pipeline. Like that of redis-py, it raises WatchError if the connection fails while it watches keys."""

    def __init__(self, redis: FaultyRedis, transaction: bool, shard_hint: Any) -> None:
        super().__init__(redis.connection_pool, redis.response_callbacks, transaction, shard_hint)
        self.redis = redis

    def immediate_execute_command(self, *args: Any, **options: Any) -> Any:
        """Execute a command before MULTI, or fail."""
        immediate: Any = Pipeline.immediate_execute_command
        return self._send(str(args[0]), lambda: immediate(self, *args, **options))

    def execute(self, raise_on_error: bool = True) -> Any:
        """Execute the queued commands, or fail."""
        if not self.command_stack:
            return super().execute(raise_on_error)
        commands = list(self.command_stack)

        def act() -> Any:
            self.command_stack = list(commands)
            return Pipeline.execute(self, raise_on_error)

        return self._send("EXEC", act)

    def _send(self, name: str, act: Callable[[], Any]) -> Any:
        if not self.watching:
            return self.redis.send(name, act)
        try:
            return self.redis.wire.call(self.redis.actor, name, act, self.redis.kills)
        except NotReachable as error:
            self.reset()
            raise WatchError("simulated") from error
