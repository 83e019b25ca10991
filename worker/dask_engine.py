"""The engine that computes the sums over rows: this process, or a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from ism_core.engines import Engine
from ism_core.errors import ClusterLost
from ism_jobs.errors import Unavailable

EngineName: TypeAlias = Literal["local", "dask"]


@contextmanager
def connected_engine(engine: EngineName, scheduler: str | None) -> Iterator[Engine | EngineName]:
    """Yield the engine for ism_core, connected to the Dask cluster if the job asks for it.

    Raises Unavailable if there is no cluster, or if the connection is lost.
    """
    if engine == "local":
        yield engine
        return
    if scheduler is None:
        raise Unavailable("The job needs a Dask cluster, but ISM_DASK_SCHEDULER is no longer set.")
    from ism_core.engines import Dask  # here, because importing Dask takes half a second

    try:
        with Dask(scheduler) as cluster:
            yield cluster
    except ClusterLost as lost:
        raise Unavailable(str(lost)) from lost
