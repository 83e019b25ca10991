"""What a job asks for: one model for each paradigm, and the validation that tells every problem in plain sentences."""

from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, ValidationInfo, field_validator

from ism_jobs.errors import FieldError
from ism_jobs.sentences import alternatives, did_you_mean, nearest, shown
from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.kernels import AlignedKernel, KernelName, KernelObject, terms
from ism_jobs.spec.messages import MOST_ERRORS, field_errors, refusal
from ism_jobs.spec.types import LONGEST_NAME, Names, Number, Truth, Whole, refused_with

ParadigmName = Literal["supervised", "unsupervised", "semi_supervised", "alternative"]
PARADIGM = "What the projection is wanted for."
PARADIGM_NAMES: tuple[ParadigmName, ...] = get_args(ParadigmName)

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
_Clusters = Annotated[int, Whole(1, 1_000)]
_Mu = Annotated[float, Number(0, 1e6)]


def _example(paradigm: ParadigmName, **fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [{"dataset": "3f9a1c52e07b4d68", "paradigm": paradigm} | fields]})


class SupervisedSpec(CommonSpec):
    """Keep what tells known classes apart, or what goes with measured values."""

    model_config = _example("supervised", target="class")

    paradigm: Literal["supervised"] = Field(description=PARADIGM)
    target: Annotated[str | list[str], Names(single=True)] = Field(
        description="The column with the classes or values to explain, or a list of columns of numbers.",
        examples=["class", ["weight", "height"]],
    )
    target_kind: Literal["auto", "classes", "values"] = Field(
        "auto",
        description='Whether the target holds "classes" or measured "values". "auto": text is classes, and so are whole'
        " numbers with at most 20 different values; other numbers are values, and so are several columns.",
    )
    balance: Annotated[bool, Truth()] = Field(
        False, description="Whether rare classes count for more: the indicators of all classes are given one length."
    )
    neighbors: Annotated[bool, Truth()] = Field(
        False,
        description="Whether what counts is the share that each row's own class has among its neighbors, rather than"
        " how far the kernel follows the classes. For gaussian kernels; takes all pairs of rows.",
    )

    @field_validator("neighbors")
    @classmethod
    def _check_neighbors(cls, neighbors: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")  # not there if it is wrong itself
        if neighbors is not True or kernel is None or isinstance(kernel, list):  # lists, of a grid: job by job
            return neighbors
        if not all(term.row.is_affinity for term in terms(kernel)):
            raise refused_with("neighbors is for gaussian kernels, whose values tell how near two rows are.")
        for other in ("balance", "approximation"):
            if info.data.get(other):
                raise refused_with(f"neighbors does not go with {other}; leave out one of the two.")
        return neighbors


class _Clustering(CommonSpec):
    """What the three paradigms that find clusters share."""

    clusters: _Clusters = Field(description="How many clusters to find; at most the number of rows.")
    reference: ColumnName | None = Field(
        None,
        description="A column of known classes to compare the clusters with (NMI) in the end; it is not learnt from.",
    )

    @field_validator("starts")
    @classmethod
    def _check_path(cls, starts: Any) -> Any:
        if starts == "path":
            raise refused_with('starts is "path", which is for supervised jobs; give a number, or leave it out.')
        return starts


def _given_weights(kernel: KernelName | KernelObject, paradigm: str, known: str) -> KernelName | KernelObject:
    if isinstance(kernel, AlignedKernel):
        raise refused_with(
            f"An aligned kernel takes its weights from a target or from scores, and {paradigm} job has {known};"
            ' give the weights yourself, as in {"sum": [{"weight": 1, "kernel": "gaussian"}, …]}.'
        )
    return kernel


class UnsupervisedSpec(_Clustering):
    """Find clusters, and the projection that shows them best."""

    model_config = _example("unsupervised", clusters=3, kernel="gaussian", q=2)

    paradigm: Literal["unsupervised"] = Field(description=PARADIGM)

    @field_validator("kernel")
    @classmethod
    def _check_kernel(cls, kernel: KernelName | KernelObject) -> KernelName | KernelObject:
        return _given_weights(kernel, "an unsupervised", "neither")


class SemiSupervisedSpec(_Clustering):
    """Find clusters that agree with expert scores, and the projection that shows them best."""

    model_config = _example("semi_supervised", scores="severity", clusters=3, mu=5.0)

    paradigm: Literal["semi_supervised"] = Field(description=PARADIGM)
    scores: Annotated[str | list[str], Names(single=True)] = Field(
        description="The column with the scores or labels that guide the clusters, or a list of columns of numbers."
        " Rows without a score are clustered without guidance.",
        examples=["severity", ["expert_1", "expert_2"]],
    )
    mu: _Mu = Field(5.0, description="How much the scores weigh against the structure of the data; 0 ignores them.")


class AlternativeSpec(_Clustering):
    """Find clusters that a clustering which is known already does not show."""

    model_config = _example("alternative", clustering="species", clusters=2, mu=20.0)

    paradigm: Literal["alternative"] = Field(description=PARADIGM)
    clustering: ColumnName = Field(description="The column with the clustering that is known already.")
    mu: _Mu = Field(20.0, description="How firmly the known clustering is avoided; 0 ignores it.")

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
    """The spec that this parsed JSON is, or an InvalidSpec with every problem in it."""
    spec, errors = examined(body)
    if spec is None:
        raise refusal(errors)
    return spec


def examined(body: Any, most: int = MOST_ERRORS) -> tuple[JobSpec | None, list[FieldError]]:
    """The spec and no errors, or none and every problem found, so many of them with a sentence."""
    if not isinstance(body, dict):
        example = '{"dataset": "…", "paradigm": "supervised", "target": "class"}'
        return None, [FieldError("", f"A job is an object such as {example}; {shown(body)} came.")]
    given = body.get("paradigm")
    model = SPECS.get(given) if isinstance(given, str) else None
    if model is not None:
        try:
            return model.model_validate(body), []
        except ValidationError as error:
            return None, field_errors(error, model, _OWNERS, most)
    guess = nearest(given, PARADIGM_NAMES) if isinstance(given, str) else None
    came = f"paradigm is {shown(given)}" if "paradigm" in body else "paradigm is missing"
    sentence = did_you_mean(came, guess, f"it must be {alternatives(PARADIGM_NAMES)}.")
    return None, [FieldError("paradigm", sentence), *_other_errors(body, guess)]


def _other_errors(body: dict[str, Any], guess: str | None) -> list[FieldError]:
    """What else is wrong, as far as it can be told without knowing the paradigm."""
    if guess is not None:
        return examined(body | {"paradigm": guess})[1]
    try:
        CommonSpec.model_validate({name: body[name] for name in CommonSpec.model_fields if name in body})
    except ValidationError as error:
        return field_errors(error, CommonSpec, _OWNERS)
    return []
