"""The ways to write the same objects: kwokgen, the floor, and what people use instead."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench.layer import program
from bench.reference import Reference, render
from testbed import programs

BENCH = Path(__file__).parent
PEERS = BENCH / "peers"

Command = Callable[[Reference, Path], list[str]]


class Way(NamedTuple):
    """A way to write what the reference holds.

    `command` is given the path to write to; one that writes no `folder` writes the stream to stdout. `same` is whether
    its bytes are the reference's, and `most` the number of nodes above which it would take minutes, and is not run.
    """

    title: str
    command: Command
    folder: bool = False
    same: bool = True
    most: int | None = None


def copy(reference: Reference, _target: Path) -> list[str]:
    """`cat` of the same bytes: what the disk costs."""
    return ["cat", *map(str, reference.manifests)]


def _kwokgen(reference: Reference, target: Path) -> list[str]:
    return render(reference.nodes, str(target))


def _limit(reference: Reference, target: Path) -> list[str]:
    return [sys.executable, str(BENCH / "limit.py"), str(reference.nodes), str(reference.constants), str(target)]


def _stream(*interpreter: str) -> Command:
    return lambda reference, _: [*interpreter, str(reference.nodes), str(reference.head), str(reference.tail)]


def _go(reference: Reference, target: Path) -> list[str]:
    return _stream(str(_built()))(reference, target)


def _helm(reference: Reference, _target: Path) -> list[str]:
    return [str(program("helm")), "template", "quickstart", str(_chart(reference)), "--set", f"nodes={reference.nodes}"]


@cache
def _built() -> Path:
    target = programs.cache_root() / "bench" / "stream"
    programs.go("build", "-trimpath", "-o", str(target), ".", cwd=PEERS / "go")
    return target


def _chart(reference: Reference) -> Path:
    """The chart with the files that do not grow: too long for --set, and full of `{{`, so they are files of it."""
    chart = reference.constants.with_name(f"{reference.nodes}-chart")
    if not chart.exists():
        shutil.copytree(PEERS / "helm", chart)
        shutil.copytree(reference.constants, chart / "constants")
    return chart


CAT = {"cat": Way("`cat` of the same bytes", copy)}
"""No way to write them, for it is given them; the race measures it beside the ways."""
WAYS = {
    "kwokgen": Way("**kwokgen render**", _kwokgen, folder=True),
    "limit": Way("floor: Python f-strings (`limit.py`)", _limit, folder=True),
    "go": Way("Go text/template", _go),
    "jinja": Way("Jinja2, one template", _stream(sys.executable, str(PEERS / "jinja.py"))),
    "helm": Way("helm template", _helm, same=False, most=10_000),
    "bash": Way("bash, a heredoc a document", _stream("bash", str(PEERS / "loop.sh")), most=10_000),
}
