"""`python -m bench.live [NAME…]`: measures tables and writes each to NAME.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from bench.live.cluster import MINOR
from bench.machine import hardware

NAMES = ("cl2", "mcad", "appwrapper", "bind", "scale", "mig", "breaking", "tree")


def main(names: Sequence[str]) -> None:
    """Every table, or those that are named."""
    for name in names or NAMES:
        module = import_module(f"bench.live.{name}")
        text = f"{head(module.__doc__ or '')}Written by `make bench-live`. Kubernetes {MINOR}, KWOK v0.8.0; {hardware()}.\n\n"
        file = Path(__file__).with_name(f"{name}.md")
        file.write_text(text + "\n".join(_lines(module.table())) + "\n", encoding="utf-8")
        print(file.read_text(encoding="utf-8"))


def head(about: str) -> str:
    """How a table begins: what its module says of itself, the first line as the title."""
    return f"# {about.strip()}\n\n"


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]


if __name__ == "__main__":
    main(sys.argv[1:])
