"""Run the planted exam: do rankings of features find the answer of problems whose answer is known?

    python -m benchmarks.planted [family …] [--quick] [--resume] [--again method] [--out folder]

Each family has 17 seeded problems. ISM runs with settings that it chooses from the data (`SupervisedISM("auto",
"auto")`, or a job with nothing but data set, paradigm and target), and with the defaults of its estimator
(`SupervisedISM("gaussian")`). The peers are LDA (ridge for values), PLS, NCA, a random forest and HSIC Lasso.
"""

import json
import sys
import time
import warnings
from argparse import ArgumentParser
from pathlib import Path

from benchmarks.measuring import Row, load_compiled, run_part, say, serve_parts
from benchmarks.planted.families import FAMILIES, PROBLEMS, QUICK_PROBLEMS, problem
from benchmarks.planted.ism import found_by_ism
from benchmarks.planted.measures import angle, of_columns, ranking_measures
from benchmarks.planted.peers import PEERS, ranking
from benchmarks.planted.report import ISM, ISM_GAUSSIAN, as_markdown, claims_of

METHODS = (ISM, ISM_GAUSSIAN, *PEERS)


def cells(family: str, method: str, count: int) -> Row:
    """Measure one method on the problems of one family."""
    warnings.simplefilter("ignore")  # about convergence and collinear columns
    if method not in PEERS:
        load_compiled()
    rows = []
    for number in range(count):
        rows.append({"number": number, **measured(family, method, number)})
        say(", ".join(f"{name} {value:.3g}" for name, value in rows[-1].items() if value is not None))
    return {"rows": rows}


def measured(family: str, method: str, number: int) -> Row:
    """Measure one method on one problem."""
    posed = problem(family, number)
    began = time.perf_counter()
    if method in PEERS:
        encoded, ranked = ranking(method, posed)
        importance, axes, rows, q = (
            of_columns(posed, encoded.column, ranked.importance),
            ranked.axes,
            encoded.rows,
            None,
        )
    else:
        found = found_by_ism(posed, is_chosen=method == ISM)
        importance, axes, rows, q = found.importance, found.axes, found.rows, found.axes.shape[1]
    seconds = time.perf_counter() - began
    true, clean = posed.true_axes(rows)
    turned = None if axes is None else angle(true[clean], axes[clean])
    size = {"n": posed.n, "d": len(posed.columns), "k": len(posed.relevant), "true_q": posed.q}
    return {**size, **ranking_measures(posed, importance), "angle": turned, "q": q, "seconds": seconds}


def main() -> int:
    parser = ArgumentParser("python -m benchmarks.planted", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("families", nargs="*", default=[], help=f"of {', '.join(FAMILIES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the problems")
    parser.add_argument("--resume", action="store_true", help="keep the figures that the folder already has")
    parser.add_argument("--again", action="append", default=[], choices=METHODS, help="with --resume: but not these")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[1] / "results", help="folder for the results"
    )
    chosen = parser.parse_args()
    names = chosen.families or list(FAMILIES)
    unknown = [name for name in names if name not in FAMILIES]
    if unknown:
        parser.error(f"unknown family {unknown[0]!r}; choose from {', '.join(FAMILIES)}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    name = "planted_quick" if chosen.quick else "planted"
    figures = chosen.out / f"{name}.json"
    kept: Row = json.loads(figures.read_text()) if chosen.resume and figures.exists() else {}
    count = QUICK_PROBLEMS if chosen.quick else PROBLEMS
    parts = [(f"{family}: {method}", family, method) for family in names for method in METHODS]
    for key, _, method in parts:
        if method in chosen.again:
            kept.pop(key, None)
    for place, (key, family, method) in enumerate(parts, 1):
        if key not in kept:
            print(f"[{place}/{len(parts)}] {key}", file=sys.stderr, flush=True)
            kept[key] = run_part("planted", "cells", family=family, method=method, count=count)
            figures.write_text(json.dumps(kept, indent=1))
    rows = {(family, method): kept[key]["rows"] for key, family, method in parts}
    claims = claims_of(rows, names)
    text = as_markdown(rows, names, METHODS, claims)
    (chosen.out / f"{name}.md").write_text(text)
    print(text)
    return int(not all(each["met"] for each in claims))


if __name__ == "__main__":
    if "--part" in sys.argv:
        serve_parts(cells)
    else:
        sys.exit(main())
