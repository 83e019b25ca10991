"""Engines: run a function on shares of the rows, on threads of this process or on the workers of a Dask cluster."""

from typing import TYPE_CHECKING, Any

from ism_core.engines.base import ALONE, LOCAL, Engine, Placed, Threads, added, allowed_threads, own_threads
from ism_core.engines.helper import SharedWork

if TYPE_CHECKING:
    from ism_core.engines.dask import Dask

__all__ = [
    "ALONE",
    "LOCAL",
    "Dask",
    "Engine",
    "Placed",
    "SharedWork",
    "Threads",
    "added",
    "allowed_threads",
    "own_threads",
]


def __getattr__(name: str) -> Any:
    """Import Dask on demand: the package distributed is optional and takes half a second to import."""
    if name == "Dask":
        from ism_core.engines.dask import Dask

        return Dask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
