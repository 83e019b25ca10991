"""How a job names its kernel: a name, an object with parameters, a weighted sum, or a sum aligned with the labels.

And how it asks for an approximation of it. The ranges and defaults are those of `ism_core.kernels`, which this package
does not import.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from ism_jobs.sentences import figure
from ism_jobs.spec.types import Number, Whole, refused, refused_with

KernelName = Literal["linear", "squared", "polynomial", "gaussian", "relative_gaussian", "multiquadratic"]
KERNEL_NAMES: tuple[KernelName, ...] = get_args(KernelName)
KernelChoice = Literal["linear", "squared", "polynomial", "gaussian", "relative_gaussian", "multiquadratic", "auto"]
AUTO = "auto"  # in place of a kernel: one is chosen, and with it what else is not given

# Tags of the union; they stand in the locations of pydantic's errors, where `spec_errors` takes them out again.
NAME, OBJECT, SUM, ALIGNED = "<kernel name>", "<kernel object>", "<kernel sum>", "<kernel aligned>"

SMALLEST, LARGEST = 1e-50, 1e50  # of a kernel's parameters: their squares are still numbers
LARGEST_POWER = 1e100  # of c^degree: what is added to it is lost to rounding long before


class Strict(BaseModel):
    """A part of a spec: fields that are not known are refused, and it does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LinearKernel(Strict):
    """f = β, the product of two projected rows: linear discriminant analysis, in effect."""

    name: Literal["linear"] = Field(description="Which kernel.")


class SquaredKernel(Strict):
    """f = −β, the negative squared distance of two projected rows."""

    name: Literal["squared"] = Field(description="Which kernel.")


class PolynomialKernel(Strict):
    """f = (γβ + c)^degree, of the product β of two projected rows."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "polynomial", "degree": 3, "c": 1.0, "gamma": "auto"}]}
    )

    name: Literal["polynomial"] = Field(description="Which kernel.")
    degree: Annotated[int, Whole(1, 20)] = Field(3, description="The power.")
    c: Annotated[float, Number(SMALLEST, LARGEST, zero=True)] = Field(
        1.0, description="What is added before the power is taken; 0 leaves out all lower powers."
    )
    gamma: Annotated[float | Literal["auto", "path"], Number(SMALLEST, LARGEST, words=("auto", "path"))] = Field(
        "auto",
        description='The factor of the product; "auto" is 1 over the number of features that vary, "path" chooses'
        " one from there upwards.",
    )

    @model_validator(mode="after")
    def _check_power(self) -> "PolynomialKernel":
        if self.c > 1 and self.c > LARGEST_POWER ** (1 / self.degree):
            raise refused_with(
                f"c = {figure(self.c)} to the power of degree = {self.degree} is more than {figure(LARGEST_POWER)},"
                " too large to compute with; lower c or degree."
            )
        return self


class GaussianKernel(Strict):
    """f = exp(−β/2σ²), of the squared distance β of two projected rows."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "gaussian", "sigma": "median"}]})

    name: Literal["gaussian"] = Field(description="Which kernel.")
    sigma: Annotated[float | Literal["median", "auto"], Number(SMALLEST, LARGEST, words=("median", "auto"))] = Field(
        "median",
        description='The width; "median" is the median distance between the rows, all features considered,'
        ' "auto" chooses one from there downwards.',
    )


class RelativeGaussianKernel(Strict):
    """f = exp(−β/2σiσj), a gaussian that is wide where rows are sparse and narrow where they are dense."""

    name: Literal["relative_gaussian"] = Field(description="Which kernel.")
    neighbors: Annotated[int, Whole(1, 1_000)] = Field(
        7, description="σi is the distance from row i to its neighbor of this rank."
    )


class MultiquadraticKernel(Strict):
    """f = −√(β + c²), the negative distance of two projected rows, rounded off near 0."""

    name: Literal["multiquadratic"] = Field(description="Which kernel.")
    c: Annotated[float | Literal["auto"], Number(SMALLEST, LARGEST, words=("auto",))] = Field(
        1.0, description='Distances well below c count as equal; "auto" chooses c.'
    )


SimpleKernel = (
    LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel
)
KERNELS: dict[str, type[SimpleKernel]] = {
    "linear": LinearKernel,
    "squared": SquaredKernel,
    "polynomial": PolynomialKernel,
    "gaussian": GaussianKernel,
    "relative_gaussian": RelativeGaussianKernel,
    "multiquadratic": MultiquadraticKernel,
}
OPEN = {"gaussian": (("sigma", "auto"),), "multiquadratic": (("c", "auto"),), "polynomial": (("gamma", "path"),)}
NEARNESS = ("gaussian", "relative_gaussian")  # whose values tell how near two rows are
_Object = Annotated[SimpleKernel, Field(discriminator="name")]


def _simple_form(value: Any) -> str | None:
    if isinstance(value, str):
        return NAME
    return OBJECT if isinstance(value, dict | SimpleKernel) else None


def _form(value: Any) -> str | None:
    for tag, key, model in ((SUM, "sum", SumKernel), (ALIGNED, "aligned", AlignedKernel)):
        if isinstance(value, model) or (isinstance(value, dict) and key in value and "name" not in value):
            return tag
    return _simple_form(value)


SimpleKernelSpec = Annotated[
    Annotated[KernelName, Tag(NAME)] | Annotated[_Object, Tag(OBJECT)], Discriminator(_simple_form)
]


