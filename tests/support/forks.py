"""Processes that are forked from one that has imported what they need, as the sandbox of the app forks its own."""

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from typing import Any

_servers: dict[tuple[str, ...], Any] = {}


def forks_of(*modules: str) -> ForkServerContext:
    """Return the context of multiprocessing whose next processes begin with these modules.

    Each list of modules has a server of its own, which runs as long as the process of the tests.
    """
    server: Any = _servers.setdefault(modules, forkserver.ForkServer())  # type: ignore[attr-defined]
    server.set_forkserver_preload([*modules])
    for name in ("ensure_running", "connect_to_new_process", "get_inherited_fds", "set_forkserver_preload"):
        setattr(forkserver, name, getattr(server, name))
    return multiprocessing.get_context("forkserver")
