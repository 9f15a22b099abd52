"""What every part of `resolve` shares: the catalogue, and the problems found so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kwokgen import formats
from kwokgen.blueprint.shape import Sound
from kwokgen.catalog import Catalog, Fact
from kwokgen.model.place import Place
from kwokgen.problem import KwokgenError, Pos, Problem, Severity, unknown

Named = TypeVar("Named")
Data = dict[str, Any]
SECTIONS = {
    "claim": {"claims"},
    "cohort": {"queues"},
    "capacity of the devices": {"pools"},
    "device class": {"deviceClasses", "networkDevices", "pools"},
    "lifecycle of nodes": {"lifecycles"},
    "lifecycle of pods": {"lifecycles"},
    "namespace": {"namespaces"},
    "pool": {"pools"},
    "queue": {"queues"},
}
"""Where in `spec` the names of each sort are given."""


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Collects problems, so that one run reports all of them; what `sound` has lost is missing for a known reason."""

    catalog: Catalog
    sound: Sound
    problems: list[Problem] = field(default_factory=list)
    doubtful: set[str] = field(default_factory=set)
    """The parts of `spec` in which something was not understood, so that what refers to them may be right."""

    def __post_init__(self) -> None:
        """What the schema refuses is not understood."""
        self.doubtful |= self.sound.sections

    def intact(self, *places: Place) -> bool:
        """Whether nothing was taken out of mappings, so that their defaults are what was meant."""
        return all(place.node.pos not in self.sound.lost for place in places)

    def fail(self, pos: Pos, code: str, message: str, hint: str = "", severity: Severity = "error") -> None:
        """Notes a problem and goes on."""
        self.problems.append(Problem(pos, code, message, hint, severity))

    def warn(self, pos: Pos, code: str, message: str, hint: str = "") -> None:
        """Notes a problem that does not stop a render."""
        self.fail(pos, code, message, hint, "warning")

    def fact(self, kind: str, name: str, pos: Pos, what: str) -> Fact | None:
        """The catalogue's entry, or None with its problems noted."""
        try:
            return self.catalog.get(kind, name, pos, what)
        except KwokgenError as error:
            self.problems += error.problems
            return None

    def find(self, named: Mapping[str, Named], name: str, pos: Pos, what: str) -> Named | None:
        """What a name refers to, or None with the unknown name noted."""
        if name in named:
            return named[name]
        named_in = SECTIONS[what]
        if (name in self.sound.names and named_in & self.doubtful) or named_in & self.sound.unnamed:
            return None
        self.problems.append(unknown(pos, what, name, named, code="reference"))
        return None

    def distinct(self, items: Sequence[Data], places: Sequence[Place], what: str) -> None:
        """Notes every name that is given twice in a list."""
        seen: dict[str, Pos] = {}
        for item, place in zip(items, places, strict=True):
            pos = place.pos("name")
            if item["name"] in seen:
                first = seen[item["name"]]
                message = f'two {what} are named "{item["name"]}", the first at {first.line}:{first.column}'
                self.fail(pos, "duplicate-name", message, "names are what other parts refer to")
            seen.setdefault(item["name"], pos)


def places(at: Place, key: str, items: Iterable[object]) -> list[Place]:
    """The place of each item of a list."""
    return [at.below(key, index) for index, _ in enumerate(items)]


def quantities(data: Mapping[str, Any], at: Place) -> dict[str, str]:
    """Quantities by name in canonical form; `at` is the mapping, whose spelling counts (1e9, 0.5)."""
    return {name: formats.canonical(at.raw(name) or str(value)) for name, value in data.items()}
