"""Compare automatic ISM with other methods on tables that it was not made on: `python -m benchmarks.unseen`.

    python -m benchmarks.unseen [classes] [values] [clusters] [--quick] [--tables …] [--methods …] [--again METHOD]

The tables are `tables/*.npz` (classes) and `targets/*.npz` (values) in the folder ISM_DATA_DIR. Reductions learn from a
random half of the rows, and are scored on the other half: accuracy at q = 2 and q = classes, R² at q = 2. Clusterings
get all rows and the number of classes. The scores are means over several halves or samples. Every cell that is done is
kept in the folder of the results, and a later run goes on from there; `--again ISM` measures a method anew.
"""

import json
import sys
import warnings
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.unseen.cells import KINDS, Cell, Size, measured, planned
from benchmarks.unseen.report import as_markdown
from benchmarks.unseen.tables import CLASSES, VALUES, names

FULL = Size(rows=3_000, clustered_rows=1_000, seeds=5)
QUICK = Size(rows=1_000, clustered_rows=400, seeds=2)


def main() -> int:
    parser = ArgumentParser("python -m benchmarks.unseen", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=[], help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="at most 1,000 rows, two halves")
    parser.add_argument("--tables", nargs="+", default=[], help="all by default")
    parser.add_argument("--methods", nargs="+", default=[], help="that are measured; all by default")
    parser.add_argument("--again", action="append", default=[], help="a method that is to be measured anew")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[1] / "results", help="folder for the results"
    )
    given = parser.parse_args()
    unknown = [kind for kind in given.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind {unknown[0]!r}; choose from {', '.join(KINDS)}")
    size = QUICK if given.quick else FULL
    given.out.mkdir(parents=True, exist_ok=True)
    stem = "unseen_quick" if given.quick else "unseen"
    figures = given.out / f"{stem}.jsonl"
    reported = [
        cell
        for kind in given.kinds or KINDS
        for table in names(VALUES if kind == "values" else CLASSES)
        if not given.tables or table in given.tables
        for cell in planned(kind, table, size)
    ]
    wanted = [cell for cell in reported if not given.methods or cell.method in given.methods]
    kept = _kept(figures)
    again = {cell.key for cell in wanted if cell.method in given.again}
    if again:
        kept = {key: cell for key, cell in kept.items() if key not in again}
        figures.write_text("".join(_line(cell) for cell in kept.values()))
    left = [cell for cell in wanted if cell.key not in kept]
    warnings.simplefilter("ignore")  # about classes with few rows, and iterations that were limited
    with threadpool_limits(1):
        for number, cell in enumerate(left, 1):
            done = kept[cell.key] = measured(cell, size)
            with figures.open("a") as file:
                file.write(_line(done))
            print(f"[{number}/{len(left)}]", *done.key, f"{done.score:.3f}", f"{done.seconds:.1f} s", done.chosen,
                  file=sys.stderr, flush=True)  # fmt: skip
    page = as_markdown(kept[cell.key] for cell in reported if cell.key in kept)
    (given.out / f"{stem}.md").write_text(page)
    print(page)
    return 0


def _kept(figures: Path) -> dict[tuple[str, str, str, str, int], Cell]:
    if not figures.exists():
        return {}
    cells = [Cell(**json.loads(line)) for line in figures.read_text().splitlines()]
    return {cell.key: cell for cell in cells}


def _line(cell: Cell) -> str:
    return json.dumps(asdict(cell)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
