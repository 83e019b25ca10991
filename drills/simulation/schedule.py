"""Runs actors one at a time, in an order that follows from a seed, on a clock that is not real.

Each actor is a thread that runs only while the scheduler waits for it. It gives up control before each call to the
store and while it sleeps.
"""

import threading
from collections.abc import Callable
from random import Random

START_TIME = 1_700_000_000.0  # seconds since 1970 by the clock of every history


class Crash(BaseException):
    """The process of the actor was killed. No code of ours may catch it."""


class Actor:
    """A process of the simulated service."""

    def __init__(self, name: str, scheduler: "Scheduler", work: Callable[["Actor"], None]) -> None:
        self.name = name
        self.wakes = scheduler.elapsed  # when it goes on, by `Scheduler.elapsed`
        self.is_killed = False
        self.is_done = False
        self.error: BaseException | None = None
        self._scheduler = scheduler
        self._work = work
        self._turn = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._turn.acquire()
        try:
            if not self.is_killed:
                self._work(self)
        except Crash:
            pass
        except BaseException as error:  # raised again by the scheduler
            self.error = error
        self.is_done = True
        self._scheduler.turn.release()

    def step(self) -> None:
        """Let the actor run until it gives up control."""
        self._turn.release()
        self._scheduler.turn.acquire()
        if self.is_done:
            self._thread.join()
        if self.error is not None:
            raise self.error

    def give_up_control(self) -> None:
        """Let others run. Raises Crash if the actor was killed meanwhile."""
        self._scheduler.turn.release()
        self._turn.acquire()
        if self.is_killed:
            raise Crash

    def sleep(self, seconds: float) -> None:
        """Let others run until the time is over."""
        self.wakes = self._scheduler.elapsed + seconds
        self.give_up_control()

    def kill(self) -> None:
        """End the actor at its next step."""
        self.is_killed = True
        self.wakes = self._scheduler.elapsed


class Scheduler:
    """Decides which actor runs next, and what time it is."""

    def __init__(self, random: Random) -> None:
        self.turn = threading.Semaphore(0)
        self.elapsed = 0.0  # seconds that have really passed in the history
        self.jump = 0.0  # seconds by which the clock is wrong
        self.actors: list[Actor] = []
        self._random = random

    @property
    def time(self) -> float:
        """The time by the clock, which may jump."""
        return START_TIME + self.elapsed + self.jump

    def add(self, name: str, work: Callable[[Actor], None]) -> Actor:
        """Add an actor, which begins when it is chosen."""
        actor = Actor(name, self, work)
        self.actors.append(actor)
        return actor

    def step(self) -> bool:
        """Run one actor for one step; return False if there is none left."""
        self.actors = [actor for actor in self.actors if not actor.is_done]
        if not self.actors:
            return False
        awake = [actor for actor in self.actors if actor.wakes <= self.elapsed]
        if not awake:
            self.elapsed = min(actor.wakes for actor in self.actors)
            return True
        self._random.choice(awake).step()
        self.elapsed += 0.001 * self._random.random()
        return True

    def end(self) -> None:
        """Kill all actors that are left."""
        while self.actors:
            for actor in self.actors:
                actor.kill()
            self.step()
