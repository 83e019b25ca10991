"""Prepares a process that others are forked from: loads the compiled numerics, and hides pandas.

A service has no pandas. Where it is there, pyarrow and scikit-learn import it, which takes 0.3 s of CPU time.
"""

import sys


class WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


sys.meta_path.insert(0, WithoutPandas)

from ism_core.objective import preload_compiled  # noqa: E402

preload_compiled()
