"""Inject random faults: kill and pause processes, delay and cut their connections. The seed decides which."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from drills.chaos.processes import RestartedProcess
from drills.chaos.recovery import Recoveries
from drills.chaos.stack import Stack
from ism_jobs.settings import Settings
from tools.tcp_proxy import TcpProxy

# Ranges in seconds from which durations are drawn.
PAUSE_SECONDS = (1.0, 6.0)  # of a worker or an API
LEASE_SECONDS = Settings().lease_seconds
ZOMBIE_SECONDS = (LEASE_SECONDS + 4.0, LEASE_SECONDS + 8.0)  # another worker has the job when this one wakes up
REDIS_PAUSE_SECONDS = (0.5, 4.0)
NETWORK_SECONDS = (1.0, 6.0)  # how long connections are refused or stalled
DELAY_SECONDS = (0.02, 0.3)  # added in each direction
BETWEEN_SECONDS = (1.0, 3.0)  # from one fault to the next


class Nemesis:
    """Injects faults one after the other; `heal` ends those that last. The word is Jepsen's."""

    def __init__(self, stack: Stack, recoveries: Recoveries, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.log: list[tuple[float, str]] = []
        self._stack = stack
        self._recoveries = recoveries
        self._rng = random.Random(seed)
        self._lasting: set[asyncio.Task[None]] = set()
        self._began = time.monotonic()
        # The relative frequency of each fault, and the method that injects it.
        self._faults: dict[str, tuple[float, Callable[[], Awaitable[None]]]] = {
            "kill worker": (22, self._kill_worker),
            "kill work-horse": (30, self._kill_horse),
            "kill api": (10, lambda: self._kill("kill api", self._one_of(stack.apis))),
            "kill redis": (7, lambda: self._kill("kill redis", stack.redis)),
            "kill everything": (2, self._kill_everything),
            "pause worker": (6, self._pause_worker),
            "pause worker past its lease": (3, self._make_zombie),
            "pause api": (3, lambda: self._pause("pause api", self._one_of(stack.apis), PAUSE_SECONDS)),
            "pause redis": (3, lambda: self._pause("pause redis", stack.redis, REDIS_PAUSE_SECONDS)),
            "drop connections": (6, self._drop),
            "refuse connections": (3, self._refuse),
            "stall traffic": (3, self._stall),
            "slow network": (4, self._slow),
        }

    @property
    def kills(self) -> int:
        """Return the number of killed processes."""
        return sum(count for name, count in self.counts.items() if name.startswith("kill"))

    async def inject_faults(self, seconds: float) -> None:
        """Inject faults for so many seconds."""
        deadline = time.monotonic() + seconds
        names = list(self._faults)
        weights = [weight for weight, _ in self._faults.values()]
        while (left := deadline - time.monotonic()) > 0:
            (name,) = self._rng.choices(names, weights)
            await self._faults[name][1]()
            await asyncio.sleep(min(left, self._rng.uniform(*BETWEEN_SECONDS)))

    async def heal(self) -> None:
        """End all pauses and network faults."""
        for task in self._lasting:
            task.cancel()
        await asyncio.gather(*self._lasting, return_exceptions=True)
        for proxy in self._stack.proxies.values():
            proxy.restore()

    def _record(self, name: str, target: str, count: int = 1) -> None:
        self.counts[name] += count
        self.log.append((round(time.monotonic() - self._began, 2), f"{name}: {target}"))

    def _one_of(self, processes: list[RestartedProcess]) -> RestartedProcess:
        """Return a random process, one that is alive if possible."""
        return self._rng.choice([process for process in processes if process.is_alive] or processes)

    async def _kill(self, name: str, *victims: RestartedProcess) -> None:
        jobs = await self._recoveries.jobs_of([victim.pid for victim in victims if victim.name.startswith("worker")])
        killed = [victim for victim in victims if victim.kill()]
        if killed:
            self._recoveries.killed(jobs, name)
            self._record(name, ", ".join(victim.name for victim in killed), len(killed))

    async def _kill_worker(self) -> None:
        if worker := await self._spare_worker():
            await self._kill("kill worker", worker)

    async def _spare_worker(self) -> RestartedProcess | None:
        """Return an available worker if another one is left to take over. Only "kill everything" leaves none."""
        available = await self._recoveries.available_workers()
        return self._rng.choice(available) if len(available) > 1 else None

    async def _kill_everything(self) -> None:
        victims = list(self._stack.processes)
        self._rng.shuffle(victims)
        await self._kill("kill everything", *victims)

    async def _kill_horse(self) -> None:
        """Kill a process that runs a job, if there is one."""
        horses = [(worker, child) for worker in self._stack.workers for child in worker.children()]
        if not horses:
            return
        worker, horse = self._rng.choice(horses)
        jobs = await self._recoveries.jobs_of([worker.pid])
        with suppress(ProcessLookupError):
            os.kill(horse.pid, signal.SIGKILL)
            self._recoveries.killed(jobs, "kill work-horse")
            self._record("kill work-horse", f"of {worker.name}")

    async def _pause_worker(self) -> None:
        if worker := await self._spare_worker():
            await self._pause("pause worker", worker, PAUSE_SECONDS)

    async def _make_zombie(self) -> None:
        if worker := await self._spare_worker():
            await self._pause("pause worker past its lease", worker, ZOMBIE_SECONDS)

    async def _pause(self, name: str, victim: RestartedProcess, range: tuple[float, float]) -> None:
        if not victim.is_alive:
            return
        seconds = self._rng.uniform(*range)
        victim.pause()
        self._record(name, f"{victim.name} for {seconds:.1f} s")
        self._undo_after(seconds, victim.resume)

    async def _drop(self) -> None:
        for name in self._some_proxies("drop connections"):
            self._stack.proxies[name].drop_connections()

    async def _refuse(self) -> None:
        await self._disturb("refuse connections", TcpProxy.refuse_connections)

    async def _stall(self) -> None:
        await self._disturb("stall traffic", TcpProxy.stall)

    async def _slow(self) -> None:
        delay = self._rng.uniform(*DELAY_SECONDS)
        for name in self._some_proxies("slow network"):
            proxy = self._stack.proxies[name]
            proxy.delay = delay
            self._undo_after(2 * self._rng.uniform(*NETWORK_SECONDS), proxy.restore)

    async def _disturb(self, name: str, disturb: Callable[[TcpProxy], None]) -> None:
        seconds = self._rng.uniform(*NETWORK_SECONDS)
        for target in self._some_proxies(name):
            proxy = self._stack.proxies[target]
            disturb(proxy)
            self._undo_after(seconds, proxy.restore)

    def _some_proxies(self, name: str) -> list[str]:
        """Return the names of all proxies or of one."""
        names = list(self._stack.proxies)
        chosen = names if self._rng.random() < 0.3 else [self._rng.choice(names)]
        self._record(name, ", ".join(chosen))
        return chosen

    def _undo_after(self, seconds: float, undo: Callable[[], None]) -> None:
        async def wait() -> None:
            try:
                await asyncio.sleep(seconds)
            finally:
                undo()

        task = asyncio.create_task(wait())
        self._lasting.add(task)
        task.add_done_callback(self._lasting.discard)
