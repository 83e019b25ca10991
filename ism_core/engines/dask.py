"""Shares of the work on the workers of a Dask cluster.

What is placed and large is sent once, and to every worker, so that losing some of them loses no data; workers that
join later get it from the others. Where there is much to do there are more shares than threads: then a slow worker does
fewer of them, and little is lost with one that dies. Dask does its shares again elsewhere. Where every copy of
something sent was lost, it is sent again. What a share gives does not depend on who computed it; results come back, or
are added up, in the order of the shares.

A message between client, scheduler and worker takes a millisecond or more of processor time, however short it is. So
all shares start by one message, with what they need in it if that is not much, and come back together. What is large
goes to workers on this machine, and comes from them, without the scheduler between.
"""

import asyncio
import concurrent.futures
import copy
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from ism_core.engines.base import Engine, Placed, keep_memory, total_of
from ism_core.engines.threads import own_threads
from ism_core.errors import ClusterLost, InvalidInput

try:
    import dask
    from distributed import Client, Future, KilledWorker

    from ism_core.engines.dask_wire import Parcel
except ImportError as missing:
    raise InvalidInput(
        "engine", 'engine "dask" needs the package distributed, which is not installed: pip install "ism[dask]".'
    ) from missing

T = TypeVar("T")

SHARES = 3  # for each thread of the cluster, where there are
ITEMS = 16  # for each share
ADDED = 4  # results that are added up at a time
SMALL = 2**14  # bytes of an argument that always goes with every share
INLINE = 2**23  # bytes, over all shares, of others that do so
USES = 2  # times that they do; from then on they stay there
KEPT = 2**22  # bytes of one that the scheduler keeps, to send it again itself
ATTEMPTS = 3
CONNECT_SECONDS = 20.0
GLANCE_SECONDS = 2.0  # between two looks at whether there are workers at all


