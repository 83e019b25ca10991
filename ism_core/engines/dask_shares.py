"""What an engine sends to the workers of a Dask cluster: copies of large values, and shares of the work."""

import concurrent.futures
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from distributed import Future

from ism_core.engines.base import own_threads, total_of
from ism_core.engines.dask_wire import Parcel, keep_memory

T = TypeVar("T")


class Copies:
    """A value in this process and, once the workers needed it, its copies there."""

    def __init__(self, value: Any) -> None:
        self.parcel = Parcel.of(value)
        self.uses = 0
        self.future: Future[Any] | None = None
        self.coming: concurrent.futures.Future[Future[Any]] | None = None


@dataclass(frozen=True)
class SentArgument:
    """A reference to one of the values that were sent."""

    index: int


@dataclass(frozen=True)
class Share:
    """One share of the work."""

    work: Callable[..., Any]
    items: list[int]
    args: Parcel[list[Any]]


def run_share(share: Share, *sent: Parcel[Any]) -> Parcel[Any]:
    """Do the work of a share."""
    args = [sent[arg.index].value if isinstance(arg, SentArgument) else arg for arg in share.args.value]
    keep_memory()
    with own_threads(), np.errstate(over="ignore", invalid="ignore"):
        return Parcel.of(share.work(share.items, *args))


def open_parcel(parcel: Parcel[T]) -> Parcel[T]:
    """Unpickle a value on a worker."""
    return parcel.opened()


def added_parcels(first: Parcel[Any], *others: Parcel[Any]) -> Parcel[Any]:
    """Add results on a worker."""
    return Parcel.of(total_of([copy.deepcopy(first.value), *(other.value for other in others)]))


def run_on_kept(kept: Parcel[Any], share: Share, *sent: Parcel[Any]) -> Parcel[Any]:
    """Do the work of a share on the value that the worker keeps."""
    args = [sent[arg.index].value if isinstance(arg, SentArgument) else arg for arg in share.args.value]
    keep_memory()
    with own_threads(), np.errstate(over="ignore", invalid="ignore"):
        return Parcel.of(share.work(kept.value, *share.items, *args))


def made(items: list[int], make: Callable[[int], T]) -> T:
    """Make the value of an item, which the worker keeps."""
    return make(items[0])
