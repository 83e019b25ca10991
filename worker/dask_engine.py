"""Where the work on the rows of a job is done: in this process, or on a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from ism_core.engines.base import Engine
from ism_core.errors import ClusterLost
from ism_jobs.errors import Unavailable

EngineName: TypeAlias = Literal["local", "dask"]


@contextmanager
def connected(engine: EngineName, scheduler: str | None) -> Iterator[Engine | EngineName]:
    """What to give to ism_core as its engine; a cluster is connected to as long as it is needed."""
    if engine == "local":
        yield engine
        return
    if scheduler is None:
        raise Unavailable("The Dask cluster that the job asks for is gone: ISM_DASK_SCHEDULER is no longer set.")
    from ism_core.engines.dask import Dask  # only here: Dask takes half a second to import

    try:
        with Dask(scheduler) as cluster:
            yield cluster
    except ClusterLost as lost:
        raise Unavailable(str(lost)) from lost
