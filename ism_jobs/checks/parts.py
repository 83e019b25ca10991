"""What jobs on tables by reference cannot do, because they read the rows part by part."""

from ism_jobs.errors import FieldError
from ism_jobs.sentences import alternatives, named
from ism_jobs.spec import KERNEL_TABLE, JobSpec, SupervisedSpec, terms
from ism_jobs.tables import Description, Place, WrongPlace

STAY = "the rows of this data set stay in their files and are read part by part"
WITH_SERIES = ("gaussian",)  # kernels whose series is cut, so that they have features, too
IN_PARTS = (*WITH_SERIES, *(row.name for row in KERNEL_TABLE if row.features == "exact"))


def parts_errors(spec: JobSpec, description: Description) -> list[FieldError]:
    """Return an error for each field that a job on this data set cannot have."""
    output = spec.output if isinstance(spec, SupervisedSpec) else None
    if description.uri is None:
        if output is None:
            return []
        sentence = "output is for data sets by reference; leave it out, and get the embedding from the job."
        return [FieldError("output", sentence)]
    if not isinstance(spec, SupervisedSpec):
        sentence = f"paradigm is {named(spec.paradigm)}, but {STAY}. Only supervised jobs can do that; upload a sample."
        return [FieldError("paradigm", sentence)]
    errors = [*_kernel_errors(spec), *_output_errors(output, description.uri)]
    for field, needs in (
        ("neighbors", "compares all pairs of rows"),
        ("features_per_axis", "compares many sets of features on all rows"),
    ):
        if getattr(spec, field):
            errors.append(FieldError(field, f"{field} {needs}, but {STAY}; leave it out, or upload a sample."))
    if spec.tolerance == 0 and spec.kernel != "auto" and any(t.row.features != "exact" for t in terms(spec.kernel)):
        sentence = f"tolerance is 0, which needs all pairs of rows, but {STAY}; leave it out."
        errors.append(FieldError("tolerance", sentence))
    return errors


def _kernel_errors(spec: SupervisedSpec) -> list[FieldError]:
    if spec.kernel == "auto" or spec.approximation is not None:
        return []
    rows = [term.row for term in terms(spec.kernel)]
    without = [row for row in rows if row.features != "exact" and row.name not in WITH_SERIES]
    if not without:
        return []
    advice = ' or give approximation {"features": 1024}' if without[0].features == "random" else ""
    sentence = (
        f"The kernel {without[0].name} compares all pairs of rows, but {STAY};"
        f" take {alternatives(IN_PARTS)},{advice} or upload a sample."
    )
    return [FieldError("kernel", sentence.replace(", or", " or"))]


def _output_errors(output: str | None, uri: str) -> list[FieldError]:
    """Return an error if the output is no place, or would become a file of the table itself."""
    if output is None:
        return []
    try:
        place, table = Place.parse(output), Place.parse(uri)
    except WrongPlace as error:
        return [FieldError("output", str(error))]
    folder = table.folder if table.has_pattern else table
    if place.has_pattern or place.is_within(folder):
        sentence = f"output is {place.uri}, which is inside the table itself; write to a file outside {folder.uri}."
        return [FieldError("output", sentence)]
    return []
