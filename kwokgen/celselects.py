"""What selectors of devices select, as far as the texts and conditions of a device decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kwokgen import celreads
from kwokgen.celreads import Read
from kwokgen.celtree import LIST, TEXT, Node
from kwokgen.model.device import Device

Value = bool | str | None
"""None is one that is not known here: a number, a version, a quantity."""


def selects(expression: str, driver: str, device: Device) -> bool | None:
    """Whether an expression holds of a device; None where that is not known. An error of it selects nothing."""
    # Slow to load, and few blueprints have expressions of their own.
    from kwokgen import cel

    root = cel.read(expression)
    if root is None:
        return None
    try:
        value = _Of(driver, device).value(root)
    except LookupError:
        return False
    return value if isinstance(value, bool) else None


class _Of(NamedTuple):
    """A device, of which expressions are asked."""

    driver: str
    device: Device

    def value(self, node: Node) -> Value:
        """What a part of an expression is. Raises LookupError when it reads what the device has not."""
        if node.sort == TEXT:
            return node.name
        if celreads.path_of(node) == "device.driver":
            return self.driver
        if node.name not in OPTIONAL and (asked := list(celreads.asked_of(node))):
            return all(map(self._has, asked))
        if node.name in OPERATORS:
            return OPERATORS[node.name](self, node.parts)
        found = celreads.read_of(node)
        return self._read(found) if found else None

    def tried(self, nodes: Iterable[Node]) -> list[Value | LookupError]:
        """What several parts are, errors among them."""
        done: list[Value | LookupError] = []
        for node in nodes:
            try:
                done.append(self.value(node))
            except LookupError as error:
                done.append(error)
        return done

    def _has(self, read: Read) -> bool:
        return self._key(read) in (self.device.attributes if read.section == "attributes" else self.device.capacity)

    def _key(self, read: Read) -> str:
        known = {*self.device.attributes, *self.device.capacity}
        own = read.domain == self.driver and read.name in known
        return read.name if own else f"{read.domain}/{read.name}"

    def _read(self, read: Read) -> Value:
        if not self._has(read):
            raise LookupError(read)
        value = self.device.attributes.get(self._key(read)) if read.section == "attributes" else None
        return value if isinstance(value, bool | str) else None


def _all(of: _Of, parts: tuple[Node, ...], *, decides: bool = False) -> Value:
    """&&, or with what decides the other way ||: an error counts only where nothing else does."""
    values = of.tried(parts)
    if decides in [value for value in values if isinstance(value, bool)]:
        return decides
    if not all(isinstance(value, bool | LookupError) for value in values):
        return None
    for error in (value for value in values if isinstance(value, LookupError)):
        raise error
    return not decides


def _not(of: _Of, parts: tuple[Node, ...]) -> Value:
    value = of.value(parts[0])
    return not value if isinstance(value, bool) else None


def _texts(compare: Callable[[str, str], bool]) -> Callable[[_Of, tuple[Node, ...]], Value]:
    def compared(of: _Of, parts: tuple[Node, ...]) -> Value:
        values = [of.value(part) for part in parts]
        one, other = values if len(values) == 2 else (None, None)
        return compare(one, other) if isinstance(one, str) and isinstance(other, str) else None

    return compared


def _in(of: _Of, parts: tuple[Node, ...]) -> Value:
    if parts[1].sort != LIST:
        return None
    value, listed = of.value(parts[0]), [of.value(part) for part in parts[1].parts]
    return value in listed if isinstance(value, str) and None not in listed else None


OPTIONAL = ("_?._", "_[?_]")
OPERATORS: dict[str, Callable[[_Of, tuple[Node, ...]], Value]] = {
    "_&&_": _all,
    "_||_": lambda of, parts: _all(of, parts, decides=True),
    "!_": _not,
    "_==_": _texts(lambda one, other: one == other),
    "_!=_": _texts(lambda one, other: one != other),
    "@in": _in,
    "contains": _texts(lambda one, other: other in one),
    "endsWith": _texts(str.endswith),
    "startsWith": _texts(str.startswith),
}
