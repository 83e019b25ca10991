"""What the commands that call a service share: options, the client, and error messages on stderr."""

import functools
import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import click

R = TypeVar("R")

DEFAULT_URL = "http://127.0.0.1:8000"


def remote(command: Callable[..., R]) -> Callable[..., R]:
    """Add --url, --api-key and --json; the command receives a `client` and `as_json`.

    @click.command()
    @remote
    def jobs(client, as_json): ...
    """

    @functools.wraps(command)
    def connected(*args: Any, url: str, api_key: str | None, **given: Any) -> R:
        from ism_client import ApiError, Client, JobFailed, Unreachable

        try:
            client = Client(url, api_key, retries=2)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        with client:
            try:
                return command(*args, client=client, **given)
            except Unreachable:
                fail(f"No ISM service answers at {client.url}; start one with `ism serve`, or set --url.")
            except ApiError as error:
                fail(f"{error} Set the key as ISM_API_KEY." if error.status == 401 else str(error))
            except (JobFailed, TimeoutError, ValueError, OSError) as error:
                fail(str(error))

    wrapped: Callable[..., R] = connected
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout."),
        click.option("--api-key", envvar="ISM_API_KEY", metavar="KEY",
                     help="The API key. Prefer the environment variable ISM_API_KEY, which other users cannot see."),
        click.option("--url", envvar="ISM_URL", default=DEFAULT_URL, show_default=True, show_envvar=True,
                     help="The URL of the service."),
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped


def fail(sentence: str) -> NoReturn:
    """Write an error message to stderr and exit with code 1."""
    click.echo(sentence, err=True)
    raise SystemExit(1)


def tell(message: str) -> None:
    """Write a note to stderr, so that stdout holds the output only."""
    click.echo(message, err=True)


def write_json(document: Any) -> None:
    """Write a document as JSON to stdout."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))
