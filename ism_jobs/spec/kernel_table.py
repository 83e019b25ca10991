"""The table of kernels. To add a kernel, write its class in `ism_core.kernels.family` and a row here.

From a row follow the model of the kernel's JSON, its error messages, its entry in the catalogue (`GET /kernels`, from
which the page builds its form) and the call of the class. The name of a kernel is its class's name in snake case. The
parameters have the names and defaults of the class; this package cannot import the class, so a test compares them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ism_jobs.sentences import figure
from ism_jobs.spec.types import Integer, Number

SMALLEST, LARGEST = 1e-50, 1e50  # of a kernel's parameters: their squares neither underflow nor overflow
LARGEST_POWER = 1e100  # of c^degree: its square, summed over all pairs of rows, does not overflow

Form = Literal["product", "difference"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. If "auto" is one of the words of its type, a job can choose the value from the data."""

    name: str
    type: Number | Integer
    default: float | str
    description: str


@dataclass(frozen=True)
class KernelRow:
    """A kernel f(β).

    features: "exact" if f′ is a finite sum of features, "random" if random features approximate it, else None
    is_affinity: whether f is nonnegative and decreases with the distance, so that it can be used as an affinity
    check: returns what is wrong with the parameters together, or None
    """

    name: str
    title: str
    form: Form
    formula: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    features: Literal["exact", "random"] | None = None
    is_affinity: bool = False
    check: Callable[[Mapping[str, Any]], str | None] | None = None

    @property
    def chosen_parameter(self) -> str | None:
        """The parameter that can be "auto"; None if the kernel has none."""
        words = ((parameter.name, getattr(parameter.type, "words", ())) for parameter in self.parameters)
        return next((name for name, allowed in words if "auto" in allowed), None)


def _power_error(values: Mapping[str, Any]) -> str | None:
    c, degree = values["c"], values["degree"]
    if c <= 1 or c <= LARGEST_POWER ** (1 / degree):
        return None
    return (
        f"c = {figure(c)} to the power of degree = {degree} is more than {figure(LARGEST_POWER)}, too large to compute"
        " with; lower c or degree."
    )


KERNEL_TABLE = (
    KernelRow(
        "linear",
        "Linear",
        "product",
        "f = β",
        "Finds linear boundaries between classes, much as linear discriminant analysis does. It is fast.",
        features="exact",
    ),
    KernelRow(
        "squared",
        "Squared distance",
        "difference",
        "f = −β",
        "Moves class means apart and rows of a class together. It is fast.",
        features="exact",
    ),
    KernelRow(
        "polynomial",
        "Polynomial",
        "product",
        "f = (γβ + c)^degree",
        "Uses products of up to `degree` features. It is fast.",
        (
            Parameter("degree", Integer(1, 20), 3, "The power."),
            Parameter(
                "c",
                Number(SMALLEST, LARGEST, zero=True),
                1.0,
                "The number added before the power is taken; 0 leaves out all lower powers.",
            ),
            Parameter(
                "gamma",
                Number(SMALLEST, LARGEST, words=("1/d", "auto")),
                "1/d",
                'The factor γ of the inner product. "1/d" is 1 over the number of features that vary; "auto" chooses a'
                " value of at least that from the data.",
            ),
        ),
        features="exact",
        check=_power_error,
    ),
    KernelRow(
        "gaussian",
        "Gaussian",
        "difference",
        "f = exp(−β/2σ²)",
        "Two rows are similar if they are near each other. Try this kernel first.",
        (
            Parameter(
                "sigma",
                Number(SMALLEST, LARGEST, words=("median", "auto")),
                "median",
                'The width. "median" is the median distance between rows, by all features; "auto" chooses a width'
                " of at most that from the data.",
            ),
        ),
        features="random",
        is_affinity=True,
    ),
    KernelRow(
        "relative_gaussian",
        "Relative Gaussian",
        "difference",
        "f = exp(−β/2σiσj)",
        "A Gaussian with a width for each row, for data that are dense in some regions and sparse in others.",
        (Parameter("neighbors", Integer(1, 1_000), 7, "σi is the distance from row i to its neighbor of this rank."),),
        is_affinity=True,
    ),
    KernelRow(
        "multiquadratic",
        "Multiquadratic",
        "difference",
        "f = −√(β + c²)",
        "The distance itself, not its square: distant rows count less than with the squared distance.",
        (
            Parameter(
                "c",
                Number(SMALLEST, LARGEST, words=("auto",)),
                1.0,
                'Distances well below c count as equal. "auto" is chosen from the data.',
            ),
        ),
        features="random",
    ),
)
