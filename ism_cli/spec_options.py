"""The options that describe a job, shared by `ism submit` and `ism fit`: a decorator that turns them into a spec.

    @click.command()
    @spec_options(grid=True)
    def submit(spec: Spec | list[Spec]) -> None: ...

The spec holds only the options that were given; defaults and ranges belong to the service. With grid=True, an option
that may vary can be given several times and then holds a list. The other options override those of `--spec FILE`.
"""

import csv
import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

Spec = dict[str, Any]
R = TypeVar("R")

PARADIGMS = ("supervised", "unsupervised", "semi_supervised", "alternative")
GRID = (
    "kernel", "q", "features_per_axis", "delta", "seed", "clusters", "mu", "scale", "starts", "categorical", "missing",
    "max_iter", "precision", "tolerance", "approximation", "engine", "folds",
)  # fmt: skip


class Kernel(click.ParamType[Any]):
    """The name of a kernel, or its JSON object."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            return value
        try:
            kernel = json.loads(value)
        except ValueError as error:
            self.fail(f"{value!r} is not JSON ({error}); give a name, or an object such as {_KERNEL}.", param, ctx)
        if not isinstance(kernel, dict):
            self.fail(f"{value!r} is not a kernel; give a name, or an object such as {_KERNEL}.", param, ctx)
        return kernel


class NumberOr(click.ParamType[Any]):
    """A number, by default an integer, or a word with a special meaning such as "auto"."""

    def __init__(self, *words: str, number: click.ParamType[Any] = click.INT) -> None:
        self.name = number.name
        self._words = words
        self._number = number

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in self._words else self._number.convert(value, param, ctx)


class Features(click.types.IntParamType):
    """A number of random features, converted to the field `approximation`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return {"features": super().convert(value, param, ctx)}


class Paradigm(click.Choice[str]):
    """One of the paradigms, written with hyphens or underscores."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value.replace("-", "_") if isinstance(value, str) else value, param, ctx)


_KERNEL = '{"name": "polynomial", "degree": 3}'
_COLUMN = "COLUMN"


def spec_options(*, grid: bool) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add the options to a command, which receives them as the keyword argument `spec`.

    With grid=False, options cannot be repeated, a --spec file with a list is refused, and `spec` is always a dict.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(command)
        def with_spec(*args: Any, **given: Any) -> R:
            values = {name: given.pop(name) for name in _names()}
            return command(*args, spec=_spec(values, given.pop("spec_file"), grid), **given)

        wrapped: Callable[..., R] = with_spec
        for option in reversed(_options(grid)):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def header_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add the option --header/--no-header for CSV files."""
    text = "Whether the first line of a CSV file holds column names; detected by default."
    return click.option("--header/--no-header", default=None, help=text)(command)


def table_format_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add the option --format for the tables in a folder."""
    formats = click.Choice(["csv", "npy", "parquet", "json"])
    return click.option("--format", type=formats, default="csv", show_default=True, help="Format of the tables.")(
        command
    )


def progress_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add the option --progress/--no-progress."""
    return click.option(
        "--progress/--no-progress", default=None, help="Show a progress bar; by default on a terminal only."
    )(command)


def is_grid(spec: Spec) -> bool:
    """Return whether the spec describes several jobs."""
    return any(isinstance(spec.get(name), list) for name in GRID)


