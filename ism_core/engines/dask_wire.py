"""Serialization of values that travel to and from the workers of a Dask cluster, and the memory of the workers."""

import ctypes
import os
import pickle
from contextlib import suppress
from functools import cache, cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np
from distributed.protocol.serialize import dask_deserialize, dask_serialize

T = TypeVar("T")

# glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in bytes: the largest values that it sets itself
MALLOC_OPTIONS = {-3: 2**25, -1: 2**26}


class Parcel(Generic[T]):
    """A value in frames: its pickle and its arrays. The scheduler passes it on without unpickling it."""

    def __init__(self, frames: list[Any]) -> None:
        self.frames: list[Any] = [np.frombuffer(frame, np.uint8) for frame in frames]

    @staticmethod
    def of(value: T) -> "Parcel[T]":
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        parcel: Parcel[T] = Parcel([head, *(buffer.raw() for buffer in buffers)])
        parcel.value = value
        return parcel

    @cached_property
    def value(self) -> T:
        """The unpickled value, with writable arrays aligned to 16 bytes; some arrive otherwise and are copied."""
        head, *buffers = self.frames
        usable = (each.flags.writeable and each.ctypes.data % 16 == 0 for each in buffers)
        self.frames = [head, *(each if fine else each.copy() for each, fine in zip(buffers, usable, strict=True))]
        return cast(T, pickle.loads(head, buffers=self.frames[1:]))

    def opened(self) -> "Parcel[T]":
        """Unpickle the value before several threads use it; return the parcel."""
        _ = self.value
        return self

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(len(frame) for frame in self.frames)

    def __sizeof__(self) -> int:
        return self.size

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, ([pickle.PickleBuffer(frame) for frame in self.frames],)


dask_serialize.register(Parcel)(lambda parcel: ({}, parcel.frames))  # type: ignore[no-untyped-call]
dask_deserialize.register(Parcel)(lambda _, frames: Parcel(frames).opened())  # type: ignore[no-untyped-call]


@cache
def keep_memory() -> None:
    """Let this process reuse the memory of freed arrays, as glibc does by default.

    Dask makes its workers return memory at once, so that every array of 128 KB or more needs fresh pages. That took a
    quarter of the time of Φ by features. A setting of the user's own stays.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") == "65536":
        with suppress(AttributeError, OSError):  # another C library
            for option, value in MALLOC_OPTIONS.items():
                ctypes.CDLL("libc.so.6").mallopt(option, value)
