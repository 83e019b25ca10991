"""The engine that runs shares of the work on the workers of a Dask cluster.

- Large values are sent once to every worker, so that the loss of some workers loses no data. Workers that join later
  copy from the others. If every copy is lost, the value is sent again.
- Large jobs have more shares than threads, so that slow workers do fewer of them. Dask repeats the shares of a lost
  worker elsewhere. Results do not depend on the worker, and are added in the order of the shares.
- A message costs at least a millisecond of CPU time. So one message starts all shares and carries small arguments,
  and the results come back together. Large values travel directly between this process and workers on the same machine.
"""

import asyncio
import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from ism_core.engines.base import Engine, Placed, total_of
from ism_core.errors import ClusterLost, InvalidInput

try:
    import dask
    from distributed import Client, Future, KilledWorker

    from ism_core.engines.dask_shares import (
        Copies,
        SentArgument,
        Share,
        added_parcels,
        made,
        open_parcel,
        run_on_kept,
        run_share,
    )
    from ism_core.engines.dask_wire import Parcel
except ImportError as missing:
    raise InvalidInput(
        "engine", 'engine "dask" needs the package distributed, which is not installed: pip install "ism-core[dask]".'
    ) from missing

T = TypeVar("T")

SHARES_PER_THREAD = 3  # of the cluster, if each share has enough items
ITEMS_PER_SHARE = 16  # at least
SUM_BATCH_SIZE = 4  # results that one task adds up
KEPT_SHARE = 0.5  # share of the workers' memory that kept values may take
SMALL_BYTES = 2**14  # arguments up to this size travel with every share
INLINE_BYTES = 2**23  # most bytes of other arguments that travel with the shares, over all shares
INLINE_USES = 2  # times that such an argument travels; after that a copy stays on the workers
KEPT_BYTES = 2**22  # values up to this size stay on the scheduler, which can send them again
ATTEMPTS = 3  # to run the same work, if workers are lost
CONNECT_SECONDS = 20.0  # timeout of a connection to a scheduler
POLL_SECONDS = 2.0  # between two checks that there are workers


