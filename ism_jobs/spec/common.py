"""The fields that the specs of all paradigms share."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from ism_jobs.sentences import alternatives
from ism_jobs.spec.kernel_table import KERNEL_TABLE
from ism_jobs.spec.kernels import AUTO, Approximation, KernelSpec, Strict, has_automatic_width, has_width
from ism_jobs.spec.types import Integer, Names, Number, refused_with

_MetadataText = Annotated[str, StringConstraints(max_length=500)]
_MetadataKey = Annotated[str, StringConstraints(min_length=1, max_length=500)]
WITH_WIDTH = [row.name for row in KERNEL_TABLE if row.chosen_parameter is not None]  # kernels with an "auto" parameter


class Notify(Strict):
    """Whom to tell that a job or batch has ended."""

    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/@?#]+([/?][^\s#]*)?$", max_length=2_000)] = Field(
        description="The URL that gets a signed POST, without a user name, password or fragment.",
        examples=["https://example.org/ism"],
    )


class CommonSpec(Strict):
    """The fields of every job: its data set, its kernel, the number of new features, and options of the solver."""

    dataset: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="The id of an uploaded data set.", examples=["3f9a1c52e07b4d68"]
    )
    kernel: KernelSpec = Field(
        "auto",
        description="The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted"
        ' {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen'
        " from the data, and so are q and scale unless they are given.",
        examples=["auto", "gaussian", {"name": "polynomial", "degree": 3}],
    )
    q: Annotated[int | Literal["auto"] | None, Integer(1, 20_000, words=("auto",), optional=True)] = Field(
        None,
        description='The number of new features to find; at most the number of features. "auto" is chosen from the'
        ' data. The default is "auto" if the kernel is "auto", else 2.',
    )
    features_per_axis: Annotated[int | None, Integer(1, 20_000, optional=True)] = Field(
        None,
        description="The largest number of features in each axis. The solver selects the features that keep the"
        " objective highest. By default all features are used.",
        examples=[5],
    )
    delta: Annotated[float | None, Number(0, 1, above=True, optional=True)] = Field(
        None,
        description="Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled"
        " within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel.",
    )
    features: Annotated[list[str] | Literal["auto", "all"], Names(words=("auto", "all"))] = Field(
        "auto",
        description='The columns to learn from. "all" are those without another role in the job (target, scores,'
        ' clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or'
        " mostly missing, have too many levels, or copy the target; the result's warnings name them.",
        examples=[["alcohol", "malic_acid", "ash"]],
    )
    categorical: Literal["auto", "onehot", "refuse"] = Field(
        "auto",
        description='What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the'
        ' job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and'
        " else a 0/1 feature of each level.",
    )
    dates: Literal["auto", "number", "parts"] = Field(
        "auto",
        description='What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and'
        ' hour. "auto" makes them numbers if features names them, else it leaves them out.',
    )
    missing: Literal["auto", "refuse", "mean", "median", "drop"] = Field(
        "auto",
        description='What to do with missing values in features: fill in the column\'s "mean" or "median", "drop" the'
        ' rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop'
        " rows without a target.",
    )
    scale: Literal["standard", "whiten", "none", "auto"] | None = Field(
        None,
        description='Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then'
        ' scales all directions to variance 1, within classes if they are given. "auto" chooses between the two.'
        ' The default is "auto" if the kernel is "auto", else "standard".',
    )
    max_iter: Annotated[int, Integer(1, 100_000)] = Field(300, description="The largest number of iterations.")
    starts: Annotated[
        int | Literal["path", "interactions"] | None, Integer(1, 1_000, words=("path", "interactions"), optional=True)
    ] = Field(
        None,
        description="The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the"
        ' paper\'s start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is'
        " the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen."
        ' "interactions", also for supervised jobs, starts from products of two features that the target depends on.',
    )
    seed: Annotated[int, Integer(0, 2**32 - 1)] = Field(
        0, description="The seed of all random numbers: the same seed gives the same result."
    )
    precision: Literal["double", "single"] = Field(
        "double",
        description='"single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then'
        " correct to at least five digits.",
    )
    tolerance: Annotated[float | None, Number(0, 1e-2, optional=True)] = Field(
        None,
        description="Largest relative error of the gradient that truncating the kernel's series may cause; 0 means"
        " no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time.",
        examples=[1e-6],
    )
    approximation: Approximation | None = Field(
        None,
        description='{"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and'
        " multiquadratic kernels and very many rows. The result estimates the error. By default none are used.",
        examples=[{"features": 2048}],
    )
    engine: Literal["local", "dask"] = Field(
        "local",
        description='Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one.',
    )
    folds: Annotated[int | None, Integer(2, 20, also=0, optional=True)] = Field(
        None,
        description="The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs;"
        " 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A"
        " choice of settings that used all rows has its own folds.",
    )
    budget: Annotated[float | None, Number(0, 1e6, optional=True)] = Field(
        None,
        description="The number of seconds after which the search for settings ends and keeps the best candidate so"
        " far. By default the search ends by itself.",
        examples=[5],
    )
    resamples: Annotated[int, Integer(2, 200, also=0)] = Field(
        0,
        description="The number of random halves of the rows to solve again, for standard errors of the loadings;"
        " 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved.",
        examples=[20],
    )
    priority: Annotated[int, Integer(-9, 9)] = Field(
        0,
        description="Among the queued jobs of your API key, those with the highest priority run first. It makes no"
        " difference to the jobs of other keys.",
        examples=[5],
    )
    label: Annotated[str, StringConstraints(max_length=200)] | None = Field(
        None, description="A name of your own for the job.", examples=["wine, first look"]
    )
    metadata: dict[_MetadataKey, _MetadataText] = Field(
        default_factory=dict,
        max_length=20,
        description="Other texts to store with the job, by name.",
        examples=[{"experiment": "42"}],
    )
    notify: Notify | None = Field(
        None, description="Whom to tell that the job has ended.", examples=[{"url": "https://example.org/ism"}]
    )

    @model_validator(mode="after")
    def _fill(self) -> Self:
        """Set the defaults that depend on the kernel."""
        if isinstance(self.kernel, list):
            return self  # of a grid; the defaults are set for each of its jobs
        is_auto = self.kernel == AUTO
        self._default("q", "auto" if is_auto else 2)
        self._default("scale", "auto" if is_auto else "standard")
        if not self.has_automatic_settings:
            self._default("delta", 0.01)
        return self

    def _default(self, name: str, value: Any) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)  # the model is frozen for other code

    @property
    def has_automatic_settings(self) -> bool:
        """Whether the job chooses some of its settings from the data."""
        return has_automatic_width(self.kernel) or AUTO in (self.q, self.scale)

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
        kernel = info.data.get("kernel")  # missing if it is invalid itself
        if isinstance(approximation, Approximation) and kernel is not None and not isinstance(kernel, list):
            Approximation.check_kernel(kernel)  # lists are of a grid, whose jobs are checked one by one
        return approximation
