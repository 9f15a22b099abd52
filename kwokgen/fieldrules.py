"""What may stand in single fields of an object, as data: words, forms of strings, and numbers, each at its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from kwokgen.conform import meant
from kwokgen.formats import Format
from kwokgen.jobrules import Finding
from kwokgen.problem import nearest, quoted

Path = tuple[str | int, ...]
Steps = tuple[str, ...]
EACH = "*"
"""A step into every item of a list, and every key of a mapping."""
LONGEST = 2**31 - 1


class Rule(Protocol):
    """What may stand at a path below a value."""

    @property
    def steps(self) -> Steps:
        """The path, of which EACH is every item."""

    def wrong(self, value: Any) -> tuple[str, str] | None:
        """What is wrong with what stands there, and how to mend it."""


class Words(NamedTuple):
    """A field that is one of several words; where it is `optional` the server fills in what is empty."""

    steps: Steps
    allowed: tuple[str, ...]
    optional: bool = False

    def wrong(self, value: Any) -> tuple[str, str] | None:
        """That it is none of them."""
        if value in self.allowed or (self.optional and not value):
            return None
        near = nearest(value, self.allowed)
        return f'"{value}" is not one of {quoted(self.allowed)}', f'did you mean "{near}"?' if near else ""


class Formed(NamedTuple):
    """A field that has a form; one that is `optional` may be empty."""

    steps: Steps
    form: Format
    optional: bool = False

    def wrong(self, value: Any) -> tuple[str, str] | None:
        """That it has another."""
        if self.form.test(value) or (self.optional and not value):
            return None
        return f'"{value}" is not {self.form.what}: {self.form.allowed}', meant(self.form, value)


class Number(NamedTuple):
    """A field that is a number in a range."""

    steps: Steps
    least: int = 0
    most: int = LONGEST

    def wrong(self, value: Any) -> tuple[str, str] | None:
        """That it is outside."""
        if self.least <= value <= self.most:
            return None
        hint = f"write {self.least} or more" if value < self.least else f"write at most {self.most}"
        return f"{value} is not between {self.least} and {self.most}", hint


def findings(value: Any, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Where a value breaks rules, at paths below it."""
    for rule in rules:
        for path, part in below(value, rule.steps):
            if wrong := rule.wrong(part):
                yield Finding(path, *wrong)


def below(value: Any, steps: Sequence[str], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What stands at steps below a value, each with its path."""
    if not steps:
        yield path, value
        return
    keys: Any = (steps[0],) if steps[0] in value else ()
    if steps[0] == EACH:
        keys = value if isinstance(value, Mapping) else range(len(value))
    for key in keys:
        yield from below(value[key], steps[1:], (*path, key))
