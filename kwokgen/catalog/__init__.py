"""The facts that ship with kwokgen, and those of `--catalog` folders: an entry is read when it is named.

A folder mirrors this one (`gpus/`, `machines/`, …); a later one wins, whole or by `extends: <name>`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from kwokgen import natural, schemas, tree
from kwokgen.catalog import composed, rules
from kwokgen.conform import conform
from kwokgen.encoding import decoded
from kwokgen.model.place import Entry, Node, Place
from kwokgen.problem import KwokgenError, Pos, Problem, unknown

KINDS = {
    "gpus": "gpu",
    "machines": "machine",
    "drivers": "driver",
    "detectors": "detector",
    "faults": "fault",
    "stages/node": "stage",
    "stages/pod": "stage",
    "steps/node": "step",
    "steps/pod": "step",
    "owners": "owner",
    "workloads": "workload",
    "systems": "system",
    "topologies": "topology",
    "instruments": "instrument",
    "kubernetes": "kubernetes",
    "kwok": "kwok",
}
"""The folders of a catalogue, each with the schema of its entries."""
MOST_BYTES = 1024 * 1024
BUILTIN = "kwokgen/catalog"
COMPILED = "compiled.json"
"""Written by `make generate`."""


class Fact(NamedTuple):
    """An entry as it stands in its file; `builtin` ones were checked by the tests, their templates compiled."""

    name: str
    data: Mapping[str, Any]
    at: Place
    file: str
    builtin: bool
    compiled: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """The built-in folder and the user's, later ones first to be asked."""

    folders: tuple[Path, ...] = ()
    _read: dict[tuple[str, str], Fact] = field(default_factory=dict, repr=False)

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
        return tuple(sorted(found, key=natural.key))

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
        index = self._holding(kind, name, below)
        if index is not None:
            path = self._file(kind, name, index)
            return self._own(kind, name, self._node(kind, path, name, index), str(path))
        fact = _builtin_fact(kind, name)
        if any(self._holding(str(composed.of(kind)), step, below) is not None for step in composed.used(fact.data)):
            return self._own(kind, name, builtin_node(kind, name), fact.file)
        return fact

    def _holding(self, kind: str, name: str, below: int) -> int | None:
        """The last of the user's folders before `below` that has the entry."""
        # A folder or a link to nothing of this name is listed too: it is a problem when it is read.
        found = (index for index in range(below - 1, -1, -1) if os.path.lexists(self._file(kind, name, index)))
        return next(found, None)

    def _file(self, kind: str, name: str, index: int) -> Path:
        return self.folders[index] / kind / f"{name}.yaml"

    def _own(self, kind: str, name: str, node: Node, file: str) -> Fact:
        problems = conform(node, schemas.load(f"catalog/{KINDS[kind]}"), "catalog")
        whole = node if problems else self.whole(kind, node)
        problems = problems or tuple(rules.check(kind, whole.plain(), Place(whole)))
        if problems:
            raise KwokgenError(*problems)
        return Fact(name, whole.plain(), Place(whole), file, builtin=False)

    def whole(self, kind: str, node: Node) -> Node:
        """An entry with the steps that its Stages do put in.

        Raises KwokgenError for an unknown step at its place, or for a mistake in a step's own file.
        """
        folder = composed.of(kind)
        return composed.put_in(node, lambda does: self._step(folder, does)) if folder else node

    def _step(self, folder: str, does: Node) -> Node:
        fact = self.get(folder, does.raw, does.pos, "step")
        return builtin_node(folder, fact.name) if fact.builtin else fact.at.node

    def _node(self, kind: str, path: Path, name: str, index: int, above: tuple[Path, ...] = ()) -> Node:
        """An entry's tree, with what it extends under it; `above` are the files that extend it."""
        node = tree.parse(_text(path), str(path))
        extends = node.child("extends")
        if extends is None or not isinstance(node.value, dict):
            return node
        known = self.names(kind)
        if extends.raw not in known:
            raise KwokgenError(unknown(extends.pos, f"{KINDS[kind]} to extend", extends.raw, known, code="catalog"))
        own = Node(node.pos, {key: entry for key, entry in node.value.items() if key != "extends"})
        below = index if extends.raw == name else len(self.folders)
        return _extended(self._base(kind, extends, below, (*above, path)), own)

    def _base(self, kind: str, extends: Node, below: int, above: tuple[Path, ...]) -> Node:
        name = extends.raw
        index = self._holding(kind, name, below)
        file = _builtin() / kind / f"{name}.yaml" if index is None else self._file(kind, name, index)
        if file in above or not os.path.lexists(file):
            message = f'"{name}" leads back here: there is no other {KINDS[kind]} of this name to extend'
            raise KwokgenError(Problem(extends.pos, "catalog", message))
        return builtin_node(kind, name) if index is None else self._node(kind, file, name, index, above)


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
def _compiled() -> dict[str, Any]:
    """Every built-in entry as JSON with the digest of its file: reading YAML costs more than all else of a start."""
    try:
        compiled: dict[str, Any] = json.loads((_builtin() / COMPILED).read_bytes())
    except FileNotFoundError:
        return {}
    return compiled


@cache
def _builtin_fact(kind: str, name: str) -> Fact:
    known = _compiled().get(f"{kind}/{name}", {})
    if known and known["digest"] == digest(kind, name, known["data"]):
        pos = Pos(_builtin_file(kind, name), 1, 1)
        return Fact(name, known["data"], Place(Node(pos, {})), pos.file, builtin=True, compiled=known["compiled"])
    # The file was edited since `make generate`.
    node = Catalog().whole(kind, builtin_node(kind, name))
    return Fact(name, node.plain(), Place(node), node.pos.file, builtin=True)


def digest(kind: str, name: str, data: Mapping[str, Any]) -> str:
    """What tells whether the files that a built-in entry's data came from are those that were compiled."""
    files = [_builtin() / kind / f"{name}.yaml"]
    files += [_builtin() / str(composed.of(kind)) / f"{step}.yaml" for step in composed.used(data)]
    content = b"".join(file.read_bytes() if file.exists() else b"" for file in files)
    return blake2b(content, digest_size=8).hexdigest()


def builtin_node(kind: str, name: str) -> Node:
    """A built-in entry as its file has it."""
    text = (_builtin() / kind / f"{name}.yaml").read_text(encoding="utf-8")
    return tree.parse(text, _builtin_file(kind, name))


def _builtin_file(kind: str, name: str) -> str:
    return f"{BUILTIN}/{kind}/{name}.yaml"


def _text(path: Path) -> str:
    try:
        # A pipe would be waited for, and a device may have no end; of a folder or of nothing the system says it.
        special = path.exists() and not path.is_file() and not path.is_dir()
        data = b"" if special else path.read_bytes()
        if not special and len(data) <= MOST_BYTES:
            return decoded(data, str(path))
        reason = "not a regular file" if special else f"the file is larger than {MOST_BYTES // 1024} KiB"
    except OSError as error:
        reason = f"cannot read the file: {os.strerror(error.errno or 0).lower()}"
    raise KwokgenError(Problem(Pos(str(path)), "catalog", reason))


def _unusable(folder: str) -> Problem | None:
    path = Path(folder)
    if not path.is_dir():
        return Problem(Pos(folder), "catalog", "the catalogue is not a folder")
    if not any((path / kind).is_dir() for kind in KINDS):
        hint = "it mirrors the built-in one: " + ", ".join(f"{kind}/" for kind in KINDS)
        return Problem(Pos(folder), "catalog", "the folder holds nothing of a catalogue", hint)
    return None
