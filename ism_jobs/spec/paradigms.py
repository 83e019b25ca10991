"""The specs of jobs: one model for each paradigm, and the validation that reports every problem of a spec."""

from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, ValidationInfo, field_validator

from ism_jobs.errors import FieldError
from ism_jobs.sentences import alternatives, did_you_mean, nearest, shown
from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.kernels import AlignedKernel, KernelName, KernelObject, terms
from ism_jobs.spec.messages import MOST_ERRORS, field_errors, refusal
from ism_jobs.spec.types import LONGEST_COLUMN_NAME, Boolean, Integer, Names, Number, RowPairs, refused_with

ParadigmName = Literal["supervised", "unsupervised", "semi_supervised", "alternative"]
PARADIGM = "The purpose of the projection."
PARADIGM_NAMES: tuple[ParadigmName, ...] = get_args(ParadigmName)

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_COLUMN_NAME)]
_Clusters = Annotated[int, Integer(1, 1_000)]
LARGEST_MU = 1e6  # a larger weight does not change W any more
_Mu = Annotated[float, Number(0, LARGEST_MU)]


def _example(paradigm: ParadigmName, **fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [{"dataset": "3f9a1c52e07b4d68", "paradigm": paradigm} | fields]})


class SupervisedSpec(CommonSpec):
    """Find the projection that separates known classes, or that explains measured values."""

    model_config = _example("supervised", target="class")

    paradigm: Literal["supervised"] = Field(description=PARADIGM)
    target: Annotated[str | list[str], Names(single=True)] = Field(
        description="The column with the classes or values to explain, or a list of columns of numbers.",
        examples=["class", ["weight", "height"]],
    )
    target_kind: Literal["auto", "classes", "values"] = Field(
        "auto",
        description='Whether the target holds "classes" or measured "values". "auto" decides: text, and whole numbers'
        " with at most 20 distinct values, are classes; other numbers, and several columns, are values.",
    )
    balance: Annotated[bool, Boolean()] = Field(
        False, description="Whether rare classes get the same weight as frequent ones."
    )
    neighbors: Annotated[bool, Boolean()] = Field(
        False,
        description="Whether neighbors predict each row: J is the share of each row's own class among its neighbors, or"
        " for values the variance that the mean of its neighbors explains. For Gaussian kernels; computes all pairs of"
        " rows.",
    )
    target_kernel: Literal["gaussian", "linear"] = Field(
        "gaussian",
        description="The kernel between measured values. With a linear one, and a linear or squared kernel, the first"
        " axis of each target is that of a linear regression, and the others are those of largest variance.",
    )

    validation: Literal["auto", "nested"] = Field(
        "auto",
        description='How the score of chosen settings is made honest. "auto" corrects the scores of the choice by a'
        ' bootstrap. "nested" is nested cross-validation: each fold chooses its own settings, which takes much longer.',
    )

    output: Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"\.parquet$")] | None = Field(
        None,
        description="The Parquet file into which the embedding of all rows is written, for a data set by reference: a"
        " path or a URI inside a place that the service allows.",
        examples=["s3://results/wine.parquet"],
    )

    @field_validator("neighbors")
    @classmethod
    def _check_neighbors(cls, neighbors: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")  # missing if it is invalid itself
        if (
            neighbors is not True or kernel is None or isinstance(kernel, list)
        ):  # lists are of a grid, whose jobs are checked one by one
            return neighbors
        if not all(term.row.is_affinity for term in terms(kernel)):
            raise refused_with("neighbors is for Gaussian kernels, whose values say how near two rows are.")
        for other in ("balance", "approximation"):
            if info.data.get(other):
                raise refused_with(f"neighbors cannot be combined with {other}; leave out one of the two.")
        return neighbors


class _Clustering(CommonSpec):
    """The fields of the three paradigms that find clusters."""

    clusters: _Clusters = Field(description="The number of clusters to find; at most the number of rows.")
    reference: ColumnName | None = Field(
        None,
        description="A column of known classes with which the clusters are compared (NMI). It is not learned from.",
    )

    @field_validator("starts")
    @classmethod
    def _check_path(cls, starts: Any) -> Any:
        if isinstance(starts, str):
            raise refused_with(f'starts is "{starts}", which is for supervised jobs; give a number, or leave it out.')
        return starts


def _given_weights(kernel: KernelName | KernelObject, paradigm: str, known: str) -> KernelName | KernelObject:
    if isinstance(kernel, AlignedKernel):
        raise refused_with(
            f"An aligned kernel finds its weights from a target or from scores, but {paradigm} job has {known};"
            ' give the weights yourself, as in {"sum": [{"weight": 1, "kernel": "gaussian"}, …]}.'
        )
    return kernel


class UnsupervisedSpec(_Clustering):
    """Find clusters, and the projection that separates them best."""

    model_config = _example("unsupervised", clusters=3, kernel="gaussian", q=2)

    paradigm: Literal["unsupervised"] = Field(description=PARADIGM)

    @field_validator("kernel")
    @classmethod
    def _check_kernel(cls, kernel: KernelName | KernelObject) -> KernelName | KernelObject:
        return _given_weights(kernel, "an unsupervised", "neither")


class SemiSupervisedSpec(_Clustering):
    """Find clusters that agree with expert scores, and the projection that separates them best."""

    model_config = _example("semi_supervised", scores="severity", clusters=3)

    paradigm: Literal["semi_supervised"] = Field(description=PARADIGM)
    must_link: Annotated[list[list[int]] | None, RowPairs()] = Field(
        None,
        description="Pairs of rows, numbered from 0, that belong to the same cluster. They, or cannot_link, take the"
        " place of scores.",
    )
    cannot_link: Annotated[list[list[int]] | None, RowPairs()] = Field(
        None,
        description="Pairs of rows, numbered from 0, that belong to different clusters.",
    )
    scores: Annotated[str | list[str] | None, Names(single=True, optional=True)] = Field(
        None,
        validate_default=True,
        description="The column with the scores or classes that guide the clusters, or a list of columns of numbers."
        " Rows without a score are clustered without guidance. Required without must_link and cannot_link.",
        examples=["severity", ["expert_1", "expert_2"]],
    )
    mu: Annotated[float | Literal["auto"], Number(0, LARGEST_MU, words=("auto",))] = Field(
        "auto",
        description="The weight of the scores against the structure of the data."
        ' "auto" is 50 for classes and 5 for numbers, divided by the share of rows with a score; rows with a'
        " class then stay in the cluster of that class. With 0, they still do, but the axes ignore the scores. If"
        " settings are chosen, mu is 0 unless guided axes predict withheld classes better. For pairs of rows"
        ' "auto" is 50 divided by the share of rows in a pair.',
    )

    @field_validator("scores")
    @classmethod
    def _check_guidance(cls, scores: Any, info: ValidationInfo) -> Any:
        if "must_link" not in info.data or "cannot_link" not in info.data:  # one of them is invalid itself
            return scores
        has_pairs = info.data["must_link"] or info.data["cannot_link"]
        if scores is None and not has_pairs:
            raise refused_with("scores is missing; name a column, or give pairs of rows in must_link or cannot_link.")
        if scores is not None and has_pairs:
            raise refused_with("scores cannot be combined with must_link and cannot_link; give one of the two.")
        return scores


class AlternativeSpec(_Clustering):
    """Find clusters that differ from a known clustering."""

    model_config = _example("alternative", clustering="species", clusters=2, mu=20.0)

    paradigm: Literal["alternative"] = Field(description=PARADIGM)
    clustering: ColumnName = Field(description="The column with the known clustering.")
    mu: _Mu = Field(20.0, description="The weight with which the known clustering is avoided; 0 ignores it.")

    @field_validator("kernel")
    @classmethod
    def _check_kernel(cls, kernel: KernelName | KernelObject) -> KernelName | KernelObject:
        return _given_weights(kernel, "an alternative clustering", "only a clustering to avoid")


JobSpec = Annotated[
    SupervisedSpec | UnsupervisedSpec | SemiSupervisedSpec | AlternativeSpec, Field(discriminator="paradigm")
]
JOB_SPEC: TypeAdapter[JobSpec] = TypeAdapter(JobSpec)
SPECS: dict[str, type[SupervisedSpec | UnsupervisedSpec | SemiSupervisedSpec | AlternativeSpec]] = {
    "supervised": SupervisedSpec,
    "unsupervised": UnsupervisedSpec,
    "semi_supervised": SemiSupervisedSpec,
    "alternative": AlternativeSpec,
}
_OWNERS = {
    field: [name for name, spec in SPECS.items() if field in spec.model_fields]
    for model in SPECS.values()
    for field in model.model_fields
    if field not in CommonSpec.model_fields
}


def read_spec(body: Any) -> JobSpec:
    """Return the spec of this parsed JSON; raise InvalidSpec with every problem in it."""
    spec, errors = validate(body)
    if spec is None:
        raise refusal(errors)
    return spec


def validate(body: Any, most: int = MOST_ERRORS) -> tuple[JobSpec | None, list[FieldError]]:
    """Return the spec and no errors, or None and every error; the first `most` errors have a sentence."""
    if not isinstance(body, dict):
        example = '{"dataset": "…", "paradigm": "supervised", "target": "class"}'
        return None, [FieldError("", f"A job must be an object such as {example}, not {shown(body)}.")]
    given = body.get("paradigm")
    model = SPECS.get(given) if isinstance(given, str) else None
    if model is not None:
        try:
            return model.model_validate(body), []
        except ValidationError as error:
            return None, field_errors(error, model, _OWNERS, most)
    guess = nearest(given, PARADIGM_NAMES) if isinstance(given, str) else None
    problem = f"paradigm is {shown(given)}" if "paradigm" in body else "paradigm is missing"
    sentence = did_you_mean(problem, guess, f"it must be {alternatives(PARADIGM_NAMES)}.")
    return None, [FieldError("paradigm", sentence), *_other_errors(body, guess)]


def _other_errors(body: dict[str, Any], guess: str | None) -> list[FieldError]:
    """Return the other errors of a spec whose paradigm is unknown."""
    if guess is not None:
        return validate(body | {"paradigm": guess})[1]
    try:
        CommonSpec.model_validate({name: body[name] for name in CommonSpec.model_fields if name in body})
    except ValidationError as error:
        return field_errors(error, CommonSpec, _OWNERS)
    return []
