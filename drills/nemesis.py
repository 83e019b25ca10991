"""The one that kills, pauses, slows and cuts, as its seed tells it."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from drills.processes import Kept
from drills.recovery import Recoveries
from drills.stack import Stack
from ism_jobs.settings import Settings

PAUSE_SECONDS = (1.0, 6.0)
LEASE_SECONDS = Settings().lease_seconds
ZOMBIE_SECONDS = (LEASE_SECONDS + 4.0, LEASE_SECONDS + 8.0)  # the job is another's when this worker wakes up
REDIS_PAUSE_SECONDS = (0.5, 4.0)
NETWORK_SECONDS = (1.0, 6.0)
DELAY_SECONDS = (0.02, 0.3)  # each way
BETWEEN_SECONDS = (1.0, 3.0)


class Nemesis:
    """Acts until told to stop; `heal` undoes all that can be undone."""

    def __init__(self, stack: Stack, recoveries: Recoveries, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.log: list[tuple[float, str]] = []
        self._stack = stack
        self._recoveries = recoveries
        self._rng = random.Random(seed)
        self._lasting: set[asyncio.Task[None]] = set()
        self._began = time.monotonic()
        self._deeds: dict[str, tuple[float, Callable[[], Awaitable[None]]]] = {
            "kill worker": (22, self._kill_worker),
            "kill work-horse": (30, self._kill_horse),
            "kill api": (10, lambda: self._kill("kill api", self._one_of(stack.apis))),
            "kill redis": (7, lambda: self._kill("kill redis", stack.redis)),
            "kill everything": (2, self._kill_everything),
            "pause worker": (6, self._pause_worker),
            "pause worker past its lease": (3, self._make_zombie),
            "pause api": (3, lambda: self._pause("pause api", self._one_of(stack.apis), PAUSE_SECONDS)),
            "pause redis": (3, lambda: self._pause("pause redis", stack.redis, REDIS_PAUSE_SECONDS)),
            "cut connections": (6, self._cut),
            "refuse connections": (3, self._shut),
            "hold traffic": (3, self._hold),
            "slow network": (4, self._slow),
        }

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(count for name, count in self.done.items() if name.startswith("kill"))

    async def rage(self, seconds: float) -> None:
        """One deed after the other."""
        deadline = time.monotonic() + seconds
        names = list(self._deeds)
        weights = [weight for weight, _ in self._deeds.values()]
        while (left := deadline - time.monotonic()) > 0:
            (name,) = self._rng.choices(names, weights)
            await self._deeds[name][1]()
            await asyncio.sleep(min(left, self._rng.uniform(*BETWEEN_SECONDS)))

    async def heal(self) -> None:
        """End all pauses and troubles of the network."""
        for task in self._lasting:
            task.cancel()
        await asyncio.gather(*self._lasting, return_exceptions=True)
        for link in self._stack.links.values():
            link.heal()

    def _did(self, name: str, target: str, count: int = 1) -> None:
        self.done[name] += count
        self.log.append((round(time.monotonic() - self._began, 2), f"{name}: {target}"))

    def _one_of(self, processes: list[Kept]) -> Kept:
        """One that lives, if there is one."""
        return self._rng.choice([process for process in processes if process.lives] or processes)

    async def _kill(self, name: str, *victims: Kept) -> None:
        jobs = await self._recoveries.jobs_of([victim.pid for victim in victims if victim.name.startswith("worker")])
        killed = [victim for victim in victims if victim.kill()]
        if killed:
            self._recoveries.killed(jobs, name)
            self._did(name, ", ".join(victim.name for victim in killed), len(killed))

    async def _kill_worker(self) -> None:
        if worker := await self._spare_worker():
            await self._kill("kill worker", worker)

    async def _spare_worker(self) -> Kept | None:
        """One that works, if another is left that can take over. Only "kill everything" leaves none."""
        awake = await self._recoveries.awake()
        return self._rng.choice(awake) if len(awake) > 1 else None

    async def _kill_everything(self) -> None:
        victims = list(self._stack.processes)
        self._rng.shuffle(victims)
        await self._kill("kill everything", *victims)

    async def _kill_horse(self) -> None:
        """A process that runs a job, if there is one."""
        horses = [(worker, child) for worker in self._stack.workers for child in worker.children()]
        if not horses:
            return
        worker, horse = self._rng.choice(horses)
        jobs = await self._recoveries.jobs_of([worker.pid])
        with suppress(ProcessLookupError):
            os.kill(horse.pid, signal.SIGKILL)
            self._recoveries.killed(jobs, "kill work-horse")
            self._did("kill work-horse", f"of {worker.name}")

    async def _pause_worker(self) -> None:
        if worker := await self._spare_worker():
            await self._pause("pause worker", worker, PAUSE_SECONDS)

    async def _make_zombie(self) -> None:
        if worker := await self._spare_worker():
            await self._pause("pause worker past its lease", worker, ZOMBIE_SECONDS)

    async def _pause(self, name: str, victim: Kept, range: tuple[float, float]) -> None:
        if not victim.lives:
            return
        seconds = self._rng.uniform(*range)
        victim.pause()
        self._did(name, f"{victim.name} for {seconds:.1f} s")
        self._last(seconds, victim.resume)

    async def _cut(self) -> None:
        for name in self._some_links("cut connections"):
            self._stack.links[name].cut()

    async def _shut(self) -> None:
        await self._trouble("refuse connections", "shut")

    async def _hold(self) -> None:
        await self._trouble("hold traffic", "hold")

    async def _slow(self) -> None:
        delay = self._rng.uniform(*DELAY_SECONDS)
        for name in self._some_links("slow network"):
            link = self._stack.links[name]
            link.delay = delay
            self._last(2 * self._rng.uniform(*NETWORK_SECONDS), link.heal)

    async def _trouble(self, name: str, method: str) -> None:
        seconds = self._rng.uniform(*NETWORK_SECONDS)
        for target in self._some_links(name):
            link = self._stack.links[target]
            getattr(link, method)()
            self._last(seconds, link.heal)

    def _some_links(self, name: str) -> list[str]:
        """All of them, or one."""
        names = list(self._stack.links)
        chosen = names if self._rng.random() < 0.3 else [self._rng.choice(names)]
        self._did(name, ", ".join(chosen))
        return chosen

    def _last(self, seconds: float, undo: Callable[[], None]) -> None:
        async def wait() -> None:
            try:
                await asyncio.sleep(seconds)
            finally:
                undo()

        task = asyncio.create_task(wait())
        self._lasting.add(task)
        task.add_done_callback(self._lasting.discard)