class Dask(Engine):
    """The workers of a Dask cluster, given by a client or by the address of the scheduler.

    `close`, or the end of a `with` block, ends the connection if this engine made it. The engine stops Dask's active
    memory manager while it has placed values, because the manager would remove all copies but one. It starts the
    manager again when it is closed or garbage collected.
    """

    def __init__(self, cluster: "str | Client", *, patience: float = 60.0) -> None:
        """`patience` is the number of seconds without any worker after which the cluster counts as lost."""
        self._made_here = isinstance(cluster, str)
        self._client: Any = _connected(cluster) if isinstance(cluster, str) else cluster
        self._patience = patience
        self._threads = 0  # the largest number so far
        self._checked = -np.inf  # time of the last check that there are workers
        self._restart_manager: weakref.finalize[[Any], Dask] | None = None
        self._near = True  # whether all workers so far are on this machine
        self._background = ThreadPoolExecutor(1, "ism-placing")

    @staticmethod
    def current() -> "Dask":
        """Use the client of this process, or connect to DASK_SCHEDULER_ADDRESS and make that its client."""
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
        if self._restart_manager is not None:
            self._restart_manager()
        if self._made_here:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def place(self, value: T) -> Placed[T]:
        """Start to send a large value in the background, while this process does other work."""
        copies = Copies(value)
        if copies.parcel.size > INLINE_BYTES and self._client.status == "running":
            copies.coming = self._background.submit(self._send_in_background, copies.parcel)
        return Placed(value, copies)

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        return self._attempts(lambda: self._results(self._started(work, items, args)))

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """Add results on the workers, a few at a time, so that only a few sums come back."""
        return cast(T, total_of(self._attempts(lambda: self._results(self._sums(self._started(work, items, args))))))

    def _attempts(self, attempt: Callable[[], list[Any]]) -> list[Any]:
        for number in range(1, ATTEMPTS + 1):
            try:
                return attempt()
            except KilledWorker as error:
                if number == ATTEMPTS:
                    raise InvalidInput(
                        "memory",
                        "The same share of the work killed several Dask workers, most likely because they ran out of"
                        " memory; try fewer rows or features, or workers with more memory.",
                    ) from error
            except (CancelledError, asyncio.CancelledError, OSError) as error:
                if isinstance(error, ClusterLost):
                    raise
                if number == ATTEMPTS:
                    raise ClusterLost(f"The Dask cluster at {self._address} was lost: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _started(self, work: Callable[..., Any], items: int, args: tuple[Any, ...]) -> list[Future[Any]]:
        self._check_soon()
        count = min(items, self._threads * min(SHARES_PER_THREAD, max(1, items // (ITEMS_PER_SHARE * self._threads))))
        return self._mapped(run_share, work, [list(range(first, items, count)) for first in range(count)], args)

    def _mapped(
        self, run: Callable[..., Any], work: Callable[..., Any], parts: list[list[int]], args: tuple[Any, ...], *on: Any
    ) -> list[Future[Any]]:
        """Start one task for each part of the items, on the futures `on` if there are any."""
        count = len(parts)
        packed, sent = self._pack_arguments(args, INLINE_BYTES // count)
        shares = [Share(work, part, packed) for part in parts]
        name = f"{work.__name__.strip('_')}-{uuid4().hex}"
        keys = [(name, number) for number in range(count)]
        copied = ([each] * count for each in sent)
        return cast(list[Future[Any]], self._client.map(run, *on, shares, *copied, key=keys, pure=False))

    def can_keep(self, size: int) -> bool:
        """Tell whether half of the workers' memory suffices; workers without a limit can keep any value."""
        self._check_workers()
        limits = [worker["memory_limit"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values()]
        return not all(limits) or size <= KEPT_SHARE * sum(limits)

    def keep(self, make: Callable[[int], Any], items: int) -> list[Future[Any]]:
        """Let workers make values; if one is lost, Dask makes its values again on others."""
        self._check_soon()
        return self._mapped(run_share, made, [[item] for item in range(items)], (make,))

    def total_of_kept(self, work: Callable[..., T], kept: list[Future[Any]], *args: Any) -> T:
        items = [[item] for item in range(len(kept))]

        def started() -> list[Future[Any]]:
            self._check_soon()
            return self._sums(self._mapped(run_on_kept, work, items, args, kept))

        return cast(T, total_of(self._attempts(lambda: self._results(started()))))

    def _check_soon(self) -> None:
        if self._client.status != "running" or time.monotonic() > self._checked + POLL_SECONDS:
            self._check_workers()

    def _sums(self, futures: list[Future[Any]]) -> list[Future[Any]]:
        """Add neighboring results until few are left."""
        step = SUM_BATCH_SIZE
        while len(futures) > step:
            groups = [futures[first : first + step] for first in range(0, len(futures), step)]
            futures = [
                self._client.submit(added_parcels, *group, key=f"added-{uuid4().hex}", pure=False) for group in groups
            ]
        return futures

    def _results(self, futures: list[Future[Any]]) -> list[Any]:
        loop = self._client.loop.asyncio_loop
        gathered = self._client.gather(futures, direct=self._near or None, asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathered, loop)
        try:
            while not wait([coming], POLL_SECONDS).done:
                self._check_workers()
            return [parcel.value for parcel in coming.result()]
        except BaseException:
            coming.cancel()
            self._checked = -np.inf
            with suppress(Exception):  # the cluster may be gone; the first error says so
                self._client.cancel(futures, force=True)
            raise

    def _pack_arguments(self, args: tuple[Any, ...], room: int) -> tuple["Parcel[list[Any]]", list[Future[Any]]]:
        """Return the arguments that travel with every share: values, or references to values already sent."""
        packed: list[Any] = []
        sent: list[Future[Any]] = []
        for arg in args:
            copies = arg.there if isinstance(arg, Placed) else Copies(arg)
            copies.uses += 1
            size = copies.parcel.size
            if size <= SMALL_BYTES or (size <= room and copies.uses <= INLINE_USES):
                room -= size
                packed.append(copies.parcel.value)
            else:
                packed.append(SentArgument(len(sent)))
                sent.append(self._future_of(copies))
        return Parcel.of(packed), sent

    def _future_of(self, copies: "Copies") -> Future[Any]:
        if copies.coming is not None:
            if copies.coming.exception() is None:  # otherwise, e.g. after the loss of a worker, it is sent again
                copies.future = copies.coming.result()
            copies.coming = None
        if copies.future is None or copies.future.status not in ("pending", "finished"):
            if copies.parcel.size <= KEPT_BYTES and copies.uses <= INLINE_USES:
                copies.future = self._client.submit(open_parcel, copies.parcel, key=_key(), pure=False)
            else:
                copies.future = self._broadcast(copies.parcel)
        return copies.future

    def _broadcast(self, parcel: Parcel[Any]) -> Future[Any]:
        """Send a value to every worker."""
        if self._client.amm.running():
            self._client.amm.stop()
            self._restart_manager = weakref.finalize(self, _start_manager, self._client)
            self._restart_manager.atexit = False
        key = _key()
        scatter: Callable[..., dict[Any, Future[Any]]] = self._client.scatter
        if self._near:
            try:
                return scatter({key: parcel}, broadcast=True, direct=True)[key]
            except OSError:  # workers cannot be reached directly, e.g. through a tunnel
                self._near = False
        return scatter({key: parcel}, broadcast=True)[key]

    def _send_in_background(self, parcel: Parcel[Any]) -> Future[Any]:
        """Send a value to every worker, possibly before any other work."""
        if not self._threads:
            self._check_workers()
        return self._broadcast(parcel)

    def _check_workers(self) -> None:
        """Count the threads of the workers that accept work; wait for the first worker if there is none."""
        deadline = time.monotonic() + self._patience
        while True:
            if self._client.status == "closed":
                raise ClusterLost("The connection to the Dask cluster is closed.")
            # leaves out workers that are short of memory
            threads = self._client.sync(self._client.scheduler.ncores_running)
            if threads:
                # the maximum keeps the number of shares if a worker is lost
                self._threads = max(self._threads, sum(threads.values()))
                self._near = self._near and all(_is_here(each) for each in (self._address, *threads))
                self._checked = time.monotonic()
                return
            if time.monotonic() > deadline:
                raise ClusterLost(
                    f"The Dask cluster at {self._address} has had no available worker for {self._patience:g} seconds."
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


def _start_manager(client: Any) -> None:
    with suppress(Exception):  # the cluster may be gone
        client.amm.start()


def _key() -> tuple[str, int]:
    return f"placed-{uuid4().hex}", 0


def _is_here(address: str) -> bool:
    return (urlsplit(address).hostname or "").startswith("127.")
