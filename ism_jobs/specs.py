"""What a job asks for: one model for each paradigm, and the validation that tells every problem in plain sentences."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ism_jobs.errors import FieldError
from ism_jobs.field_types import LONGEST_NAME, Names, Number, Truth, Whole, refused_with
from ism_jobs.kernel_specs import (
    AUTO,
    AlignedKernel,
    Approximation,
    KernelName,
    KernelObject,
    KernelSpec,
    Strict,
    has_open_width,
    has_width,
)
from ism_jobs.spec_errors import field_errors, refusal
from ism_jobs.wording import asked, choice, nearest, shown

ParadigmName = Literal["supervised", "unsupervised", "semi_supervised", "alternative"]
PARADIGM = "What the projection is wanted for."
PARADIGM_NAMES: tuple[ParadigmName, ...] = get_args(ParadigmName)

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
_Clusters = Annotated[int, Whole(1, 1_000)]
_Mu = Annotated[float, Number(0, 1e6)]
_MetadataText = Annotated[str, StringConstraints(max_length=500)]
_MetadataKey = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class CommonSpec(Strict):
    """What every job says: which table, which kernel, how many new features, and how the table becomes numbers."""

    dataset: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="The id of an uploaded data set.", examples=["3f9a1c52e07b4d68"]
    )
    kernel: KernelSpec = Field(
        "gaussian",
        description="By what two projected rows are compared: a kernel's name, an object with its parameters,"
        ' a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores;'
        ' "auto" is a gaussian whose width is chosen, and with it whatever of q and scale is not given.',
        examples=["gaussian", {"name": "polynomial", "degree": 3}, "auto"],
    )
    q: Annotated[int | Literal["auto"] | None, Whole(1, 20_000, word="auto", optional=True)] = Field(
        None,
        description='How many new features to find; at most the number of features. "auto" chooses, as is the default'
        ' where the kernel is "auto"; else the default is 2.',
    )
    features_per_axis: Annotated[int | None, Whole(1, 20_000, optional=True)] = Field(
        None,
        description="At most how many features make up each new one: those that are chosen lose as little of the"
        " objective as can be found. By default all may.",
        examples=[5],
    )
    delta: Annotated[float | None, Number(0, 1, above=True, optional=True)] = Field(
        None,
        description="How still the eigenvalues must stand, as a relative change, before the iteration ends."
        " By default 0.01, and 0.1 where the width of the kernel is chosen.",
    )
    features: Annotated[list[str] | None, Names(optional=True)] = Field(
        None,
        description="The columns to learn from. By default all that have no other part in the job"
        " (target, scores, clustering, reference).",
        examples=[["alcohol", "malic_acid", "ash"]],
    )
    categorical: Literal["refuse", "onehot"] = Field(
        "refuse",
        description='What to do with text features: refuse the job, or "onehot": a 0/1 feature for each level.',
    )
    missing: Literal["refuse", "mean", "drop"] = Field(
        "refuse",
        description='What to do with missing values in features: refuse the job, fill in the column\'s "mean",'
        ' or "drop" the rows. "drop" also drops rows without a target.',
    )
    scale: Literal["standard", "whiten", "none", "auto"] | None = Field(
        None,
        description='"standard" brings every feature to mean 0 and standard deviation 1 first; "whiten" then makes all'
        ' directions vary alike, within classes where these are given; "auto" chooses between the two, as is the'
        ' default where the kernel is "auto". Else the default is "standard".',
    )
    max_iter: Annotated[int, Whole(1, 100_000)] = Field(300, description="How many iterations to take at most.")
    starts: Annotated[int | Literal["path"] | None, Whole(1, 1_000, word="path", optional=True)] = Field(
        None,
        description="How many starting points to try. By default 3 for supervised jobs and 1 for the others;"
        ' 1 is the paper\'s own start alone. "path" follows the kernel from wide to narrow, which is the default for a'
        " gaussian narrower than the median distance and for a width that is chosen; supervised jobs only.",
    )
    seed: Annotated[int, Whole(0, 2**32 - 1)] = Field(
        0, description="The seed of all random choices: the same seed gives the same result."
    )
    precision: Literal["double", "single"] = Field(
        "double",
        description='"single" works on the pairs of rows with half the digits, up to twice as fast: the objective is'
        " right to five digits or more.",
    )
    tolerance: Annotated[float | None, Number(0, 1e-2, optional=True)] = Field(
        None,
        description="How far the gradient may be off, relatively and by a proven bound, where a kernel is cut off after"
        " some terms to save time; 0 cuts off nothing. By default 1e-8, or delta/100 where 1e-8 would save nothing.",
        examples=[1e-6],
    )
    approximation: Approximation | None = Field(
        None,
        description='{"features": 2048} takes so many random features in place of all pairs of rows, for gaussian and'
        " multiquadratic kernels and very many rows; the result estimates the error. By default there are none.",
        examples=[{"features": 2048}],
    )
    engine: Literal["local", "dask"] = Field(
        "local",
        description='Where the work is done: by the "local" worker alone, or on the "dask" cluster of this service,'
        " if it has one.",
    )
    folds: Annotated[int, Whole(2, 20, also=0)] = Field(
        5,
        description="Supervised jobs: in how many folds the accuracy (of classes) or R² (of values) is cross-validated;"
        " 0 skips it. Other jobs have nothing to validate and ignore it.",
    )
    resamples: Annotated[int, Whole(2, 200, also=0)] = Field(
        0,
        description="On how many halves of the rows to solve again for the standard errors of the loadings;"
        " 20 are enough to draw. 0 skips it.",
        examples=[20],
    )
    label: Annotated[str, StringConstraints(max_length=200)] | None = Field(
        None, description="A name of your own for the job, to find it by.", examples=["wine, first look"]
    )
    metadata: dict[_MetadataKey, _MetadataText] = Field(
        default_factory=dict,
        max_length=20,
        description="Anything else to keep with the job, as text by name.",
        examples=[{"experiment": "42"}],
    )

    @model_validator(mode="after")
    def _fill(self) -> Self:
        """What the kernel decides where nothing was given."""
        if isinstance(self.kernel, list):
            return self  # of a grid, which is filled job by job
        is_auto, is_open = self.kernel == AUTO, has_open_width(self.kernel)
        for name, value in (
            ("q", "auto" if is_auto else 2),
            ("scale", "auto" if is_auto else "standard"),
            ("delta", 0.1 if is_open else 0.01),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        return self

    @field_validator("starts")
    @classmethod
    def _check_starts(cls, starts: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")
        if starts == "path" and kernel is not None and not isinstance(kernel, list) and not has_width(kernel):
            raise refused_with(
                'starts is "path", and only one gaussian, multiquadratic or polynomial kernel has a width to follow;'
                " give a number, or leave it out."
            )
        return starts

    @field_validator("approximation")
    @classmethod
    def _check_approximation(cls, approximation: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")  # not there if it is wrong itself
        if isinstance(approximation, Approximation) and kernel is not None and not isinstance(kernel, list):
            Approximation.check_kernel(kernel)  # lists, of a grid, are checked job by job
        return approximation


def _example(paradigm: ParadigmName, **fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [{"dataset": "3f9a1c52e07b4d68", "paradigm": paradigm} | fields]})


class SupervisedSpec(CommonSpec):
    """Keep what tells known classes apart, or what goes with measured values."""

    model_config = _example("supervised", target="class")

    kernel: KernelSpec = Field(
        "auto",
        description=f"{CommonSpec.model_fields['kernel'].description} That is the default for supervised jobs.",
        examples=["auto", "gaussian", {"name": "polynomial", "degree": 3}],
    )
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


def examined(body: Any) -> tuple[JobSpec | None, list[FieldError]]:
    """The spec and no errors, or none and every problem found."""
    if not isinstance(body, dict):
        example = '{"dataset": "…", "paradigm": "supervised", "target": "class"}'
        return None, [FieldError("", f"A job is an object such as {example}; {shown(body)} came.")]
    given = body.get("paradigm")
    model = SPECS.get(given) if isinstance(given, str) else None
    if model is not None:
        try:
            return model.model_validate(body), []
        except ValidationError as error:
            return None, field_errors(error, model, _OWNERS)
    guess = nearest(given, PARADIGM_NAMES) if isinstance(given, str) else None
    came = f"paradigm is {shown(given)}" if "paradigm" in body else "paradigm is missing"
    sentence = asked(came, guess, f"it must be {choice(PARADIGM_NAMES)}.")
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


def is_open(spec: JobSpec) -> bool:
    """Whether the job chooses some of its settings itself."""
    return has_open_width(spec.kernel) or "auto" in (spec.q, spec.scale)
