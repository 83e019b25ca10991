"""The catalogue of kernels and paradigms, with the parameters, defaults and ranges of their models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema

from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.kernel_table import KERNEL_TABLE, KernelRow
from ism_jobs.spec.kernels import AUTO, KERNELS, AlignedKernel, SumKernel
from ism_jobs.spec.paradigms import SPECS

Type = Literal["integer", "number", "string", "boolean", "array", "object", "null"]


class Parameter(BaseModel):
    """A parameter: its type, range and default."""

    name: str
    type: Type = Field(description="The JSON type of its value; if it may be a number or a word, that of the number.")
    types: list[Type] = Field(description="All JSON types that its value may have.")
    required: bool
    default: Any = Field(description="The value if none is given; null if there is no default.")
    minimum: int | float | None = Field(None, description="The smallest number allowed.")
    exclusive_minimum: int | float | None = Field(None, description="The number that the value must exceed.")
    maximum: int | float | None = Field(None, description="The largest number allowed.")
    choices: list[str | int] | None = Field(
        None, description="The words allowed, or the words allowed besides numbers in the range."
    )
    common: bool = Field(False, description="Whether every paradigm has it.")
    description: str


class KernelEntry(BaseModel):
    """A kernel, or a combination of kernels."""

    name: str
    title: str
    form: Literal["product", "difference", "combination"] = Field(
        description="How β is computed from two projected rows p: pi·pj (product) or ‖pi − pj‖² (difference)."
    )
    formula: str
    description: str
    parameters: list[Parameter]
    example: Any = Field(description="A value of the field kernel.")


class ParadigmEntry(BaseModel):
    """A paradigm: the purpose of a projection."""

    name: str
    title: str
    description: str
    parameters: list[Parameter]
    example: Annotated[dict[str, Any], WithJsonSchema({"x-schema": "PostedJob"})] = Field(description="A job.")


_CHOSEN = KernelEntry(
    name=AUTO,
    title="Choose from the data",
    form="difference",
    formula="f = exp(−β/2σ²), σ chosen",
    description="A Gaussian whose width is chosen from the data. Scale and q are chosen too, unless you give them."
    " Start here. Supervised jobs choose by cross-validation, and may use a sum of two widths. Clusterings use the"
    " candidate whose clusters agree best with those of the others; it may be a polynomial.",
    parameters=[],
    example=AUTO,
)
_TITLES = {
    "supervised": "Supervised",
    "unsupervised": "Unsupervised",
    "semi_supervised": "Semi-supervised",
    "alternative": "Alternative clustering",
}


def kernel_catalogue() -> list[KernelEntry]:
    """Return the automatic choice, every kernel of the table, then the combinations."""
    return [_CHOSEN, *(_kernel(row) for row in KERNEL_TABLE), *_combinations()]


def paradigm_catalogue() -> list[ParadigmEntry]:
    """Return every paradigm; its own parameters come first, then those that all share."""
    return [_paradigm(name, model) for name, model in SPECS.items()]


def _kernel(row: KernelRow) -> KernelEntry:
    model = KERNELS[row.name]
    return KernelEntry(
        name=row.name,
        title=row.title,
        form=row.form,
        formula=row.formula,
        description=row.description,
        parameters=[parameter for parameter in _parameters(model) if parameter.name != "name"],
        example=_example(model),
    )


def _combinations() -> list[KernelEntry]:
    return [
        KernelEntry(
            name="sum",
            title="Weighted sum",
            form="combination",
            formula="f = Σ weight · f",
            description="Several kernels with weights that you give.",
            parameters=_parameters(SumKernel),
            example=_example(SumKernel),
        ),
        KernelEntry(
            name="aligned",
            title="Aligned sum",
            form="combination",
            formula="f = Σ weight · f",
            description="Several kernels with weights found by centered alignment with the target or the scores;"
            " for supervised and semi-supervised jobs.",
            parameters=_parameters(AlignedKernel),
            example=_example(AlignedKernel),
        ),
    ]


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
    """Return the alternatives that a schema allows, none of them a union itself."""
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
