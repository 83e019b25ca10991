"""Statistics of the columns of a table, collected block by block."""

from ism_jobs.tables.statistics.numbers import Counters, DistinctNumbers, NumberStatistics
from ism_jobs.tables.statistics.texts import TextCounts

__all__ = ["Counters", "DistinctNumbers", "NumberStatistics", "TextCounts"]
