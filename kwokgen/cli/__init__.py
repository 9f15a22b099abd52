"""The command line: the only place that prints and exits. One module a command."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Any

# A process that lives for a second collects cycles for a tenth of it, most of that while it imports.
gc.disable()

import typer  # noqa: E402
import typer.core  # noqa: E402
import typer.main  # noqa: E402
from typer._click.exceptions import ClickException  # noqa: E402 - Typer shows it under no name of its own

COMMANDS = ("init", "validate", "plan", "render", "diff", "catalog", "schema")
WRONG, USAGE, FAILED, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141


class _Commands(typer.core.TyperGroup):
    """Commands by name, each loaded when it is asked for: all of them cost more than a small render."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - its signature
        """The order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, made by Typer from its module's function."""
        if cmd_name not in COMMANDS:
            return None
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)
        import_module(f"kwokgen.cli.{cmd_name}").register(alone)
        command = typer.main.get_command(alone)
        command.name = cmd_name
        return command


HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="kwokgen",
    help="Static Kubernetes YAML for GPU clusters that do not exist, from one blueprint.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
    cls=_Commands,
)


def _version(wanted: bool) -> None:
    if wanted:
        from kwokgen import __version__

        typer.echo(f"kwokgen {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Static Kubernetes YAML for GPU clusters that do not exist, from one blueprint."""


def main() -> None:
    """Runs a command and ends the process with the code that says how it went."""
    from kwokgen.problem import EnvironmentFailure

    try:
        code = _code()
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        _silenced()
        code = CLOSED_PIPE
    except ClickException as error:
        error.show()
        code = USAGE
    except EnvironmentFailure as error:
        typer.echo(f"kwokgen: {error}", err=True)
        code = FAILED
    except Exception as error:  # noqa: BLE001 - the edge: a bug is one line, its traceback only when asked for
        if os.environ.get("KWOKGEN_DEBUG"):
            import traceback

            traceback.print_exc()
        typer.echo(f"kwokgen: a bug: {type(error).__name__}: {error} (KWOKGEN_DEBUG=1 shows where)", err=True)
        code = FAILED
    sys.stderr.flush()
    # To take a process down that holds nothing but memory costs as much as a small render.
    os._exit(code)


def _code() -> int:
    """Runs the command without Typer's own `main`, which takes a closed pipe for a wrong input."""
    if "_KWOKGEN_COMPLETE" in os.environ:
        app()
    command = typer.main.get_command(app)
    try:
        with command.make_context("kwokgen", sys.argv[1:]) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def _silenced() -> None:
    """Nothing more can be written, also not by Python's own last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
