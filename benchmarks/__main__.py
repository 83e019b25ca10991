"""Measure speed, memory and accuracy beside limits and peers: `make bench`, under 15 minutes on 2 cores.

    python -m benchmarks [sections…] [--out folder]

Each section writes results.json, results.md and plots into the folder. A section that runs again replaces its last
results.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import PartFailed, Row
from benchmarks.out_of_core import passes
from benchmarks.report import save
from benchmarks.speed import growth, limit, manifolds, reductions, scale, transcription

SECTIONS: dict[str, Callable[[], Row]] = {
    "limit": limit.section,
    "growth": growth.section,
    "transcription": transcription.section,
    "unsupervised": scale.unsupervised,
    "wide": scale.wide,
    "million": scale.million,
    "cluster": scale.cluster,
    "passes": passes.section,
    "manifolds": manifolds.section,
    "reductions": reductions.section,
}


def main() -> int:
    parser = ArgumentParser("python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=f"one of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for the results")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; choose from {', '.join(SECTIONS)}")
    names = chosen.sections or list(SECTIONS)
    for index, name in enumerate(names, 1):
        print(f"[{index}/{len(names)}] {name}", file=sys.stderr, flush=True)
        results = save(chosen.out, name, run(SECTIONS[name]), SECTIONS)
    print((chosen.out / "results.md").read_text())
    print(f"Written to {chosen.out}: results.json, results.md, *.svg", file=sys.stderr)
    return int(any("failed" in results["sections"][name] for name in names))


def run(section: Callable[[], Row]) -> Row:
    """Return the results of a section, or its error if it failed."""
    began = time.perf_counter()
    try:
        found = section()
    except PartFailed as failure:
        print(failure, file=sys.stderr, flush=True)
        found = {"claims": [], "tables": {}, "failed": str(failure)}
    return {**found, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    sys.exit(main())