def _options(grid: bool) -> Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    def varying(*names: str, type: Any, help: str, metavar: str | None = None) -> Callable[..., Any]:
        return click.option(*names, type=type, multiple=grid, help=help, metavar=metavar)

    return (
        click.option("--paradigm", type=Paradigm(PARADIGMS),
                     help="The paradigm. By default: supervised with --target, semi_supervised with --scores, "
                          "alternative with --clustering, unsupervised with --clusters only."),
        click.option("--target", multiple=True, metavar=_COLUMN,
                     help="Column of classes or values (supervised); repeat it for several columns of values."),
        click.option("--target-kind", type=click.Choice(["auto", "classes", "values"]),
                     help="Whether the target holds classes or values."),
        varying("--kernel", type=Kernel(), metavar="NAME|JSON",
                help=f"A name, a JSON object such as '{_KERNEL}', or auto (default)."),
        varying("-q", "--q", type=NumberOr("auto"), metavar="N|auto", help="Number of axes."),
        varying("--features-per-axis", type=int, metavar="N", help="Largest number of features in each axis."),
        varying("--delta", type=float, metavar="X", help="Convergence tolerance."),
        varying("--clusters", type=int, metavar="K", help="Number of clusters (all but supervised)."),
        varying("--mu", type=NumberOr("auto", number=click.FLOAT), metavar="X|auto",
                help="Weight of the scores or of the existing clustering."),
        click.option("--scores", multiple=True, metavar=_COLUMN,
                     help="Column of expert scores (semi-supervised); repeat it for several."),
        click.option("--clustering", metavar=_COLUMN, help="Column of the existing clustering (alternative)."),
        click.option("--reference", metavar=_COLUMN, help="Column of known classes to compare the clusters with."),
        click.option("--features", multiple=True, metavar="A,B,…",
                     help="Columns to use as features; all for all without another role; auto (default) leaves out "
                          "row numbers, identifiers, dates and the like. Quote a name with a comma: '\"a,b\",c'."),
        varying("--missing", type=click.Choice(["auto", "refuse", "mean", "median", "drop"]),
                help="Missing values: fill them in (auto, mean, median), drop the rows, or refuse the job."),
        varying("--categorical", type=click.Choice(["auto", "onehot", "refuse"]),
                help="Text columns: encode them by their levels (auto), one-hot, or refuse the job."),
        click.option("--dates", type=click.Choice(["auto", "number", "parts"]),
                     help="Dates: days since 1970 (number), or year, month, weekday and hour (parts)."),
        varying("--scale", type=click.Choice(["standard", "whiten", "none", "auto"]),
                help="Scale the features: standardize, standardize and whiten, not at all, or choose automatically."),
        click.option("--balance", is_flag=True, default=None, help="Give all classes the same weight (supervised)."),
        click.option("--neighbors", is_flag=True, default=None,
                     help="Predict each row from its neighbors (supervised)."),
        click.option("--target-kernel", type=click.Choice(["gaussian", "linear"]),
                     help="The kernel between measured values (supervised)."),
        varying("--seed", type=int, metavar="N", help="Random seed."),
        varying("--starts", type=NumberOr("path", "interactions"), metavar="N|path|interactions",
                help="Number of starting points; path is a continuation from wide to narrow kernels; interactions"
                     " starts from products of two features."),
        varying("--max-iter", type=int, metavar="N", help="Largest number of iterations."),
        varying("--precision", type=click.Choice(["double", "single"]), help="Floating-point precision."),
        varying("--tolerance", type=float, metavar="X",
                help="Largest relative error of the gradient allowed to save time; 0 computes exactly."),
        varying("--approximation-features", "approximation", type=Features(), metavar="N",
                help="Use N random features instead of all pairs of rows, for large tables."),
        varying("--engine", type=click.Choice(["local", "dask"]),
                help="Compute on this machine or worker, or on a Dask cluster."),
        click.option("--budget", type=float, metavar="SECONDS", help="Time limit of the search for settings."),
        varying("--folds", type=int, metavar="N", help="Number of cross-validation folds; 0 for none."),
        click.option("--validation", type=click.Choice(["auto", "nested"]),
                     help="Score chosen settings by the folds of the choice, or by nested cross-validation."),
        click.option("--resamples", type=int, metavar="N",
                     help="Number of random halves of the rows for the standard errors of the loadings; 20 is enough."),
        click.option("--output", metavar="FILE|URI",
                     help="Parquet file for the embedding of all rows of a table by reference."),
        click.option("--priority", type=int, metavar="N", help="Order among your queued jobs: -9 to 9, high first."),
        click.option("--label", metavar="TEXT", help="A name for the job."),
        click.option("--metadata", multiple=True, metavar="KEY=VALUE", callback=_pairs,
                     help="A text to store with the job; repeat it for several."),
        click.option("--spec", "spec_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                     help="JSON file to start from; the other options override it."),
    )  # fmt: skip


@functools.cache
def _names() -> tuple[str, ...]:
    probe: Any = lambda: None  # noqa: E731
    for option in _options(grid=True):
        probe = option(probe)
    return tuple(parameter.name for parameter in probe.__click_params__ if parameter.name != "spec_file")


def _spec(values: dict[str, Any], file: Path | None, grid: bool) -> Spec | list[Spec]:
    names = _split(values["features"])
    values["features"] = names[0] if names in (["auto"], ["all"]) else names
    for name in (*GRID, "target", "scores"):
        if isinstance(values[name], tuple):
            values[name] = values[name][0] if len(values[name]) == 1 else list(values[name])
    given = {name: value for name, value in values.items() if value is not None and value not in ([], {})}
    base = _read(file, grid) if file else {}
    if isinstance(base, list):
        return [_with_paradigm({**spec, **given}) for spec in base]
    return _with_paradigm({**base, **given})


def _with_paradigm(spec: Spec) -> Spec:
    if "paradigm" in spec:
        return spec
    for field, paradigm in (
        ("target", "supervised"),
        ("scores", "semi_supervised"),
        ("clustering", "alternative"),
        ("clusters", "unsupervised"),
    ):
        if field in spec:
            return {"paradigm": paradigm, **spec}
    raise click.UsageError(
        "The paradigm is missing: give --target (supervised), --clusters (unsupervised), "
        "--clusters with --scores (semi-supervised) or --clusters with --clustering (alternative)."
    )


def _read(file: Path, grid: bool) -> Spec | list[Spec]:
    try:
        spec = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.BadParameter(f"{file} is not JSON: {error}.", param_hint="--spec") from None
    if isinstance(spec, dict) and (grid or not is_grid(spec)):
        return spec
    if grid and isinstance(spec, list) and spec and all(isinstance(item, dict) for item in spec):
        return spec
    wanted = "an object, or a list of objects" if grid else "an object that describes one job"
    raise click.BadParameter(f"{file} does not hold a spec; it must contain {wanted}.", param_hint="--spec")


def _split(features: Sequence[str]) -> list[str]:
    return [name.strip() for row in csv.reader(features, skipinitialspace=True) for name in row if name.strip()]


def _pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    pairs = dict(value.partition("=")[::2] for value in values if "=" in value)
    if len(pairs) < len(values):
        raise click.BadParameter("each must have the form KEY=VALUE, and each key must be different.", ctx, param)
    return pairs
