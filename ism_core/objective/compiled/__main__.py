"""Compile everything into numba's cache, with low priority: `python -m ism_core.objective.compiled`."""

import os

from ism_core.objective import compile_all

if __name__ == "__main__":
    os.nice(19)  # jobs come first
    compile_all()
