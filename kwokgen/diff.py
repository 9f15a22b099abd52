"""What a render would change in a bundle's folder, object by object, a file's documents at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from kwokgen import natural, resources, tree
from kwokgen.bundle import Bundle
from kwokgen.outline import outline
from kwokgen.problem import KwokgenError
from kwokgen.resources import workload

Key = tuple[str, str, str]
"""Kind, namespace and name."""
Path = tuple[str, ...]
Documents = dict[Key, str]
Signature = tuple[str | tuple[str, ...] | None, ...]
HEAD = re.compile(r"^kind: (?P<kind>\S+)$.*?^metadata:\n(?P<meta>(?:  [^\n]*\n?)+)", re.MULTILINE | re.DOTALL)
IN_META = re.compile(r'^  (name|namespace): "?([^"\n]*)"?$', re.MULTILINE)


class Field(NamedTuple):
    """A value that differs; None is a value that is not there."""

    path: str
    old: Any
    new: Any


class Change(NamedTuple):
    """An object that a render adds, removes or changes; `recreate` when no update can do so."""

    action: Literal["add", "remove", "change"]
    kind: str
    namespace: str
    name: str
    fields: tuple[Field, ...] = ()
    recreate: bool = False


def changes(bundle: Bundle, old: Mapping[str, Callable[[], bytes]]) -> Iterator[Change]:
    """Every difference between a bundle and the files `old`, each read when its turn comes.

    An object that only moved to another file is none.
    """
    comparison = _Comparison()
    paths = {file.path: file for file in bundle.files}
    for path in sorted(paths.keys() | old.keys()):
        before = old[path]().decode(errors="replace") if path in old else ""
        after = b"".join(paths[path].pieces()).decode() if path in paths else ""
        if before == after:
            continue
        manifest = path.endswith(".yaml") and "/" not in path
        yield from comparison.manifests(before, after) if manifest else (_file(path, before, after),)
    yield from comparison.rest()


def _file(path: str, before: str, after: str) -> Change:
    action: Literal["add", "remove", "change"] = "change" if before and after else "add" if after else "remove"
    return Change(action, "file", "", path)


@dataclass(slots=True, eq=False, repr=False)
class _Comparison:
    """Objects that were found on one side only so far, and the differences already understood."""

    added: Documents = field(default_factory=dict)
    removed: Documents = field(default_factory=dict)
    known: dict[Signature, tuple[tuple[Field, ...], bool, str]] = field(default_factory=dict)

    def manifests(self, before: str, after: str) -> Iterator[Change]:
        """Changes of objects that are in both texts; the others wait for their other side."""
        old, new = _documents(before), _documents(after)
        for key in old.keys() & new.keys():
            if old[key] != new[key]:
                yield self._changed(key, old[key], new[key])
        self.removed |= {key: text for key, text in old.items() if key not in new}
        self.added |= {key: text for key, text in new.items() if key not in old}

    def rest(self) -> Iterator[Change]:
        """What was moved and changed, added, or removed."""
        for key in sorted(self.added.keys() & self.removed.keys()):
            if self.added[key] != self.removed[key]:
                yield self._changed(key, self.removed[key], self.added[key])
        for key in self.removed.keys() - self.added.keys():
            yield Change("remove", *key)
        for key in self.added.keys() - self.removed.keys():
            yield Change("add", *key)

    def _changed(self, key: Key, old: str, new: str) -> Change:
        """Many objects change in the same way: one of them is parsed, the others differ from it by their name."""
        signature = _signature(key, old, new)
        if signature is None:
            return Change("change", *key, *_understood(key[0], old, new))
        if signature not in self.known:
            self.known[signature] = (*_understood(key[0], old, new), key[2])
        fields, recreate, name = self.known[signature]
        own = tuple(Field(one.path, _renamed(one.old, name, key[2]), _renamed(one.new, name, key[2])) for one in fields)
        return Change("change", *key, own, recreate)


def ordered(found: Iterable[Change]) -> list[Change]:
    """Changes by kind, namespace and name, `gpu-9` before `gpu-10`."""
    return sorted(found, key=lambda one: (one.kind, one.namespace, natural.key(one.name)))


def _documents(text: str) -> Documents:
    parts = re.split(r"^---\n", text, flags=re.MULTILINE)
    return {_key(part): part for part in parts[1:]}


def _key(text: str) -> Key:
    head = HEAD.search(text)
    meta = dict(IN_META.findall(head["meta"])) if head else {}
    if head and "name" in meta:
        return head["kind"], meta.get("namespace", ""), meta["name"]
    data = _data(text)
    found = data.get("metadata", {})
    return str(data.get("kind", "")), str(found.get("namespace", "")), str(found.get("name", ""))


def _data(text: str) -> dict[str, Any]:
    try:
        data = tree.parse(text, "").plain()
    except KwokgenError:
        # Somebody broke a file of ours: all of it differs.
        return {"text": text}
    return data if isinstance(data, dict) else {"text": text}


def _signature(key: Key, old: str, new: str) -> Signature | None:
    """The lines that differ between two texts of an object, and their places, without its own name.

    Where it is the same, so are the fields. None for a text that kwokgen would have written in another way.
    """
    a, b = outline(old), outline(new)
    if a is None or b is None:
        return None
    differ = [path for path in dict.fromkeys((*a, *b)) if a.get(path) != b.get(path)]
    beside: Iterable[Path] = getattr(_resource(key[0]), "BESIDE", ())
    asked = ["".join(f"\n{step}" for step in path) for path in beside]
    try:
        lines = [text for path in differ for text in (path, _cut(a.get(path), key[2]), _cut(b.get(path), key[2]))]
    except ValueError:
        return None
    return (key[0], *map(b.get, asked), *lines)


def _cut(text: str | None, name: str) -> str | tuple[str, ...] | None:
    """A string in the parts between the object's names, any other value as it is written.

    Raises ValueError for escapes that kwokgen does not write.
    """
    if not text:
        return text
    value = json.loads(text) if text[0] == '"' else text if text[0] == "|" else tree.scalar(text)
    return tuple(value.split(name)) if isinstance(value, str) else text


def _understood(kind: str, old: str, new: str) -> tuple[tuple[Field, ...], bool]:
    """The fields that differ, and whether only a new object can have them so."""
    after = _data(new)
    fields = tuple(_fields("", _data(old), after))
    return fields, _recreate(kind, fields, after)


def _fields(path: str, old: Any, new: Any) -> Iterator[Field]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _fields(f"{path}.{_step(key)}" if path else _step(key), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (x, y) in enumerate(zip_longest(old, new)):
            yield from _fields(f"{path}[{index}]", x, y)
    elif old != new or type(old) is not type(new):
        yield Field(path, old, new)


def _step(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'


def _resource(kind: str) -> resources.Resource | None:
    return next((module for module in resources.modules() if kind == module.KIND), None)


def _recreate(kind: str, fields: Iterable[Field], new: dict[str, Any]) -> bool:
    resource = _resource(kind)
    updatable: Callable[[Path, dict[str, Any]], bool] = getattr(resource, "updatable", lambda *_: False)
    paths = resource.IMMUTABLE if resource else workload.IMMUTABLE_OF.get(kind, ())
    fixed = [".".join(path) for path in paths if not updatable(path, new)]
    return any(one.path == path or one.path.startswith((f"{path}.", f"{path}[")) for one in fields for path in fixed)


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(below, old, new) for key, below in value.items()}
    if isinstance(value, list):
        return [_renamed(below, old, new) for below in value]
    return value.replace(old, new) if isinstance(value, str) and old else value