def _with_given_width(kernel: KernelName | SimpleKernel) -> KernelName | SimpleKernel:
    for name, word in OPEN.get(simple_kernel(kernel).name, ()):
        if getattr(kernel, name, None) == word:
            raise refused_with(f'{name} is "{word}", which chooses it for a kernel that stands alone; give a number.')
    return kernel


class WeightedKernel(Strict):
    """A kernel and its weight in a sum."""

    weight: Annotated[float, Number(0, LARGEST)] = Field(1.0, description="How much this kernel counts.")
    kernel: SimpleKernelSpec = Field(description="A kernel's name, or an object with its parameters.")

    @field_validator("kernel")
    @classmethod
    def _check_width(cls, kernel: KernelName | SimpleKernel) -> KernelName | SimpleKernel:
        return _with_given_width(kernel)


class SumKernel(Strict):
    """Σ weight · kernel, with the weights given."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"sum": [{"weight": 1.0, "kernel": "gaussian"}, {"weight": 0.5, "kernel": "linear"}]}]
        }
    )

    sum: list[WeightedKernel] = Field(min_length=1, max_length=10, description="The kernels and their weights.")

    @field_validator("sum")
    @classmethod
    def _check_weights(cls, parts: list[WeightedKernel]) -> list[WeightedKernel]:
        if not any(part.weight > 0 for part in parts):
            raise refused_with("All weights in the sum of kernels are 0; at least one must be more than 0.")
        return parts


class AlignedKernel(Strict):
    """A sum of kernels, each weighted by how well it goes with the target or the scores, given the others."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"aligned": ["gaussian", "linear", "polynomial"]}]})

    aligned: list[SimpleKernelSpec] = Field(min_length=2, max_length=10, description="The kernels to weigh.")

    @field_validator("aligned")
    @classmethod
    def _check_widths(cls, kernels: list[KernelName | SimpleKernel]) -> list[KernelName | SimpleKernel]:
        return [_with_given_width(kernel) for kernel in kernels]


KernelObject = SimpleKernel | SumKernel | AlignedKernel
KernelSpec = Annotated[
    Annotated[KernelChoice, Tag(NAME)]
    | Annotated[_Object, Tag(OBJECT)]
    | Annotated[SumKernel, Tag(SUM)]
    | Annotated[AlignedKernel, Tag(ALIGNED)],
    Discriminator(_form),
]


class Approximation(Strict):
    """Random features in place of all pairs of rows: the time grows with the rows, not with their square."""

    features: Annotated[int, Whole(16, 65_536)] = Field(
        description="How many; the error shrinks with the square root of their number."
    )

    @model_validator(mode="before")
    @classmethod
    def _check_form(cls, value: Any) -> Any:
        if not isinstance(value, dict | Approximation):
            raise refused('an object such as {"features": 2048}, or null for none')
        return value

    @staticmethod
    def check_kernel(kernel: KernelChoice | KernelObject) -> None:
        """Refuse a kernel that has no random features, or needs none."""
        names = {part.name for part in terms(kernel)}
        if "relative_gaussian" in names:
            raise refused_with(
                "A relative gaussian kernel has no random features: its width differs from row to row."
                ' Leave approximation out, or take the "gaussian" kernel.'
            )
        if not names & {"gaussian", "multiquadratic"}:
            raise refused_with(
                "approximation is for kernels with a gaussian or multiquadratic term; this one is computed exactly"
                " in time that grows with the rows only. Leave approximation out."
            )


def has_width(kernel: KernelChoice | KernelObject) -> bool:
    """Whether it can be reached from a wider one."""
    return not isinstance(kernel, SumKernel | AlignedKernel) and simple_kernel(kernel).name in OPEN


def has_open_width(kernel: KernelChoice | KernelObject) -> bool:
    """Whether the width of a kernel is to be chosen."""
    if kernel == AUTO:
        return True
    return not isinstance(kernel, str | SumKernel | AlignedKernel) and any(
        getattr(kernel, name) == word for name, word in OPEN.get(kernel.name, ())
    )


def terms(kernel: KernelChoice | KernelObject) -> list[SimpleKernel]:
    """The kernels that a kernel is made of; those of weight 0 are not."""
    if isinstance(kernel, SumKernel):
        return [simple_kernel(part.kernel) for part in kernel.sum if part.weight > 0]
    if isinstance(kernel, AlignedKernel):
        return [simple_kernel(part) for part in kernel.aligned]
    return [simple_kernel(kernel)]


def simple_kernel(kernel: KernelChoice | SimpleKernel) -> SimpleKernel:
    """The kernel as an object with every parameter, from itself or from its name."""
    if kernel == AUTO:
        return GaussianKernel(name="gaussian", sigma="auto")
    return KERNELS[kernel].model_validate({"name": kernel}) if isinstance(kernel, str) else kernel


def kernel_object(kernel: KernelChoice | KernelObject) -> KernelObject:
    """The one normal form of a kernel spec: an object, and objects in its parts, with every parameter."""
    if isinstance(kernel, SumKernel):
        return SumKernel(sum=[WeightedKernel(weight=p.weight, kernel=simple_kernel(p.kernel)) for p in kernel.sum])
    if isinstance(kernel, AlignedKernel):
        return AlignedKernel(aligned=[simple_kernel(part) for part in kernel.aligned])
    return simple_kernel(kernel)
