"""The kernel of a job: a name, an object with parameters, a weighted sum, or a sum whose weights are found.

The models of single kernels are made from the rows of `kernel_table`.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    create_model,
    field_validator,
    model_validator,
)

from ism_jobs.sentences import alternatives
from ism_jobs.spec.kernel_table import KERNEL_TABLE, LARGEST, KernelRow
from ism_jobs.spec.types import Integer, Number, refused, refused_with

AUTO = "auto"  # in place of a kernel: the kernel is chosen from the data, and so are q and scale unless given
ROWS = {row.name: row for row in KERNEL_TABLE}
KERNEL_NAMES = tuple(ROWS)

# Tags of the union. They appear in the locations of pydantic's errors, and `messages` removes them.
NAME, OBJECT, SUM, ALIGNED = "<kernel name>", "<kernel object>", "<kernel sum>", "<kernel aligned>"


class Strict(BaseModel):
    """A part of a spec: it refuses unknown fields, and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SimpleKernel(Strict):
    """A kernel of the table, with its parameters."""

    name: str

    @property
    def row(self) -> KernelRow:
        """The kernel's row in the table."""
        return ROWS[self.name]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return self.model_dump(exclude={"name"})

    @property
    def has_automatic_width(self) -> bool:
        """Whether a parameter is to be chosen from the data."""
        return AUTO in self.parameters.values()

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        error = self.row.check(self.parameters) if self.row.check is not None else None
        if error is not None:
            raise refused_with(error)
        return self


def _model(row: KernelRow) -> type[SimpleKernel]:
    fields: dict[str, Any] = {"name": (Literal[row.name], Field(description="The kernel's name."))}
    for parameter in row.parameters:
        field = Field(parameter.default, description=parameter.description)
        fields[parameter.name] = (Annotated[Any, parameter.type], field)
    example: dict[str, Any] = {"name": row.name} | {parameter.name: parameter.default for parameter in row.parameters}
    name = "".join(part.capitalize() for part in row.name.split("_"))
    model = create_model(
        f"{name}Kernel",
        __base__=SimpleKernel,
        __doc__=f"{row.formula}. {row.description}",
        **fields,
    )
    model.model_config["json_schema_extra"] = {"examples": [example]}
    model.model_rebuild(force=True)
    return model


KERNELS = {row.name: _model(row) for row in KERNEL_TABLE}

if TYPE_CHECKING:
    KernelName: TypeAlias = str
    KernelChoice: TypeAlias = str
    _Object: TypeAlias = SimpleKernel
else:
    KernelName = Literal[KERNEL_NAMES]
    KernelChoice = Literal[(*KERNEL_NAMES, AUTO)]
    _Object = Annotated[Union[tuple(KERNELS.values())], Field(discriminator="name")]  # noqa: UP007


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


def _without_choice(kernel: KernelName | SimpleKernel) -> KernelName | SimpleKernel:
    if isinstance(kernel, SimpleKernel) and kernel.has_automatic_width:
        name = kernel.row.chosen_parameter
        raise refused_with(f'{name} is "auto", which is not allowed in a sum of kernels; give a number.')
    return kernel


class WeightedKernel(Strict):
    """A kernel and its weight in a sum."""

    weight: Annotated[float, Number(0, LARGEST)] = Field(1.0, description="The factor of this kernel.")
    kernel: SimpleKernelSpec = Field(description="A kernel's name, or an object with its parameters.")

    @field_validator("kernel")
    @classmethod
    def _check_choice(cls, kernel: KernelName | SimpleKernel) -> KernelName | SimpleKernel:
        return _without_choice(kernel)


class SumKernel(Strict):
    """Σ weight · kernel, with given weights."""

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
    """A sum of kernels whose weights are found by centered alignment with the target or the scores."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"aligned": ["gaussian", "linear", "polynomial"]}]})

    aligned: list[SimpleKernelSpec] = Field(min_length=2, max_length=10, description="The kernels to weight.")

    @field_validator("aligned")
    @classmethod
    def _check_choices(cls, kernels: list[KernelName | SimpleKernel]) -> list[KernelName | SimpleKernel]:
        return [_without_choice(kernel) for kernel in kernels]


KernelObject = SimpleKernel | SumKernel | AlignedKernel
KernelSpec = Annotated[
    Annotated[KernelChoice, Tag(NAME)]
    | Annotated[_Object, Tag(OBJECT)]
    | Annotated[SumKernel, Tag(SUM)]
    | Annotated[AlignedKernel, Tag(ALIGNED)],
    Discriminator(_form),
]


KERNEL: TypeAdapter[Any] = TypeAdapter(KernelSpec)


class Approximation(Strict):
    """Random features in place of all pairs of rows: the time is linear in the rows, not quadratic."""

    features: Annotated[int, Integer(16, 65_536)] = Field(
        description="The number m of random features; the error is proportional to 1/√m."
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
        rows = [term.row for term in terms(kernel)]
        without = [row.name for row in rows if row.features is None]
        random = [row.name for row in KERNEL_TABLE if row.features == "random"]
        if without:
            advice = f"Leave approximation out, or use {alternatives(random)}."
            raise refused_with(f"The {without[0]} kernel has no random features. {advice}")
        if not any(row.features == "random" for row in rows):
            raise refused_with(
                f"approximation is for a kernel with {alternatives(random)} in it. This kernel is computed exactly, in"
                " time linear in the rows. Leave approximation out."
            )


def has_width(kernel: KernelChoice | KernelObject) -> bool:
    """Return whether a job can follow the kernel from wide to narrow: a single one with a parameter to choose."""
    return not isinstance(kernel, SumKernel | AlignedKernel) and simple_kernel(kernel).row.chosen_parameter is not None


def has_automatic_width(kernel: KernelChoice | KernelObject) -> bool:
    """Return whether the width of the kernel is to be chosen."""
    return kernel == AUTO or (isinstance(kernel, SimpleKernel) and kernel.has_automatic_width)


def terms(kernel: KernelChoice | KernelObject) -> list[SimpleKernel]:
    """Return the single kernels that a kernel consists of, without those of weight 0."""
    if isinstance(kernel, SumKernel):
        return [simple_kernel(part.kernel) for part in kernel.sum if part.weight > 0]
    if isinstance(kernel, AlignedKernel):
        return [simple_kernel(part) for part in kernel.aligned]
    return [simple_kernel(kernel)]


def simple_kernel(kernel: KernelChoice | SimpleKernel) -> SimpleKernel:
    """Return a single kernel as an object with every parameter; "auto" is a Gaussian whose width is chosen."""
    if isinstance(kernel, SimpleKernel):
        return kernel
    given = {"name": "gaussian", "sigma": AUTO} if kernel == AUTO else {"name": kernel}
    return KERNELS[given["name"]].model_validate(given)


def kernel_object(kernel: KernelChoice | KernelObject) -> KernelObject:
    """Return a kernel in its normal form: an object, and objects in its parts, with every parameter."""
    if isinstance(kernel, SumKernel):
        return SumKernel(sum=[WeightedKernel(weight=p.weight, kernel=simple_kernel(p.kernel)) for p in kernel.sum])
    if isinstance(kernel, AlignedKernel):
        return AlignedKernel(aligned=[simple_kernel(part) for part in kernel.aligned])
    return simple_kernel(kernel)
