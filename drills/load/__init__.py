"""The load drill: steady jobs and many followers of events on one `ism serve`."""

from drills.load.drill import SETTINGS, Scale, run

__all__ = ["SETTINGS", "Scale", "run"]
