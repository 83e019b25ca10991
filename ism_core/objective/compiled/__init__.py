"""Sums over many rows, compiled by numba. If numba cannot be loaded, numpy computes the same sums more slowly."""

import logging
from functools import cache
from importlib import import_module
from types import ModuleType

logger = logging.getLogger(__name__)

_failures: list[str] = []  # of this process


@cache
def load(name: str) -> ModuleType | None:
    """Import a module of this package; if that fails, log the first failure and return None."""
    try:
        return import_module(f"{__name__}.{name}")
    except Exception as error:  # numba is missing, or does not work with the numpy that it finds
        if not _failures:
            logger.warning("Compiled code cannot be loaded; numpy takes its place, more slowly.", exc_info=True)
        _failures.append(f"{type(error).__name__}: {error}")
        return None


def load_failure() -> str | None:
    """Return why compiled code could not be loaded in this process; None if it was not needed, or was loaded."""
    return _failures[0] if _failures else None
