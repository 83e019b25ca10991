"""Documents about the result of a job: W, its accuracy, its stability, and how its settings were chosen."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from app.schemas.jobs import JobView
from app.schemas.references import KernelDocument, Spec


class OtherAxes(BaseModel):
    """Axes to project the rows of a job onto."""

    model_config = ConfigDict(extra="forbid")

    W: list[Annotated[list[FiniteFloat], Field(min_length=1, max_length=100)]] = Field(
        description="A row for each feature of the job and a column for each axis.", min_length=1, max_length=100_000
    )

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        if len({len(row) for row in self.W}) > 1:
            raise ValueError("The rows of W have different lengths; give each feature one weight per axis.")
        return self


class ErrorView(BaseModel):
    """The relative error that the method of computing Φ introduces."""

    kind: Literal["rounding", "bound", "estimate"] = Field(
        description="Rounding error only, a proven bound, or an estimate from exactly evaluated pairs of rows."
    )
    objective: float | None = Field(description="The relative error of the objective J.")
    gradient: float | None = Field(description="The relative error of ΦW.")


class StabilityView(BaseModel):
    """How much the loadings vary between random halves of the rows."""

    resamples: int = Field(description="The number of random halves.")
    rows: int = Field(description="The number of rows in each half.")
    errors: list[list[float]] = Field(description="The standard error of each entry of W, features × axes.")
    angle: float = Field(description="The median angle in radians between the axes of a half and those of all rows.")


class ContributionView(BaseModel):
    """What is lost without one axis, on rows that were held out."""

    axis: str = Field(description="The name of the axis.")
    objective: float = Field(description="The share of the objective J that is lost without the axis.")
    score: float | None = Field(
        description="The explained variance of the target that is lost without the axis; null if nothing was held out."
    )
    error: float | None = Field(description="The standard error of `objective`; null if nothing was held out.")
    share: float = Field(description="The weight of the axis in the importance; the shares add up to 1.")
    informative: bool = Field(description="Whether the axis tells about the target; else it is for plots only.")


class GroupView(BaseModel):
    """Collinear features: chains of correlations above 0.95."""

    features: list[str] = Field(description="The names of the features.")
    importance: float = Field(description="The sum of their importance.")


class PermutationView(BaseModel):
    """The check of the importance on held-out rows."""

    drop: list[float] = Field(
        description="The explained variance that is lost if the feature is permuted, together with its group."
    )
    error: list[float] = Field(description="The standard errors of the drops.")
    rows: int = Field(description="The number of rows in each permutation.")


class OutputView(BaseModel):
    """The Parquet file with the embedding of all rows of a table by reference."""

    uri: str = Field(description="Where it is.")
    rows: int = Field(description="The number of its rows.")


class SparsityView(BaseModel):
    """The cost of limiting the number of features per axis."""

    features_per_axis: int = Field(description="The largest number of features in each axis.")
    dense_objective: float = Field(description="The objective reached with all features.")
    loss: float | None = Field(
        description="The share of that objective that was lost; null if the objective is not positive."
    )


class CandidateView(BaseModel):
    """One combination of settings that was tried."""

    kernel: KernelDocument = Field(description="The kernel with its parameters.")
    scale: str = Field(description="How the features were scaled.")
    q: int = Field(description="The number of axes.")
    neighbors: bool = Field(
        False, description="Whether the objective is how well its neighbors predict each row's class or values."
    )
    interactions: bool = Field(
        False, description="Whether the ascent starts from products of two features that the target depends on."
    )
    score: float | None = Field(description="The score, higher is better; null if it could not be computed.")
    error: float | None = Field(description="The standard error of the score, if known.")
    seconds: float = Field(description="The time it took in all folds, in seconds.")
    chosen: bool = Field(description="Whether this combination was chosen.")
    W: list[list[float]] | None = Field(
        None,
        description="The weights of the features, features × axes, that it learned from some of the rows; only of the"
        " best candidates whose axes differ. `POST /jobs/{id}/project` shows the rows in these axes.",
    )


class FinalCheckView(BaseModel):
    """How well the axes of all rows predict rows that the choice never saw."""

    score: float = Field(description="The score of these rows: accuracy or R², as of a candidate.")
    error: float = Field(description="Its standard error.")
    rows: int = Field(description="The number of rows that were predicted.")


class ChoiceView(BaseModel):
    """The settings that were chosen automatically, and the candidates they were chosen from."""

    criterion: str = Field(description="The score that candidates are compared by.", examples=["accuracy"])
    reason: str = Field(description="Why this candidate was chosen.")
    cut_short: bool = Field(False, description="Whether the search ended on request, before all candidates were tried.")
    rows: int = Field(
        description="The number of rows that candidates were tried on; 0 if there were too few rows to choose."
    )
    seconds: float = Field(description="The time that the choice took, in seconds.")
    spec: Spec = Field(description="The job with the chosen settings; posting it repeats the result without a choice.")
    candidates: list[CandidateView] = Field(
        description="All candidates in the order in which they were tried. Their scores come from the search;"
        " the score in `validation` is corrected for the choice of the best."
    )
    final_check: FinalCheckView | None = Field(
        None, description="Of a table by reference: the score on rows that the choice never saw."
    )


class ValidationView(BaseModel):
    """The score for rows that W has not learned from."""

    method: Literal["bootstrap", "nested", "cross_validation"] = Field(
        description="bootstrap: cross-validation of all candidates, corrected for the choice of the best. nested: each"
        " fold chose its own settings. cross_validation: the settings were given."
    )
    measure: Literal["accuracy", "r2"] = Field(description="The share of correct classes, or R² of values.")
    score: float | None = Field(description="The score of an SVM on the axes; it is among the metrics too.")
    error: float | None = Field(description="The standard error of the score.")
    folds: int = Field(description="The number of folds.")


class MissedView(BaseModel):
    """The test whether the target depends on the features beyond the axes."""

    p_value: float = Field(description="The p-value; at most 0.05 if the axes miss something.")
    rows: int = Field(description="The number of rows that were tested.")
    advice: Literal["more_axes", "another_kernel", "nothing"] = Field(description="What would show the rest.")
    features: list[str] = Field(
        description="The feature, or the two features together, with the strongest dependence; may be empty."
    )
    sentence: str = Field(description="The outcome in a sentence or two.")


class ClassScoreView(BaseModel):
    """How well one class is predicted on held-out rows."""

    name: str = Field(alias="class", description="The class.")
    precision: float | None = Field(
        description="The share of rows predicted as this class that belong to it; null if there are none."
    )
    recall: float | None = Field(description="The share of rows of this class that are predicted as it.")
    rows: int = Field(description="The number of held-out rows of this class.")


class BaselineView(BaseModel):
    """The validated score of the axes beside those of a constant prediction and of a linear model on all features."""

    measure: Literal["accuracy", "r2"] = Field(description="The score.")
    score: float = Field(description="The validated score of the axes.")
    error: float = Field(description="Its standard error.")
    constant: float = Field(description="The share of the most frequent class; 0, the R² of the mean, for values.")
    linear: float = Field(description="The cross-validated score of a linear model on all features.")
    linear_error: float = Field(description="Its standard error.")
    verdict: Literal["better_than_linear", "keeps", "below_linear", "no_better_than_constant"] = Field(
        description="How the axes compare. A difference counts from two standard errors."
    )
    sentence: str = Field(description="The verdict in a sentence.")
    classes: list[ClassScoreView] = Field(description="Each class; empty for values and for more than 50 classes.")
    confusion: list[list[int]] = Field(
        description="The number of held-out rows by class (rows) and predicted class (columns), in the same order."
    )


class CertificateView(BaseModel):
    """Checks of W. A value is null if its check was not made, as for sparse axes."""

    gradient: float | None = Field(None, description="The norm of the gradient at W relative to Φ; 0 at a maximum.")
    eigengap: float | None = Field(
        None, description="The smallest eigenvalue of Φ in W less the largest one outside; null if nothing is outside."
    )
    orthonormality: float | None = Field(None, description="The largest entry of |WᵀW − I|.")
    curvature: float | None = Field(
        None,
        description="The largest second derivative of J that was found, relative to 2‖Φ‖; at most 0 at a maximum.",
    )
    second_order: bool | None = Field(None, description="Whether the second-order condition of a maximum holds.")


class EncodingView(BaseModel):
    """How columns of the table became features. All lists are in the order of the columns."""

    columns: list[str] = Field(description="The columns that were used.")
    levels: list[list[str] | None] = Field(description="The levels of a column of text; null for other columns.")
    kinds: list[str] = Field([], description="How each column was encoded.", examples=[["number", "onehot"]])
    date_formats: list[str | None] = Field([], description="The format of a column of dates; null for other columns.")
    missing_levels: list[bool] = Field([], description='Whether a missing text is a level of its own, "missing".')


class ResultView(BaseModel):
    """The result of a job, without its large tables."""

    job: JobView = Field(description="The job.")
    features: list[str] = Field(description="The names of the rows of W.")
    encoding: EncodingView | None = Field(
        None,
        description="How columns of the table became features: the columns, their kinds, and the levels of text. Null"
        " for jobs that are older than this field.",
    )
    axes: list[str] = Field(description="The names of the columns of W.")
    W: list[list[float]] = Field(description="The weight of each feature in each axis, features × axes.")
    importance: list[float] = Field(
        description="The share of each feature in the informative axes; the shares add up to 1."
    )
    importance_errors: list[float] | None = Field(None, description="The standard errors of the importance.")
    unclear: list[str] = Field([], description="The features whose importance is within two standard errors of 0.")
    structure: list[list[float]] | None = Field(
        None, description="The correlation of each feature with each axis, features × axes."
    )
    groups: list[GroupView] = Field([], description="Groups of two or more collinear features.")
    contributions: list[ContributionView] | None = Field(None, description="What each axis contributes.")
    permutation: PermutationView | None = Field(None, description="The check of the importance by permutation.")
    picture: list[float] | None = Field(
        None, description="For one axis: the weights of a second axis that is drawn but not ranked."
    )
    eigenvalues: list[float] = Field(description="The eigenvalues of Φ that belong to the axes.")
    objective: float = Field(description="The objective J.")
    converged: bool = Field(description="Whether the iteration converged within the tolerance.")
    stop: str = Field(description="Why the iteration ended.")
    certificate: CertificateView = Field(description="Checks of the result that need no second solve.")
    kernel: KernelDocument = Field(
        description="The kernel with the parameters that were found; it can be posted again."
    )
    method: str = Field(
        description="How Φ was computed: over all pairs of rows (tiles), by features, or by random features.",
        examples=["tiles"],
    )
    error: ErrorView | None = Field(
        None, description="The error of that method; null for jobs that are older than this field."
    )
    metrics: dict[str, int | float | None] = Field(description="The metrics, by name.")
    warnings: list[str] = Field(description="Notes about the data and the result.")
    rows: int = Field(description="The number of rows that were used.")
    sample_rows: int | None = Field(
        None,
        description="Of a table by reference: the number of rows, drawn at random, that settings, accuracy,"
        " interpretation and embedding come from. W comes from all rows.",
    )
    output: OutputView | None = Field(None, description="The file with the embedding of all rows, if it was wanted.")
    cluster_sizes: list[int] | None = Field(None, description="The number of rows in each cluster.")
    choice: ChoiceView | None = Field(None, description="Present if settings were chosen automatically.")
    validation: ValidationView | None = Field(None, description="Present if a supervised job was validated.")
    sparsity: SparsityView | None = Field(None, description="Present if features_per_axis was given.")
    stability: StabilityView | None = Field(None, description="Absent if the table has few rows.")
    missed: MissedView | None = Field(
        None, description="What the axes miss; null for clusterings and if there are too few rows."
    )
    baseline: BaselineView | None = Field(
        None, description="The score beside baselines; null if there was no validation."
    )
    versions: dict[str, str] | None = Field(
        None, description="The versions that computed the result; null for jobs that are older than this field."
    )
    links: dict[str, str] = Field(description="Paths of related resources.")
