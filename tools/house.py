"""Count what the house rules limit: folders, files, lines and layers of the packages."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTALLED = ("app", "ism_cli", "ism_client", "ism_core", "ism_jobs", "ism_plots", "worker")
PACKAGES = (*INSTALLED, "benchmarks", "drills", "tools")

MAX_FILES = 14  # files of one package folder
MAX_LAYERS = 10  # layers of one import contract
MAX_MODULE_LINES = 300
MIN_MODULE_LINES = 30  # of a module that is neither a door (`__init__`) nor an entry point (`__main__`)
MAX_CORE_FOLDERS = 7  # sub-packages of ism_core
MAX_CORE_FILES = 8  # files of ism_core itself, `py.typed` aside
MAX_CORE_LINES = 8_500  # lines of ism_core in all


def modules(package: str) -> Iterator[Path]:
    """Yield the Python files of a package, sub-packages included."""
    yield from sorted((ROOT / package).rglob("*.py"))


def name(path: Path) -> str:
    """Return the path of a file or folder as the repository shows it."""
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text().splitlines())


def folders(path: Path) -> list[Path]:
    """Return the package folders directly inside a folder."""
    return sorted(inner for inner in path.iterdir() if (inner / "__init__.py").is_file())


def files(path: Path) -> list[Path]:
    """Return the files directly inside a folder, `py.typed` aside."""
    return sorted(inner for inner in path.iterdir() if inner.is_file() and inner.name != "py.typed")


def crowded_folders(package: str) -> dict[str, int]:
    """Return the package folders with too many files, with their number of files."""
    parents = {path.parent for path in modules(package)}
    counts = {name(folder): len(files(folder)) for folder in parents if (folder / "__init__.py").is_file()}
    return {folder: count for folder, count in sorted(counts.items()) if count > MAX_FILES}


def long_modules(package: str) -> dict[str, int]:
    """Return the modules that should be split, with their number of lines."""
    return {name(path): count for path in modules(package) if (count := lines(path)) > MAX_MODULE_LINES}


def short_modules(package: str) -> dict[str, int]:
    """Return the modules that should join a neighbor, with their number of lines."""
    own = [path for path in modules(package) if not path.name.startswith("__")]
    return {name(path): count for path in own if (count := lines(path)) < MIN_MODULE_LINES}


def layers() -> dict[str, int]:
    """Return the number of layers of each import contract that has some."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    return {contract["name"]: len(contract["layers"]) for contract in contracts if "layers" in contract}
