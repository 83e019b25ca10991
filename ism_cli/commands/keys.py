"""`ism keys`: the API keys of the service on this machine. A running service reloads them after every change."""

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
              help="Data folder of `ism serve`, which holds the keys unless ISM_API_KEYS_FILE is set.")  # fmt: skip
@click.pass_context
def keys(context: click.Context, /, **options: Any) -> None:
    """Make, list and revoke the API keys of the service on this machine.

    A caller sees only the data sets and jobs that were created with the same key. As soon as there is a key, every call
    needs one.
    """
    from app.auth import KeyFile
    from ism_cli.serve import settings_from

    context.obj = KeyFile(settings_from(options).api_keys_path)


@keys.command()
@click.argument("name")
@click.pass_obj
def make(file: "KeyFile", name: str) -> None:
    """Make a key and show it once. Only its hash is stored.

    Data sets and jobs belong to the NAME of the key that created them. A new key with the name of a revoked one has
    access to them again. Only the key named "metrics" may read GET /metrics.
    """
    key = _or_fail(lambda: file.make(name))
    click.echo(key)
    click.echo(
        f"This is the key of {name}; it is not shown again. Set it as ISM_API_KEY, or send it as"
        ' "Authorization: Bearer KEY".',
        err=True,
    )


@keys.command(name="list")
@click.pass_obj
def list_keys(file: "KeyFile") -> None:
    """List the names of the keys, their creation times, and the beginnings of their hashes."""
    found = _or_fail(file.read) or []
    rows = [[key.name, key.created, key.hash[:12]] for key in found]
    click.echo(table(["name", "made", "hash"], rows) if rows else "No keys.")


@keys.command()
@click.argument("name")
@click.pass_obj
def revoke(file: "KeyFile", name: str) -> None:
    """Revoke a key. Its data sets and jobs stay until they expire.

    If it was the last key, the service refuses every call until there is a new one. It never becomes open to everybody.
    """
    _or_fail(lambda: file.revoke(name))
    click.echo(f"The key of {name} is no longer valid.", err=True)
    if not _or_fail(file.read):
        click.echo(
            "No key of this file is left. A service with no other key refuses every call until `ism keys make NAME`,"
            f" which it applies at once. To run it without keys, delete {file.path} and restart it.",
            err=True,
        )


def _or_fail(act: Callable[[], T]) -> T:
    from app.auth import InvalidKeys

    try:
        return act()
    except (InvalidKeys, OSError) as error:
        raise click.ClickException(str(error)) from None
