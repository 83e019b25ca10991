"""Loads the compiled numerics, in a process that others are forked from."""

from ism_core.objective import preload_compiled

preload_compiled()
