"""What the commands that call a service share: options, the client, and error messages on stderr."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from ism_client import Client

R = TypeVar("R")

DEFAULT_URL = "http://127.0.0.1:8000"


class TableFile(click.Path):
    """A file, or the URI of a table whose rows stay where they are."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if is_uri(value) else super().convert(value, param, ctx)


def is_uri(value: Any) -> bool:
    """Tell whether an argument is a URI, such as s3://bucket/rows/ or file:///data/rows/."""
    return isinstance(value, str) and "://" in value


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


def dataset_id(client: "Client", dataset: str) -> str:
    """Return the id of a data set, which is given, or that of a file or a URI, which is uploaded or registered."""
    if not is_uri(dataset) and not Path(dataset).is_file():
        if Path(dataset).suffix or "/" in dataset:  # an id has neither a suffix nor a slash
            raise click.UsageError(f"There is no file {dataset}.")
        return dataset
    uploaded = client.upload_uri(dataset) if is_uri(dataset) else client.upload(dataset)
    for note in uploaded.notes:
        tell(note)
    return uploaded.id
