"""What there is to choose from: kernels and paradigms, with the parameters, defaults and ranges of their models."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.kernels import AUTO, KERNELS, AlignedKernel, SumKernel
from ism_jobs.spec.paradigms import SPECS

Type = Literal["integer", "number", "string", "boolean", "array", "object", "null"]


class Parameter(BaseModel):
    """One setting: what it may be, and what it is unless given."""

    name: str
    type: Type = Field(description="The JSON type of its value; a number's, where it may also be a word.")
    types: list[Type] = Field(description="All JSON types that its value may have.")
    required: bool
    default: Any = Field(description="What it is unless given; null where there is no default.")
    minimum: int | float | None = Field(None, description="The smallest number allowed.")
    exclusive_minimum: int | float | None = Field(None, description="The number that a number must be above.")
    maximum: int | float | None = Field(None, description="The largest number allowed.")
    choices: list[str | int] | None = Field(
        None, description="The words allowed, or those allowed beside a number in the range."
    )
    common: bool = Field(False, description="Whether every paradigm has it.")
    description: str


class KernelEntry(BaseModel):
    """A kernel, or a way of combining kernels."""

    name: str
    title: str
    form: Literal["product", "difference", "combination"] = Field(
        description="What two projected rows p are compared by: β = pi·pj (product), β = ‖pi − pj‖² (difference)."
    )
    formula: str
    description: str
    parameters: list[Parameter]
    example: Any = Field(description="A value of the field kernel.")


class ParadigmEntry(BaseModel):
    """What a projection can be wanted for."""

    name: str
    title: str
    description: str
    parameters: list[Parameter]
    example: dict[str, Any] = Field(description="A job.")


_ABOUT: dict[str, tuple[str, Literal["product", "difference", "combination"], str, str]] = {
    "linear": ("Linear", "product", "f = β", "Straight boundaries: much as linear discriminant analysis. Fast."),
    "squared": ("Squared distance", "difference", "f = −β", "Class means far apart, classes tight. Fast."),
    "polynomial": ("Polynomial", "product", "f = (γβ + c)^degree", "Products of features up to the degree. Fast."),
    "gaussian": ("Gaussian", "difference", "f = exp(−β/2σ²)", "Nearby rows are alike: the one to try first."),
    "relative_gaussian": (
        "Relative gaussian",
        "difference",
        "f = exp(−β/2σiσj)",
        "A gaussian with a width for each row, for data that are dense in some places and sparse in others.",
    ),
    "multiquadratic": (
        "Multiquadratic",
        "difference",
        "f = −√(β + c²)",
        "The distance itself, not its square: distant rows count less than with the squared distance.",
    ),
    "sum": ("Weighted sum", "combination", "f = Σ weight · f", "Several kernels with weights that you give."),
    "aligned": (
        "Aligned sum",
        "combination",
        "f = Σ weight · f",
        "Several kernels with weights found by centered alignment with the target or the scores;"
        " for supervised and semi-supervised jobs.",
    ),
}
_AUTO: tuple[str, Literal["difference"], str, str] = (
    "Let the program choose",
    "difference",
    "f = exp(−β/2σ²), σ chosen",
    "A gaussian whose width is chosen, and with it scale and q unless they are given: what to begin with."
    " Supervised jobs are cross-validated for it, and may take a sum of two widths; clusterings take what most settings"
    " agree on, which may be a polynomial.",
)
_TITLES = {
    "supervised": "Supervised",
    "unsupervised": "Unsupervised",
    "semi_supervised": "Semi-supervised",
    "alternative": "Alternative clustering",
}


def kernel_catalogue() -> list[KernelEntry]:
    """The choice of one, every kernel, then the ways of combining them."""
    models: dict[str, type[BaseModel]] = {**KERNELS, "sum": SumKernel, "aligned": AlignedKernel}
    title, form, formula, description = _AUTO
    auto = KernelEntry(
        name=AUTO, title=title, form=form, formula=formula, description=description, parameters=[], example=AUTO
    )
    return [auto, *(_kernel(name, model) for name, model in models.items())]


def paradigm_catalogue() -> list[ParadigmEntry]:
    """Every paradigm; its own parameters come first, then those that all have."""
    return [_paradigm(name, model) for name, model in SPECS.items()]


def _kernel(name: str, model: type[BaseModel]) -> KernelEntry:
    title, form, formula, description = _ABOUT[name]
    parameters = [parameter for parameter in _parameters(model) if parameter.name != "name"]
    example = {"name": name} | {parameter.name: parameter.default for parameter in parameters}
    if form == "combination":
        example = _example(model)
    return KernelEntry(
        name=name,
        title=title,
        form=form,
        formula=formula,
        description=description,
        parameters=parameters,
        example=example,
    )


def _paradigm(name: str, model: type[BaseModel]) -> ParadigmEntry:
    parameters = [parameter for parameter in _parameters(model) if parameter.name != "paradigm"]
    return ParadigmEntry(
        name=name,
        title=_TITLES[name],
        description=(model.__doc__ or "").strip(),
        parameters=sorted(parameters, key=lambda parameter: parameter.common),
        example=_example(model),
    )


def _example(model: type[BaseModel]) -> dict[str, Any]:
    example: dict[str, Any] = model.model_json_schema()["examples"][0]
    return example


def _parameters(model: type[BaseModel]) -> list[Parameter]:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    required = schema.get("required", [])
    return [
        Parameter(
            name=name,
            required=name in required,
            default={} if name == "metadata" else field.get("default"),
            common=name in CommonSpec.model_fields and issubclass(model, CommonSpec),
            description=field.get("description", ""),
            **_range(_flat(field, definitions)),
        )
        for name, field in schema["properties"].items()
    ]


def _flat(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives that a schema allows, none of them a union itself."""
    if "$ref" in schema:
        return _flat(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return [flat for option in schema[union] for flat in _flat(option, definitions)]
    return [schema]


def _range(options: list[dict[str, Any]]) -> dict[str, Any]:
    choices = [
        choice for option in options for choice in option.get("enum", [option.get("const")]) if choice is not None
    ]
    number = next((option for option in options if "maximum" in option), {})
    types = list(dict.fromkeys(option["type"] for option in options))
    return {
        "type": number.get("type", types[0]),
        "types": types,
        "minimum": number.get("minimum"),
        "exclusive_minimum": number.get("exclusiveMinimum"),
        "maximum": number.get("maximum"),
        "choices": choices or None,
    }