class Dask(Engine):
    """The workers of the cluster that a client is connected to, or whose scheduler has an address.

    `close`, or the end of a `with` block, ends the connection if it was made here. While values are placed Dask's
    active memory manager is stopped, for it would take away all copies but one.
    """

    def __init__(self, cluster: "str | Client", *, patience: float = 60.0) -> None:
        """`patience` is for how many seconds there may be no worker."""
        self._made_here = isinstance(cluster, str)
        self._client: Any = _connected(cluster) if isinstance(cluster, str) else cluster
        self._patience = patience
        self._threads = 0  # the most there have been
        self._looked = -np.inf  # when there was last seen to be one
        self._stopped_manager = False
        self._near = True  # whether all have been on this machine
        self._background = ThreadPoolExecutor(1, "ism-placing")

    @staticmethod
    def current() -> "Dask":
        """With the client of this process if there is one; else that of DASK_SCHEDULER_ADDRESS, which it then has."""
        try:
            return Dask(Client.current())  # type: ignore[no-untyped-call]
        except ValueError:
            address = dask.config.get("scheduler-address", None)
        if not address:
            raise InvalidInput(
                "engine",
                'engine is "dask", but there is no cluster to work on:'
                " make a distributed.Client first, or set DASK_SCHEDULER_ADDRESS.",
            )
        return Dask(_connected(address, as_default=True))

    def close(self) -> None:
        """Leave the cluster as it was."""
        with suppress(Exception):  # as where the cluster is gone
            if self._stopped_manager:
                self._client.amm.start()
        self._stopped_manager = False
        if self._made_here:
            self._client.close()

    def __enter__(self) -> "Dask":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def place(self, value: T) -> Placed[T]:
        """What is too large to go with the shares is on its way from now on, while other work is done here."""
        copies = _Copies(value)
        if copies.parcel.size > INLINE and self._client.status == "running":
            copies.coming = self._background.submit(self._brought, copies.parcel)
        return Placed(value, copies)

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        return self._attempts(lambda: self._results(self._started(work, items, args)))

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """Added up on the workers, a few at a time, until no more than a few sums come back however many they are."""
        return cast(T, total_of(self._attempts(lambda: self._results(self._sums(self._started(work, items, args))))))

    def _attempts(self, attempt: Callable[[], list[Any]]) -> list[Any]:
        for number in range(1, ATTEMPTS + 1):
            try:
                return attempt()
            except KilledWorker as error:
                if number == ATTEMPTS:
                    raise InvalidInput(
                        "memory",
                        "The same share of the work ended one Dask worker after the other, most likely for want of"
                        " memory; try fewer rows or features, or workers with more memory.",
                    ) from error
            except (CancelledError, asyncio.CancelledError, OSError) as error:
                if isinstance(error, ClusterLost):
                    raise
                if number == ATTEMPTS:
                    raise ClusterLost(f"The Dask cluster at {self._address} was lost: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _started(self, work: Callable[..., Any], items: int, args: tuple[Any, ...]) -> list[Future[Any]]:
        if self._client.status != "running" or time.monotonic() > self._looked + GLANCE_SECONDS:
            self._look()
        count = min(items, self._threads * min(SHARES, max(1, items // (ITEMS * self._threads))))
        packed, sent = self._packed(args, INLINE // count)
        shares = [_Share(work, list(range(first, items, count)), packed) for first in range(count)]
        name = f"{work.__name__.strip('_')}-{uuid4().hex}"
        keys = [(name, number) for number in range(count)]
        copied = ([each] * count for each in sent)
        return cast(list[Future[Any]], self._client.map(_done, shares, *copied, key=keys, pure=False))

    def _sums(self, futures: list[Future[Any]]) -> list[Future[Any]]:
        """Of neighbors."""
        while len(futures) > ADDED:
            groups = [futures[first : first + ADDED] for first in range(0, len(futures), ADDED)]
            futures = [self._client.submit(_added, *group, key=f"added-{uuid4().hex}", pure=False) for group in groups]
        return futures

    def _results(self, futures: list[Future[Any]]) -> list[Any]:
        loop = self._client.loop.asyncio_loop
        gathered = self._client.gather(futures, direct=self._near or None, asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathered, loop)
        try:
            while not wait([coming], GLANCE_SECONDS).done:
                self._look()
            return [parcel.value for parcel in coming.result()]
        except BaseException:
            coming.cancel()
            self._looked = -np.inf
            with suppress(Exception):  # as where the cluster is gone, which is told already
                self._client.cancel(futures, force=True)
            raise

    def _packed(self, args: tuple[Any, ...], room: int) -> tuple["Parcel[list[Any]]", list[Future[Any]]]:
        """Arguments as they go with every share: themselves, or where to find them among what was sent."""
        packed: list[Any] = []
        sent: list[Future[Any]] = []
        for arg in args:
            copies = arg.there if isinstance(arg, Placed) else _Copies(arg)
            copies.uses += 1
            size = copies.parcel.size
            if size <= SMALL or (size <= room and copies.uses <= USES):
                room -= size
                packed.append(copies.parcel.value)
            else:
                packed.append(_Sent(len(sent)))
                sent.append(self._sent(copies))
        return Parcel.of(packed), sent

    def _sent(self, copies: "_Copies") -> Future[Any]:
        if copies.coming is not None:
            if copies.coming.exception() is None:  # else, as where a worker was lost meanwhile, it is sent again
                copies.future = copies.coming.result()
            copies.coming = None
        if copies.future is None or copies.future.status not in ("pending", "finished"):
            if copies.parcel.size <= KEPT and copies.uses <= USES:
                copies.future = self._client.submit(_itself, copies.parcel, key=_key(), pure=False)
            else:
                copies.future = self._scattered(copies.parcel)
        return copies.future

    def _scattered(self, parcel: Parcel[Any]) -> Future[Any]:
        """On every worker."""
        if self._client.amm.running():
            self._client.amm.stop()
            self._stopped_manager = True
        key = _key()
        scatter: Callable[..., dict[Any, Future[Any]]] = self._client.scatter
        if self._near:
            try:
                return scatter({key: parcel}, broadcast=True, direct=True)[key]
            except OSError:  # as where the scheduler is at the end of a tunnel
                self._near = False
        return scatter({key: parcel}, broadcast=True)[key]

    def _brought(self, parcel: Parcel[Any]) -> Future[Any]:
        """The same before anything else was done there."""
        if not self._threads:
            self._look()
        return self._scattered(parcel)

    def _look(self) -> None:
        """See how many threads the workers have that take work; waits for the first of them."""
        deadline = time.monotonic() + self._patience
        while True:
            if self._client.status == "closed":
                raise ClusterLost("The connection to the Dask cluster is closed.")
            threads = self._client.sync(self._client.scheduler.ncores_running)  # without those short of memory
            if threads:
                self._threads = max(self._threads, sum(threads.values()))  # as many shares as before when one is lost
                self._near = self._near and all(_is_here(each) for each in (self._address, *threads))
                self._looked = time.monotonic()
                return
            if time.monotonic() > deadline:
                raise ClusterLost(
                    f"The Dask cluster at {self._address} has had no worker that takes work for"
                    f" {self._patience:g} seconds."
                )
            time.sleep(0.1)

    @property
    def _address(self) -> str:
        return str(self._client.scheduler.address)


def _connected(address: str, *, as_default: bool = False) -> Client:
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=as_default)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ClusterLost(f"No Dask scheduler answers at {address}: {error}") from error


def _key() -> tuple[str, int]:
    return f"placed-{uuid4().hex}", 0


def _is_here(address: str) -> bool:
    return (urlsplit(address).hostname or "").startswith("127.")


class _Copies:
    """A value here and, once it was needed there, on the workers."""

    def __init__(self, value: Any) -> None:
        self.parcel = Parcel.of(value)
        self.uses = 0
        self.future: Future[Any] | None = None
        self.coming: concurrent.futures.Future[Future[Any]] | None = None


@dataclass(frozen=True)
class _Sent:
    """Stands for one of the values that were sent."""

    index: int


@dataclass(frozen=True)
class _Share:
    """What a worker does with what was sent to it."""

    work: Callable[..., Any]
    items: list[int]
    args: Parcel[list[Any]]


def _done(share: _Share, *sent: Parcel[Any]) -> Parcel[Any]:
    args = [sent[arg.index].value if isinstance(arg, _Sent) else arg for arg in share.args.value]
    keep_memory()
    with own_threads(), np.errstate(over="ignore", invalid="ignore"):
        return Parcel.of(share.work(share.items, *args))


def _itself(parcel: Parcel[T]) -> Parcel[T]:
    return parcel.opened()


def _added(first: Parcel[Any], *others: Parcel[Any]) -> Parcel[Any]:
    return Parcel.of(total_of([copy.deepcopy(first.value), *(other.value for other in others)]))
