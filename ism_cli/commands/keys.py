"""`ism keys`: the API keys of the service on this machine; a running service notices every change."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ism_cli.output import table

if TYPE_CHECKING:
    from app.auth import KeyFile

T = TypeVar("T")


@click.group()
@click.option("--data-dir", "redis_dir", type=click.Path(file_okay=False, path_type=Path),
              help="The data folder of `ism serve`: the keys are there, unless ISM_API_KEYS_FILE is set.")  # fmt: skip
@click.pass_context
def keys(context: click.Context, /, **options: Any) -> None:
    """Make, list and revoke the API keys of the service on this machine.

    With a key, callers see what was made with it and nothing else. Once there is a key, nobody gets in without one.
    """
    from app.auth import KeyFile
    from ism_cli.serve import settings_from

    context.obj = KeyFile(settings_from(options).api_keys_path)


@keys.command()
@click.argument("name")
@click.pass_obj
def make(file: "KeyFile", name: str) -> None:
    """Make a key, and show it this once: only its hash is kept.

    What is made with a key belongs to its NAME. A key that is made anew under the name of a revoked one finds it all
    again. The key named "metrics" is for GET /metrics.
    """
    key = _refusable(lambda: file.make(name))
    click.echo(key)
    click.echo(
        f"This is the key of {name}; it is not shown again. Whoever has it sets ISM_API_KEY, or sends it as"
        ' "Authorization: Bearer KEY".',
        err=True,
    )


@keys.command(name="list")
@click.pass_obj
def list_keys(file: "KeyFile") -> None:
    """List the names of the keys, when they were made, and how their hashes begin."""
    found = _refusable(file.read) or []
    rows = [[key.name, key.created, key.hash[:12]] for key in found]
    click.echo(table(["name", "made", "hash"], rows) if rows else "No keys.")


@keys.command()
@click.argument("name")
@click.pass_obj
def revoke(file: "KeyFile", name: str) -> None:
    """Take a key back. Its data sets and jobs are kept as long as they would have been."""
    _refusable(lambda: file.revoke(name))
    click.echo(f"The key of {name} is no longer valid.", err=True)


def _refusable(act: Callable[[], T]) -> T:
    from app.auth import InvalidKeys

    try:
        return act()
    except (InvalidKeys, OSError) as error:
        raise click.ClickException(str(error)) from None
