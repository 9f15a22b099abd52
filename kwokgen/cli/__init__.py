"""The command line: the only place that prints and exits. One module a command."""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module
from typing import Any, TextIO

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

    _open_streams()
    try:
        code = _code()
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        code = CLOSED_PIPE
    except ClickException as error:
        error.show()
        code = USAGE
    except EnvironmentFailure as error:
        code = _failed(str(error))
    except Exception as error:  # noqa: BLE001 - the edge: a bug is one line, its traceback only when asked for
        if os.environ.get("KWOKGEN_DEBUG"):
            import traceback

            traceback.print_exc()
        code = _failed(f"a bug: {type(error).__name__}: {error} (KWOKGEN_DEBUG=1 shows where)")
    # To take a process down that holds nothing but memory costs as much as a small render.
    os._exit(code)


def _failed(reason: str) -> int:
    from kwokgen.cli.report import visible

    typer.echo(f"kwokgen: {visible(reason)}", err=True)
    return FAILED


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


class _Answer(io.FileIO):
    """Standard output, whose failures are told from those of any other file."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            from kwokgen.ownership import reason
            from kwokgen.problem import EnvironmentFailure

            raise EnvironmentFailure(f"cannot write to standard output: {reason(error)}") from error


class _Talk(io.FileIO):
    """Standard error: what nobody can read changes nothing about how it went."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _open_streams() -> None:
    """All three streams, in the order of their numbers: one that the caller closed reads empty and refuses writes.

    Whatever is opened next would take its number otherwise, and be written to.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open
    sys.stdout = _opened(sys.stdout, 1, _Answer)
    sys.stderr = _opened(sys.stderr, 2, _Talk)


def _opened(stream: TextIO | None, number: int, sort: type[io.FileIO]) -> TextIO:
    if stream is None:
        number = os.open(os.devnull, os.O_RDONLY)
    buffer = io.BufferedWriter(sort(number, "wb", closefd=False))
    encoding = stream.encoding if stream else "utf-8"
    at_once = stream is not None and bool(stream.line_buffering)
    # A letter that the terminal does not know is no reason to fail.
    return io.TextIOWrapper(buffer, encoding=encoding, errors="backslashreplace", line_buffering=at_once)
