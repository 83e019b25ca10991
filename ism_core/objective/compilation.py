"""Whether the machine code is in numba's cache, and the process that compiles it in the background.

Compiling takes about half a minute, once for each source, version of numba and processor. Until it is done, numpy takes
the place of the compiled code. A marker file says that it is done, because asking numba would import it.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import get_args

SOURCES = Path(__file__).parent / "compiled"

_ready = False  # of this process; a marker that was found is not looked for again
_compiler: subprocess.Popen[bytes] | None = None  # kept, so that nobody waits for it


def is_ready() -> bool:
    """Return whether compiled code can be used without a delay; if not, compile it in the background.

    It also counts as ready if numba is missing or nothing can be cached: then waiting would not help.
    """
    global _ready, _compiler
    if not _ready:
        marker = _marker()
        _ready = marker is None or marker.exists()
        if not _ready and _compiler is None:
            with suppress(OSError):
                _compiler = subprocess.Popen(
                    [sys.executable, "-m", "ism_core.objective.compiled"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # it outlives this process, so that the next one finds the code
                )
    return _ready


def preload() -> None:
    """Load the machine code if it is in the cache, so that processes forked from this one have it at once."""
    if is_ready() and _marker() is not None:
        _call_all()


def compile_all() -> None:
    """Compile everything into the cache, unless it is there or another process is about to."""
    marker = _marker()
    if marker is None or marker.exists():
        return
    marker.parent.mkdir(parents=True, exist_ok=True)
    with marker.with_name("compiling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            try:
                _call_all()
            finally:  # code that cannot be compiled here fails at once in every process, and its reason is logged there
                marker.touch()


def _call_all() -> None:
    """Call each compiled function once in each precision."""
    import numpy as np

    from ism_core.engines import ALONE
    from ism_core.gamma import Gamma, LabelGamma
    from ism_core.kernels import Gaussian, Kernel, Taylor
    from ism_core.objective import pairs, tiles
    from ism_core.objective.data import DTYPES, Precision
    from ism_core.objective.feature_blocks import features_of
    from ism_core.objective.neighbors import ClassNeighborGamma

    global _ready
    _ready = True  # in this process, which waits for it
    rows = pairs.COMPILED_ROWS
    P, classes = np.random.default_rng(0).standard_normal((rows, 2)), np.arange(rows) % 2
    gamma: Gamma = LabelGamma.of(classes)
    kernel: Kernel = Gaussian(1.0)
    placed = ALONE.place(P), ALONE.place(gamma), ALONE.place(kernel)
    for precision in get_args(Precision):
        tiles.half_gradient(*placed, np.eye(2), precision=precision, engine=ALONE)
        tiles.kernel_product(P, kernel, P, precision=precision, engine=ALONE)
        neighbors = pairs.neighbor_pairs_of(P, kernel, ClassNeighborGamma.of(classes), DTYPES[precision], ALONE)
        assert neighbors is not None
        neighbors.row_coefficients()
    features = features_of(Taylor(2, 3, 1.0), P, rows=10**9)
    features.times(features.gathered(P))


def _marker() -> Path | None:
    """Return the file that says that the code is in the cache; None if numba is missing or nothing can be cached.

    Its name depends on everything that numba compiles anew for, and its folder is the one that numba chooses.
    """
    try:
        from llvmlite import binding  # type: ignore[import-untyped]

        versions = sys.version, version("numba"), version("llvmlite")
    except (ImportError, OSError, PackageNotFoundError):
        return None
    sources = [(path.name, path.stat().st_mtime, path.stat().st_size) for path in sorted(SOURCES.glob("*.py"))]
    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    key = hashlib.sha256(repr((versions, sources, processor)).encode()).hexdigest()[:16]
    folders = [SOURCES / "__pycache__", Path.home() / ".cache" / "ism"]
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        folders = [Path(given)]
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder / f"compiled-{key}"
    return None
