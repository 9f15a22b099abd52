"""What the selectors of devices read: a name that a device lacks is an error, which ends the scheduling of the pod.

https://github.com/google/cel-spec/blob/v0.24.0/doc/langdef.md#logical-operators
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from kwokgen.celtree import CALL, COMPREHENSION, IDENT, SELECT, TEXT, Node

SECTIONS = ("device.attributes", "device.capacity")
How = Literal["always", "and", "perhaps"]
HOWS: tuple[How, ...] = ("always", "and", "perhaps")
"""What a device without the name is: an error; an error or none that is meant; or, if the rest says so, one that is."""


class Read(NamedTuple):
    """`section` is attributes or capacity."""

    section: str
    domain: str
    name: str


def reads(root: Node) -> dict[Read, How]:
    """Every name that an expression reads without having asked for it."""
    asked = {read for node in root.all() for read in asked_of(node)}
    found = [(read, how) for read, how in _reads(root, "always", all_of=True) if read not in asked]
    return {read: min((how for same, how in found if same == read), key=HOWS.index) for read, _ in found}


def _reads(node: Node, how: How, *, all_of: bool) -> Iterator[tuple[Read, How]]:
    """`all_of` is whether nothing but && holds it: of a negation, what && leaves out may be what is meant."""
    if read := read_of(node):
        yield read, how
    holds = all_of and node.name == "_&&_"
    for index, part in enumerate(node.parts):
        yield from _reads(part, max(how, _below(node, index, all_of=all_of), key=HOWS.index), all_of=holds)


def _below(node: Node, index: int, *, all_of: bool) -> How:
    """How a part of an operator counts for the whole."""
    if node.name == "_&&_":
        return "and" if all_of else "perhaps"
    # The first part of a condition, and the range of a comprehension, are evaluated before all others.
    chosen = node.sort == COMPREHENSION or node.name == "_?_:_"
    return "perhaps" if node.name == "_||_" or (chosen and index) else "always"


def read_of(node: Node) -> Read | None:
    """`device.attributes['domain'].name`, or the name in brackets."""
    if node.sort == SELECT:
        domain = _domain(node.parts[0])
        return Read(*domain, node.name) if domain and not node.tested else None
    domain, name = (_domain(node.parts[0]), _text(node.parts[1])) if node.name == "_[_]" else (None, None)
    return Read(*domain, name) if domain and name else None


def asked_of(node: Node) -> Iterator[Read]:
    """`has(….name)`, `'name' in …`, `….?name` and `…[?'name']`."""
    domain, name = None, None
    if node.sort == SELECT and node.tested:
        domain, name = _domain(node.parts[0]), node.name
    elif node.name == "@in":
        domain, name = _domain(node.parts[1]), _text(node.parts[0])
    elif node.name in {"_?._", "_[?_]"}:
        domain, name = _domain(node.parts[0]), _text(node.parts[1])
    if domain and name:
        yield Read(*domain, name)


def _domain(node: Node) -> tuple[str, str] | None:
    if node.sort != CALL or node.name not in {"_[_]", "_[?_]"}:
        return None
    section, domain = path_of(node.parts[0]), _text(node.parts[1])
    return (section.removeprefix("device."), domain) if section in SECTIONS and domain else None


def path_of(node: Node) -> str:
    """What is read by names alone: `device.driver`; empty where it is something else."""
    if node.sort == SELECT:
        return f"{path_of(node.parts[0])}.{node.name}"
    return node.name if node.sort == IDENT else ""


def _text(node: Node) -> str | None:
    return node.name if node.sort == TEXT and node.name else None
