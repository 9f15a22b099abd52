"""`python -m testbed up|down|status`: arguments in, one call, an exit code out."""

import argparse
import subprocess
import sys
from pathlib import Path

from testbed import programs, standing
from testbed.processes import Terminated
from testbed.readiness import NotReadyError


def main() -> int:
    """0 as wished, 1 not, 2 wrong usage, 130 and 143 when interrupted."""
    arguments = _parser().parse_args()
    try:
        return _call(arguments)
    except Terminated:
        return 143
    except KeyboardInterrupt:
        return 130
    except (NotReadyError, ValueError, subprocess.CalledProcessError) as error:
        print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
        return 1


def _call(arguments: argparse.Namespace) -> int:
    if arguments.command == "up":
        return standing.up(arguments.k8s, arguments.bundle, arguments.limit)
    return standing.down() if arguments.command == "down" else standing.status()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed", description="A real control plane with fake nodes.")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start one, apply a bundle, wait; prints the line to eval")
    minors = programs.minors()
    up.add_argument("--k8s", choices=minors, default=minors[-1], help="Kubernetes minor (default: %(default)s)")
    up.add_argument("--bundle", type=Path, metavar="DIR", help="a rendered bundle to run")
    up.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for nodes and Jobs (default: 300)")
    commands.add_parser("down", help="stop it and remove every trace")
    commands.add_parser("status", help="what stands")
    return parser


if __name__ == "__main__":
    sys.exit(main())
