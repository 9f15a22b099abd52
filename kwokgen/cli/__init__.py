"""The command line: the only place that prints and exits. One module a command."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module

import typer

COMMANDS = ("init", "validate", "plan", "render", "diff", "catalog", "schema")
WRONG, USAGE, FAILED, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141

app = typer.Typer(
    name="kwokgen",
    help="Static Kubernetes YAML for GPU clusters that do not exist, from one blueprint.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


for _name in COMMANDS:
    import_module(f"kwokgen.cli.{_name}").register(app)


def main() -> None:
    """Runs a command and ends the process with the code that says how it went."""
    from kwokgen.problem import EnvironmentFailure

    try:
        app()
    except KeyboardInterrupt:
        _end(INTERRUPTED)
    except BrokenPipeError:
        _silenced()
        _end(CLOSED_PIPE)
    except EnvironmentFailure as error:
        typer.echo(f"kwokgen: {error}", err=True)
        _end(FAILED)
    except Exception as error:  # noqa: BLE001 - the edge: a bug is one line, its traceback only when asked for
        if os.environ.get("KWOKGEN_DEBUG"):
            traceback.print_exc()
        typer.echo(f"kwokgen: a bug: {type(error).__name__}: {error} (KWOKGEN_DEBUG=1 shows where)", err=True)
        _end(FAILED)


def _end(code: int) -> None:
    """Ends at once: what Python would still flush to a closed pipe is lost anyway."""
    sys.stderr.flush()
    os._exit(code)


def _silenced() -> None:
    """Nothing more can be written, also not by Python's own last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
