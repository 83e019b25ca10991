"""`ism` itself: quick to start, and every command where the table says."""

import subprocess
import sys
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from ism_cli.main import COMMANDS, main

HEAVY = ("numpy", "scipy", "pyarrow", "fastapi", "pydantic", "httpx", "redis", "rq", "tqdm", "ism_client", "ism_core")


@pytest.mark.parametrize("arguments", [["--help"], ["submit", "--help"], ["watch", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys\nfrom ism_cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        f"sys.exit([name for name in {HEAVY!r} if name in sys.modules] or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_help_lists_every_command():
    output = CliRunner().invoke(main, ["--help"]).output
    for name, command in COMMANDS.items():
        assert f"  {name} " in output
        assert command.help in output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_it_is_said_to_be(name):
    module, attribute = COMMANDS[name].path.split(":")
    assert isinstance(getattr(import_module(module), attribute), click.Command)


def test_an_unknown_command_is_a_usage_error():
    result = CliRunner().invoke(main, ["sumbit"])
    assert result.exit_code == 2
    assert "No such command 'sumbit'" in result.output


def test_the_version_is_said():
    assert CliRunner().invoke(main, ["--version"]).output.startswith("ism, version ")
