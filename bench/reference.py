"""What kwokgen writes for a number of nodes, and the parts of it that the other ways are given."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BLUEPRINT = "blueprints/quickstart.yaml"
KWOKGEN = str(Path(sys.executable).parent / "kwokgen")
PER_NODE = ("40-nodes-", "50-slices-")


class Reference(NamedTuple):
    """A render.

    `constants` are its files that do not grow with the nodes; `head` and `tail` the same as parts of the stream, before
    the nodes and after the slices.
    """

    nodes: int
    folder: Path
    constants: Path
    head: Path
    tail: Path

    @property
    def manifests(self) -> list[Path]:
        """The files of the stream, in its order."""
        return sorted(self.folder.glob("*.yaml"))

    @property
    def size(self) -> int:
        """How many bytes the stream has."""
        return sum(file.stat().st_size for file in self.manifests)


def render(nodes: int, folder: str) -> list[str]:
    """The command that is measured."""
    return [KWOKGEN, "render", BLUEPRINT, "--set", f"pools.h100.count={nodes}", "-o", folder]


def reference(nodes: int, work: Path) -> Reference:
    """Renders with kwokgen and takes the render apart."""
    made = Reference(nodes, *(work / f"{nodes}-{part}" for part in ("render", "constants", "head", "tail")))
    subprocess.run(render(nodes, str(made.folder)), cwd=ROOT, check=True, capture_output=True)
    made.constants.mkdir()
    constants = [file for file in sorted(made.folder.iterdir()) if not file.name.startswith(PER_NODE)]
    for file in constants:
        shutil.copy(file, made.constants)
    manifests = [file for file in constants if file.suffix == ".yaml"]
    _join((file for file in manifests if file.name < PER_NODE[0]), made.head)
    _join((file for file in manifests if file.name > PER_NODE[1]), made.tail)
    return made


def _join(files: Iterable[Path], target: Path) -> None:
    target.write_bytes(b"".join(file.read_bytes() for file in files))
