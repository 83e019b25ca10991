"""Processes that are forked from one that has imported what they need, as the sandbox of the app forks its own."""

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from typing import Any


def forks_of(*modules: str) -> ForkServerContext:
    """Return the context of multiprocessing whose processes begin with these modules.

    There is one server for each process of the tests. If it was started with other modules, it is replaced.
    """
    server: Any = forkserver._forkserver
    if server._preload_modules != [*modules]:
        server._stop()
        server.set_forkserver_preload([*modules])
    return multiprocessing.get_context("forkserver")
