"""Tables that are read in parts, from disk or by the workers of a Dask cluster, and never held as a whole."""

from ism_core.objective.partitions.passes import Work, total
from ism_core.objective.partitions.table import ArrayPartitions, Block, Partitions, ScaledPartitions

__all__ = ["ArrayPartitions", "Block", "Partitions", "ScaledPartitions", "Work", "total"]
