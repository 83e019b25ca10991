"""What every job says, whatever it is for: its table, its kernel, how many new features, and how to get there."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from ism_jobs.sentences import alternatives
from ism_jobs.spec.kernel_table import KERNEL_TABLE
from ism_jobs.spec.kernels import AUTO, Approximation, KernelSpec, Strict, has_open_width, has_width
from ism_jobs.spec.types import Names, Number, Whole, refused_with

_MetadataText = Annotated[str, StringConstraints(max_length=500)]
_MetadataKey = Annotated[str, StringConstraints(min_length=1, max_length=500)]
WITH_WIDTH = [row.name for row in KERNEL_TABLE if row.chosen_parameter is not None]


class CommonSpec(Strict):
    """What every job says: which table, which kernel, how many new features, and how the table becomes numbers."""

    dataset: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="The id of an uploaded data set.", examples=["3f9a1c52e07b4d68"]
    )
    kernel: KernelSpec = Field(
        "auto",
        description="By what two projected rows are compared: a kernel's name, an object with its parameters,"
        ' a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores;'
        ' "auto" chooses one, and with it whatever of q and scale is not given.',
        examples=["auto", "gaussian", {"name": "polynomial", "degree": 3}],
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
        " By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel.",
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
        is_auto = self.kernel == AUTO
        self._default("q", "auto" if is_auto else 2)
        self._default("scale", "auto" if is_auto else "standard")
        if not self.is_open:
            self._default("delta", 0.01)
        return self

    def _default(self, name: str, value: Any) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)  # the model is frozen for everyone else

    @property
    def is_open(self) -> bool:
        """Whether the job chooses some of its settings itself."""
        return has_open_width(self.kernel) or AUTO in (self.q, self.scale)

    @field_validator("starts")
    @classmethod
    def _check_starts(cls, starts: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")
        if starts == "path" and kernel is not None and not isinstance(kernel, list) and not has_width(kernel):
            raise refused_with(
                'starts is "path", and this kernel has no width to follow from wide to narrow;'
                f" give a number, leave starts out, or use {alternatives(WITH_WIDTH)}."
            )
        return starts

    @field_validator("approximation")
    @classmethod
    def _check_approximation(cls, approximation: Any, info: ValidationInfo) -> Any:
        kernel = info.data.get("kernel")  # not there if it is wrong itself
        if isinstance(approximation, Approximation) and kernel is not None and not isinstance(kernel, list):
            Approximation.check_kernel(kernel)  # lists, of a grid, are checked job by job
        return approximation
