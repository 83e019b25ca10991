"""Tables that are read in parts, from disk or by the workers of a Dask cluster, and never held as a whole."""

from ism_core.objective.partitions.data import BlockGammas, PartitionedData
from ism_core.objective.partitions.kept import Table, hold, read_again, with_scaling
from ism_core.objective.partitions.passes import Place, Work, total
from ism_core.objective.partitions.sources import feature_names, is_partitioned, partitions
from ism_core.objective.partitions.summary import Rows, Summary, pick
from ism_core.objective.partitions.table import BLOCK_ROWS, ArrayPartitions, Block, Partitions, ScaledPartitions

__all__ = [
    "BLOCK_ROWS",
    "ArrayPartitions",
    "Block",
    "BlockGammas",
    "PartitionedData",
    "Partitions",
    "Place",
    "Rows",
    "ScaledPartitions",
    "Summary",
    "Table",
    "Work",
    "feature_names",
    "hold",
    "is_partitioned",
    "partitions",
    "pick",
    "read_again",
    "total",
    "with_scaling",
]
