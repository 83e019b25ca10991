"""The options that say what to solve, shared by `ism submit` and `ism fit`: a decorator that turns them into a spec.

    @click.command()
    @spec_options(grid=True)
    def submit(spec: Spec | list[Spec]) -> None: ...

The spec holds what was given and nothing else; defaults and ranges are the service's. With grid=True an option that
may vary can be given several times, and then holds a list. `--spec FILE` is the start that the other options override.
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
    """A kernel's name, or its JSON object."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            return value
        try:
            kernel = json.loads(value)
        except ValueError as error:
            self.fail(f"{value!r} is no JSON ({error}); give a name, or an object such as {_KERNEL}.", param, ctx)
        if not isinstance(kernel, dict):
            self.fail(f"{value!r} is no kernel; give a name, or an object such as {_KERNEL}.", param, ctx)
        return kernel


class NumberOr(click.types.IntParamType):
    """A whole number, or the word that stands for one."""

    def __init__(self, word: str) -> None:
        self._word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == self._word else super().convert(value, param, ctx)


class Features(click.types.IntParamType):
    """A number of random features, as the approximation that it asks for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return {"features": super().convert(value, param, ctx)}


class Paradigm(click.Choice[str]):
    """One of the paradigms; a hyphen does for the underscore."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value.replace("-", "_") if isinstance(value, str) else value, param, ctx)


_KERNEL = '{"name": "polynomial", "degree": 3}'
_COLUMN = "COLUMN"


def spec_options(*, grid: bool) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add the spec's options to a command, which receives them as its keyword `spec`.

    With grid=False no option makes a grid, a --spec file with a list is refused, and `spec` is always a dict.
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


def is_grid(spec: Spec) -> bool:
    """Whether the spec stands for several jobs."""
    return any(isinstance(spec.get(name), list) for name in GRID)


def _options(grid: bool) -> Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    def varying(*names: str, type: Any, help: str, metavar: str | None = None) -> Callable[..., Any]:
        return click.option(*names, type=type, multiple=grid, help=help, metavar=metavar)

    return (
        click.option("--paradigm", type=Paradigm(PARADIGMS),
                     help="What guides the reduction. When not given: supervised with --target, semi_supervised with "
                          "--scores, alternative with --clustering, unsupervised with --clusters alone."),
        click.option("--target", multiple=True, metavar=_COLUMN,
                     help="Column of classes or values to explain (supervised); several times for several values."),
        click.option("--target-kind", type=click.Choice(["auto", "classes", "values"]), help="How to read the target."),
        varying("--kernel", type=Kernel(), metavar="NAME|JSON",
                help=f"A name, an object such as '{_KERNEL}', or auto, which chooses: the default with --target."),
        varying("-q", "--q", type=NumberOr("auto"), metavar="N|auto", help="Number of new features."),
        varying("--features-per-axis", type=int, metavar="N", help="At most so many old features in each new one."),
        varying("--delta", type=float, metavar="X", help="Tolerance at which the iteration has converged."),
        varying("--clusters", type=int, metavar="K", help="Number of clusters (all but supervised)."),
        varying("--mu", type=float, metavar="X", help="Weight of the scores or of the existing clustering."),
        click.option("--scores", multiple=True, metavar=_COLUMN,
                     help="Column of expert scores (semi-supervised); several times for several."),
        click.option("--clustering", metavar=_COLUMN, help="Column of the existing clustering (alternative)."),
        click.option("--reference", metavar=_COLUMN, help="Column of known classes to compare the clusters with."),
        click.option("--features", multiple=True, metavar="A,B,…",
                     help="Columns to reduce; all others when not given. Quote a name that has a comma: '\"a,b\",c'."),
        varying("--missing", type=click.Choice(["refuse", "mean", "drop"]), help="What to do with missing values."),
        varying("--categorical", type=click.Choice(["refuse", "onehot"]), help="What to do with text columns."),
        varying("--scale", type=click.Choice(["standard", "whiten", "none", "auto"]),
                help="Whether to standardize the features, or to whiten them as well."),
        click.option("--balance", is_flag=True, default=None, help="Rare classes count for more (supervised)."),
        click.option("--neighbors", is_flag=True, default=None,
                     help="Each row's neighbors are to be of its class (supervised)."),
        varying("--seed", type=int, metavar="N", help="Seed of all that is random."),
        varying("--starts", type=NumberOr("path"), metavar="N|path",
                help="Number of starting points; path follows the kernel from wide to narrow."),
        varying("--max-iter", type=int, metavar="N", help="Largest number of iterations."),
        varying("--precision", type=click.Choice(["double", "single"]), help="Digits to compute with."),
        varying("--tolerance", type=float, metavar="X",
                help="How far the gradient may be off where that saves time; 0 is exact."),
        varying("--approximation-features", "approximation", type=Features(), metavar="N",
                help="Take N random features in place of all pairs of rows, for very many rows."),
        varying("--engine", type=click.Choice(["local", "dask"]), help="Compute here, or on the Dask cluster."),
        varying("--folds", type=int, metavar="N", help="Folds of the cross-validated accuracy; 0 skips it."),
        click.option("--resamples", type=int, metavar="N",
                     help="Halves of the rows to solve again, for the standard errors of the loadings; 20 will do."),
        click.option("--label", metavar="TEXT", help="A name for the job."),
        click.option("--metadata", multiple=True, metavar="KEY=VALUE", callback=_pairs, help="Kept with the job."),
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
    values["features"] = _split(values["features"])
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
        "Nothing says what to look for: give --target (supervised), --clusters (unsupervised), "
        "--clusters with --scores (semi-supervised) or --clusters with --clustering (alternative)."
    )


def _read(file: Path, grid: bool) -> Spec | list[Spec]:
    try:
        spec = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.BadParameter(f"{file} is no JSON: {error}.", param_hint="--spec") from None
    if isinstance(spec, dict) and (grid or not is_grid(spec)):
        return spec
    if grid and isinstance(spec, list) and spec and all(isinstance(item, dict) for item in spec):
        return spec
    wanted = "an object, or a list of objects" if grid else "an object that describes one job"
    raise click.BadParameter(f"{file} does not hold a spec; it must be {wanted}.", param_hint="--spec")


def _split(features: Sequence[str]) -> list[str]:
    return [name.strip() for row in csv.reader(features, skipinitialspace=True) for name in row if name.strip()]


def _pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    pairs = dict(value.partition("=")[::2] for value in values if "=" in value)
    if len(pairs) < len(values):
        raise click.BadParameter("each must be of the form KEY=VALUE, and each key given once.", ctx, param)
    return pairs
