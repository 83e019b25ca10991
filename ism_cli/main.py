"""The `ism` command: a group whose commands are imported when they are called, so that `ism --help` is quick."""

from importlib import import_module
from typing import NamedTuple, cast

import click


class Lazy(NamedTuple):
    """Where a command is, and its line in `ism --help`."""

    path: str
    help: str


COMMANDS = {
    "serve": Lazy("ism_cli.serve:serve", "Start everything: Redis, workers and the HTTP service."),
    "api": Lazy("ism_cli.serve:api", "Start the HTTP service alone."),
    "worker": Lazy("ism_cli.serve:worker", "Start a worker alone."),
    "keys": Lazy("ism_cli.commands.keys:keys", "Make, list and revoke API keys."),
    "fit": Lazy("ism_cli.commands.fit:fit", "Solve a table here and now, without a service."),
    "upload": Lazy("ism_cli.commands.remote:upload", "Send tables to a service."),
    "submit": Lazy("ism_cli.commands.remote:submit", "Post a job, or a grid of jobs."),
    "watch": Lazy("ism_cli.commands.remote:watch", "Follow a job until it ends, then show what it found."),
    "get": Lazy("ism_cli.commands.remote:get", "Download all that a job made."),
    "jobs": Lazy("ism_cli.commands.remote:jobs", "List jobs."),
    "compare": Lazy("ism_cli.commands.remote:compare", "List a batch's jobs, best first."),
    "cancel": Lazy("ism_cli.commands.remote:cancel", "Cancel jobs."),
    "transform": Lazy("ism_cli.commands.remote:transform", "Project new rows with a job's W."),
}


class LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name].path.split(":")
        return cast(click.Command, getattr(import_module(module), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ism", prog_name="ism")
def main() -> None:
    """Interpretable dimension reduction: which features make the picture.

    \b
      ism serve                                         start the service
      ism submit wine.csv --target class -q 2 --wait    upload, solve, show what was found
      ism fit wine.csv --target class -q 2 --out wine   the same without a service
    """


if __name__ == "__main__":
    main()
