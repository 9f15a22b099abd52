"""The facts that ship with kwokgen, and those of `--catalog` folders: an entry is read when it is named.

A folder mirrors this one (`gpus/`, `machines/`, …); a later one wins, whole or by `extends: <name>`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kwokgen import schemas, tree
from kwokgen.conform import conform, start_of
from kwokgen.model.place import Entry, Node, Place
from kwokgen.problem import KwokgenError, Pos, Problem, unknown

KINDS = {
    "gpus": "gpu",
    "machines": "machine",
    "drivers": "driver",
    "stages/node": "stage",
    "stages/pod": "stage",
    "workloads": "workload",
    "kubernetes": "kubernetes",
    "kwok": "kwok",
}
"""The folders of a catalogue, each with the schema of its entries."""
MOST_BYTES = 1024 * 1024
BUILTIN = "kwokgen/catalog"


@dataclass(frozen=True, slots=True)
class Fact:
    """An entry as it stands in its file; `builtin` ones were checked by the tests."""

    name: str
    data: Mapping[str, Any]
    at: Place
    file: str
    builtin: bool


@dataclass(frozen=True, slots=True)
class Catalog:
    """The built-in folder and the user's, later ones first to be asked."""

    folders: tuple[Path, ...] = ()
    _read: dict[tuple[str, str], Fact] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, folders: Sequence[str]) -> Catalog:
        """The catalogue with the user's folders.

        Raises KwokgenError when one is not a folder or holds nothing that a catalogue has.
        """
        problems = [problem for folder in folders if (problem := _unusable(folder))]
        if problems:
            raise KwokgenError(*problems)
        return cls(tuple(Path(folder) for folder in folders))

    def names(self, kind: str) -> tuple[str, ...]:
        """Every name of a kind."""
        found = {file.stem for folder in (_builtin(), *self.folders) for file in (folder / kind).glob("*.yaml")}
        return tuple(sorted(found, key=_natural))

    def get(self, kind: str, name: str, pos: Pos, what: str) -> Fact:
        """The entry that `pos` names.

        Raises KwokgenError for an unknown name at `pos`, or for a mistake in the entry's file at its place.
        """
        if (kind, name) not in self._read:
            if name not in self.names(kind):
                listing = f"kwokgen catalog {kind.partition('/')[0]}"
                raise KwokgenError(unknown(pos, what, name, self.names(kind), code="catalog", listing=listing))
            self._read[kind, name] = self._fact(kind, name, len(self.folders))
        return self._read[kind, name]

    def _fact(self, kind: str, name: str, below: int) -> Fact:
        for index in range(below - 1, -1, -1):
            path = self.folders[index] / kind / f"{name}.yaml"
            if path.is_file():
                return self._own(kind, name, path, index)
        return _builtin_fact(kind, name)

    def _own(self, kind: str, name: str, path: Path, index: int) -> Fact:
        node = tree.parse(_text(path), str(path))
        extends = node.child("extends")
        if extends and isinstance(node.value, dict):
            known = self.names(kind)
            if extends.raw not in known:
                raise KwokgenError(unknown(extends.pos, f"{KINDS[kind]} to extend", extends.raw, known, code="catalog"))
            base = self._fact(kind, extends.raw, index if extends.raw == name else len(self.folders))
            own = Node(node.pos, {key: entry for key, entry in node.value.items() if key != "extends"})
            node = _extended(base.at.node, own)
        problems = conform(node, schemas.load(f"catalog/{KINDS[kind]}"), "catalog")
        if problems:
            raise KwokgenError(*problems)
        return Fact(name, node.plain(), Place(node), str(path), builtin=False)


def _extended(base: Node, own: Node) -> Node:
    if not isinstance(base.value, dict) or not isinstance(own.value, dict):
        return own
    merged = dict(base.value)
    for key, entry in own.value.items():
        below = merged.get(key)
        merged[key] = Entry(entry.key_pos, _extended(below.node, entry.node)) if below else entry
    return Node(own.pos, merged)


@cache
def _builtin() -> Path:
    return Path(str(files("kwokgen"))) / "catalog"


@cache
def _builtin_fact(kind: str, name: str) -> Fact:
    file = f"{BUILTIN}/{kind}/{name}.yaml"
    node = tree.parse((_builtin() / kind / f"{name}.yaml").read_text(encoding="utf-8"), file)
    return Fact(name, node.plain(), Place(node), file, builtin=True)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if len(data) <= MOST_BYTES:
            return data.decode("utf-8")
        reason = f"the file is larger than {MOST_BYTES // 1024} KiB"
    except OSError as error:
        reason = f"cannot read the file: {os.strerror(error.errno or 0).lower()}"
    except UnicodeDecodeError:
        reason = "the file is not UTF-8"
    raise KwokgenError(Problem(start_of(str(path)), "catalog", reason))


def _unusable(folder: str) -> Problem | None:
    path = Path(folder)
    if not path.is_dir():
        return Problem(Pos(folder), "catalog", "the catalogue is not a folder")
    if not any((path / kind).is_dir() for kind in KINDS):
        hint = "it mirrors the built-in one: " + ", ".join(f"{kind}/" for kind in KINDS)
        return Problem(Pos(folder), "catalog", "the folder holds nothing of a catalogue", hint)
    return None


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    digits = "".join(character if character.isdigit() else f" {character} " for character in name).split()
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in digits)
