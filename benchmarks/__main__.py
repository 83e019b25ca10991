"""All figures of speed, each a ratio measured side by side in one run: `make bench`, under 15 minutes on 2 cores.

    python -m benchmarks [sections…] [--out folder]

Writes results.json, results.md and plots into the folder, after each section; a section that is run again takes the
place of what the folder held of it.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import PartFailed, Row
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
    "manifolds": manifolds.section,
    "reductions": reductions.section,
}


def main() -> int:
    parser = ArgumentParser("python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="where results go")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}; the sections are {', '.join(SECTIONS)}")
    names = chosen.sections or list(SECTIONS)
    for index, name in enumerate(names, 1):
        print(f"[{index}/{len(names)}] {name}", file=sys.stderr, flush=True)
        results = save(chosen.out, name, run(SECTIONS[name]), SECTIONS)
    print((chosen.out / "results.md").read_text())
    print(f"Written to {chosen.out}: results.json, results.md, *.svg", file=sys.stderr)
    return int(any("failed" in results["sections"][name] for name in names))


def run(section: Callable[[], Row]) -> Row:
    """What the section found, or why it failed: the others go on."""
    began = time.perf_counter()
    try:
        found = section()
    except PartFailed as failure:
        print(failure, file=sys.stderr, flush=True)
        found = {"claims": [], "tables": {}, "failed": str(failure)}
    return {**found, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    sys.exit(main())
