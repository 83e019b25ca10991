"""Simulates the store with clients, workers and faults on a virtual clock: `make simulate`.

The Lua scripts and transactions run in a real Redis. Time, scheduling and faults follow from a seed, so a history that
breaks a promise can be repeated.
"""

from drills.simulation.history import History
from drills.simulation.invariants import Violation

__all__ = ["History", "Violation"]
