"""Hides pandas from a process that others are forked from, as `tools.local_service` does from a service."""

import sys


class Hiding:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
        return


sys.meta_path.insert(0, Hiding)
