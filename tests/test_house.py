"""The house rules that are cheap to check: files per folder, lines per module, layers, and who imports whom."""

import ast
from pathlib import Path

import pytest

from tools import house

NOT_INSTALLED = ("tests", "benchmarks", "drills", "tools")  # each may import those to its right, and what is installed


@pytest.mark.parametrize("package", [*house.PACKAGES, "tests"])
def test_every_package_folder_has_few_files(package: str) -> None:
    assert house.crowded_folders(package) == {}


@pytest.mark.parametrize("package", house.PACKAGES)
def test_every_module_is_short_enough_to_read(package: str) -> None:
    assert house.long_modules(package) == {}


@pytest.mark.parametrize("package", house.PACKAGES)
def test_every_module_is_long_enough_to_stand_alone(package: str) -> None:
    assert house.short_modules(package) == {}


def test_the_core_has_few_folders_and_files() -> None:
    core = house.ROOT / "ism_core"
    assert len(house.folders(core)) <= house.MAX_CORE_FOLDERS
    assert len(house.files(core)) <= house.MAX_CORE_FILES


def test_every_import_contract_has_few_layers() -> None:
    assert house.layers()
    assert all(count <= house.MAX_LAYERS for count in house.layers().values())


@pytest.mark.parametrize("package", house.PACKAGES)
def test_no_package_imports_the_tests_or_a_package_above_it(package: str) -> None:
    above = NOT_INSTALLED[: NOT_INSTALLED.index(package)] if package in NOT_INSTALLED else NOT_INSTALLED
    imported = {root for path in house.modules(package) for root in imported_roots(tree(path))}
    assert imported.isdisjoint(above)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported_roots(module: ast.Module) -> set[str]:
    """Return the top-level packages that a module imports anywhere."""
    names = [alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}
