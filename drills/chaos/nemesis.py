"""Inject faults: kill, pause and hang processes, cut their connections, fill the disk, set clocks."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from redis.exceptions import RedisError

from drills.chaos.plan import DICE, Deed, Dice, iter_plan
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
FULL_SECONDS = (2.0, 6.0)  # how long the disk or the store is full
JUMP_SECONDS = (-3_600, 3_600)  # of a clock
ALL_SHARE = 0.3  # of the network faults and jumps of clocks hit all processes
TORN_BYTES = 2_000  # up to so many bytes still fit on a full disk, so that a write may be cut in the middle
STACKED = (2, 4)  # kills at once
KILLS = ("kill worker", "kill work-horse", "kill api", "kill redis")  # that may be stacked


class Nemesis:
    """Injects faults one after the other; `heal` ends those that last. The word is Jepsen's."""

    def __init__(self, stack: Stack, recoveries: Recoveries, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.deeds: list[Deed] = []  # so far, with those that found nothing to be done on
        self.log: list[tuple[float, str]] = []
        self._stack = stack
        self._recoveries = recoveries
        self._plan = iter_plan(seed)
        self._lasting: set[asyncio.Task[None]] = set()
        self._began = time.monotonic()
        self._faults: dict[str, Callable[[Dice], Awaitable[None]]] = {
            "kill worker": self._kill_worker,
            "kill work-horse": self._kill_horse,
            "kill api": lambda dice: self._kill("kill api", self._one_of(stack.apis, dice)),
            "kill redis": lambda _: self._kill("kill redis", stack.redis),
            "kill everything": lambda _: self._kill("kill everything", *stack.processes),
            "stacked kills": self._stack_kills,
            "hang work-horse": self._hang_horse,
            "pause worker": self._pause_worker,
            "pause worker past its lease": self._make_zombie,
            "pause api": lambda dice: self._pause("pause api", self._one_of(stack.apis, dice), PAUSE_SECONDS, dice),
            "pause redis": lambda dice: self._pause("pause redis", stack.redis, REDIS_PAUSE_SECONDS, dice),
            "drop connections": self._drop,
            "refuse connections": lambda dice: self._disturb("refuse connections", TcpProxy.refuse_connections, dice),
            "stall traffic": lambda dice: self._disturb("stall traffic", TcpProxy.stall, dice),
            "slow network": self._slow,
            "fill disk": self._fill_disk,
            "fill store": self._fill_store,
            "set clock": self._set_clock,
            "change release": self._change_release,
        }

    @property
    def kills(self) -> int:
        """Return the number of killed processes."""
        return sum(count for name, count in self.counts.items() if name.startswith("kill"))

    async def inject_faults(self, seconds: float) -> None:
        """Inject faults for so many seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            deed = next(self._plan)
            self.deeds.append(deed)
            await self._faults[deed.name](Dice(deed.dice))
            await asyncio.sleep(min(left, deed.pause))

    async def heal(self) -> None:
        """End everything that lasts."""
        for task in self._lasting:
            task.cancel()
        await asyncio.gather(*self._lasting, return_exceptions=True)
        for proxy in self._stack.proxies.values():
            proxy.restore()
        for process in self._stack.processes:
            process.limit_files(None)
            self._stack.clocks.set(process.name, 0)
        if (api := self._stack.apis[-1]).is_changed:
            api.change({})
            api.kill()

    def _record(self, name: str, target: str, count: int = 1) -> None:
        self.counts[name] += count
        self.log.append((round(time.monotonic() - self._began, 2), f"{name}: {target}"))

    def _one_of(self, processes: list[RestartedProcess], dice: Dice) -> RestartedProcess:
        """Return one of the processes that are alive, if there is one."""
        return dice.choice([process for process in processes if process.is_alive] or processes)

    async def _kill(self, name: str, *victims: RestartedProcess) -> None:
        jobs = await self._recoveries.jobs_of([victim.pid for victim in victims if victim.name.startswith("worker")])
        killed = [victim for victim in victims if victim.kill()]
        if killed:
            self._recoveries.killed(jobs, name)
            self._record(name, ", ".join(victim.name for victim in killed), len(killed))

    async def _kill_worker(self, dice: Dice) -> None:
        if worker := await self._spare_worker(dice):
            await self._kill("kill worker", worker)

    async def _spare_worker(self, dice: Dice) -> RestartedProcess | None:
        """Return an available worker if another one is left to take over. Only "kill everything" leaves none."""
        available = await self._recoveries.available_workers()
        return dice.choice(available) if len(available) > 1 else None

    async def _stack_kills(self, dice: Dice) -> None:
        """Kill several processes at the same time."""
        count = round(dice.within(STACKED))
        first = int(dice.within((0, len(KILLS))))
        names = [KILLS[(first + place) % len(KILLS)] for place in range(count)]
        shared = Dice(tuple(dice.within((0, 1)) for _ in range(DICE - 2)))  # one number for each
        self._record("stacked kills", ", ".join(names))
        await asyncio.gather(*(self._faults[name](shared) for name in names))

    def _horse(self, dice: Dice) -> tuple[RestartedProcess, int] | None:
        """Return a process that runs jobs, with its worker, if there is one."""
        horses = [(worker, child.pid) for worker in self._stack.workers for child in worker.children()]
        return dice.choice(horses) if horses else None

    async def _kill_horse(self, dice: Dice) -> None:
        await self._end_horse("kill work-horse", signal.SIGKILL, dice)

    async def _hang_horse(self, dice: Dice) -> None:
        """Stop a process that runs jobs for good."""
        await self._end_horse("hang work-horse", signal.SIGSTOP, dice)

    async def _end_horse(self, name: str, sent: signal.Signals, dice: Dice) -> None:
        if (found := self._horse(dice)) is None:
            return
        worker, horse = found
        jobs = await self._recoveries.jobs_of([worker.pid])
        with suppress(ProcessLookupError):
            os.kill(horse, sent)
            self._recoveries.killed(jobs, name)
            self._record(name, f"of {worker.name}")

    async def _pause_worker(self, dice: Dice) -> None:
        if worker := await self._spare_worker(dice):
            await self._pause("pause worker", worker, PAUSE_SECONDS, dice)

    async def _make_zombie(self, dice: Dice) -> None:
        if worker := await self._spare_worker(dice):
            await self._pause("pause worker past its lease", worker, ZOMBIE_SECONDS, dice)

    async def _pause(self, name: str, victim: RestartedProcess, range: tuple[float, float], dice: Dice) -> None:
        if not victim.is_alive:
            return
        seconds = dice.within(range)
        victim.pause()
        self._record(name, f"{victim.name} for {seconds:.1f} s")
        self._undo_after(seconds, victim.resume)

    async def _fill_disk(self, dice: Dice) -> None:
        """Let Redis write little more to its file, so that it exits until there is room again."""
        seconds, room = dice.within(FULL_SECONDS), round(dice.within((0, TORN_BYTES)))
        redis = self._stack.redis
        redis.limit_files(self._stack.bytes_of_redis() + room)
        self._record("fill disk", f"for {seconds:.1f} s")
        self._undo_after(seconds, lambda: redis.limit_files(None))

    async def _fill_store(self, dice: Dice) -> None:
        """Let Redis refuse what needs memory, as `ism serve` does before the disk is full."""
        seconds = dice.within(FULL_SECONDS)
        with suppress(RedisError):
            await self._stack.inspect.config_set("maxmemory", 1)
            self._recoveries.full_stores += 1
            self._record("fill store", f"for {seconds:.1f} s")
            self._last_for(seconds, self._empty_store)

    async def _empty_store(self) -> None:
        self._recoveries.full_stores -= 1
        while True:
            with suppress(RedisError):
                await self._stack.inspect.config_set("maxmemory", 0)
                return
            await asyncio.sleep(0.1)

    async def _set_clock(self, dice: Dice) -> None:
        """Set the clock of one process or of all; it is never set back."""
        if not self._stack.clocks.can_be_set:
            return
        names = [process.name for process in self._stack.processes]
        chosen = names if dice.happens(ALL_SHARE) else [dice.choice(names)]
        seconds = round(dice.within(JUMP_SECONDS))
        for name in chosen:
            self._stack.clocks.set(name, seconds)
        self._record("set clock", f"{', '.join(chosen)} by {seconds} s")

    async def _change_release(self, _: Dice) -> None:
        """Replace the last API by one of the last release, or that by one of this release."""
        api = self._stack.apis[-1]
        if self._stack.last_release is None or not api.is_alive:
            return
        api.change({} if api.is_changed else self._stack.last_release)
        await self._kill("kill api", api)
        self._record("change release", f"{api.name} to {'the last' if api.is_changed else 'this'}")

    async def _drop(self, dice: Dice) -> None:
        for name in self._some_proxies("drop connections", dice):
            self._stack.proxies[name].drop_connections()

    async def _slow(self, dice: Dice) -> None:
        delay, seconds = dice.within(DELAY_SECONDS), 2 * dice.within(NETWORK_SECONDS)
        for name in self._some_proxies("slow network", dice):
            proxy = self._stack.proxies[name]
            proxy.delay = delay
            self._undo_after(seconds, proxy.restore)

    async def _disturb(self, name: str, disturb: Callable[[TcpProxy], None], dice: Dice) -> None:
        seconds = dice.within(NETWORK_SECONDS)
        for target in self._some_proxies(name, dice):
            proxy = self._stack.proxies[target]
            disturb(proxy)
            self._undo_after(seconds, proxy.restore)

    def _some_proxies(self, name: str, dice: Dice) -> list[str]:
        """Return the names of all proxies or of one."""
        names = list(self._stack.proxies)
        chosen = names if dice.happens(ALL_SHARE) else [dice.choice(names)]
        self._record(name, ", ".join(chosen))
        return chosen

    def _undo_after(self, seconds: float, undo: Callable[[], None]) -> None:
        async def call() -> None:
            undo()

        self._last_for(seconds, call)

    def _last_for(self, seconds: float, end: Callable[[], Awaitable[None]]) -> None:
        async def wait() -> None:
            try:
                await asyncio.sleep(seconds)
            finally:
                await end()

        task = asyncio.create_task(wait())
        self._lasting.add(task)
        task.add_done_callback(self._lasting.discard)
