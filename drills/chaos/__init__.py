"""The chaos drill: clients post jobs while random faults are injected, and every job is accounted for."""

from drills.chaos.drill import run
from drills.chaos.figures import Scale

__all__ = ["Scale", "run"]
