"""The `ism` command. Its subcommands are imported when they are called, so that `ism --help` is fast."""

import sys
from importlib import import_module
from typing import NamedTuple, cast

try:
    import click
except ModuleNotFoundError:
    sys.exit('The command ism needs the service: pip install "ism-core[service]"')


class LazyCommand(NamedTuple):
    """The import path of a command, and its line in `ism --help`."""

    path: str
    help: str


COMMANDS = {
    "serve": LazyCommand("ism_cli.serve:serve", "Start Redis, the workers and the HTTP service."),
    "api": LazyCommand("ism_cli.serve:api", "Start only the HTTP service."),
    "worker": LazyCommand("ism_cli.serve:worker", "Start only workers."),
    "keys": LazyCommand("ism_cli.commands.keys:keys", "Make, list and revoke API keys."),
    "fit": LazyCommand("ism_cli.commands.fit:fit", "Fit a model to a table on this machine, without a service."),
    "upload": LazyCommand("ism_cli.commands.remote:upload", "Upload tables to a service."),
    "submit": LazyCommand("ism_cli.commands.remote:submit", "Post a job, or a grid of jobs."),
    "watch": LazyCommand("ism_cli.commands.remote:watch", "Follow a job until it ends, then show its result."),
    "get": LazyCommand("ism_cli.commands.remote:get", "Download all results of a job."),
    "report": LazyCommand("ism_cli.commands.remote:report", "Write the report of a job as one HTML file, or as PDF."),
    "jobs": LazyCommand("ism_cli.commands.remote:jobs", "List jobs."),
    "compare": LazyCommand("ism_cli.commands.remote:compare", "List the jobs of a batch, best first."),
    "finish": LazyCommand("ism_cli.commands.remote:finish", "End searches and keep the best results so far."),
    "cancel": LazyCommand("ism_cli.commands.remote:cancel", "Cancel jobs."),
    "transform": LazyCommand("ism_cli.commands.remote:transform", "Project new rows with the model of a job."),
}


class LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its help."""

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
@click.version_option(package_name="ism-core", prog_name="ism")
def main() -> None:
    """Interpretable kernel dimension reduction: a few axes, and the weight of every feature in them.

    \b
      ism serve                                         start the service
      ism submit wine.csv --target class -q 2 --wait    upload a table, fit a model, show the result
      ism fit wine.csv --target class -q 2 --out wine   the same without a service
    """


if __name__ == "__main__":
    main()
