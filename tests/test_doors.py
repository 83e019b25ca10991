"""Rooms have doors: a module outside a sub-package imports the names in its `__all__`, and nothing from inside it."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "ism_cli", "ism_core", "ism_jobs", "ism_plots", "worker")
IMPORTERS = (*PACKAGES, "drills", "examples", "tests")  # benchmarks measure parts inside the rooms
WITHOUT_NAMES = {"ism_core.objective.compiled"}  # its modules are loaded by name, because they import numba
DOOR = ast.Expr | ast.Import | ast.ImportFrom | ast.Assign | ast.If  # `if TYPE_CHECKING`; `__getattr__` imports late


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for package in IMPORTERS for path in (ROOT / package).rglob("*.py")}
ROOMS = {  # sub-packages
    name for name, path in MODULES.items() if path.name == "__init__.py" and "." in name and name.startswith(PACKAGES)
}


@functools.cache
def public_names(room: str) -> set[str]:
    for statement in ast.parse(MODULES[room].read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(statement.value))
    return set()


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Each import as a line and the dotted name that it takes: of a module, or of a name in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def is_inside(importer: str, room: str) -> bool:
    """Tests count as part of the package that they test."""
    package = room.split(".")[0]
    return f"{importer}.".startswith((f"{room}.", f"tests.{package}."))


def passes_a_door(importer: str, name: str) -> bool:
    parts = name.split(".")
    for length in range(2, len(parts)):
        room = ".".join(parts[:length])
        if room in ROOMS and not is_inside(importer, room):
            return length < len(parts) - 1 or parts[length] not in public_names(room)
    return False


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_are_entered_by_their_doors(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for importer, path in MODULES.items()
        for line, name in imports(path)
        if name.startswith(f"{package}.") and passes_a_door(importer, name)
    ]
    assert wrong == []


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_door_says_what_its_room_is_for_and_defines_nothing(room: str) -> None:
    module = ast.parse(MODULES[room].read_text(encoding="utf-8"))
    assert ast.get_docstring(module)
    assert public_names(room) or room in WITHOUT_NAMES
    assert all(isinstance(node, DOOR) or getattr(node, "name", "") == "__getattr__" for node in module.body)
