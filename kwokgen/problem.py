"""What is wrong with what a user wrote: a Problem has a place, a text, the choices and a hint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]

MOST_CHOICES = 9
"""More alternatives than a reader takes in at once are cut (Miller's seven plus two)."""


@dataclass(frozen=True, slots=True, order=True)
class Pos:
    """A place in a text a user can open: 1-based line and column; line 0 is the file as a whole."""

    file: str
    line: int = 0
    column: int = 0
    excerpt: str = field(default="", compare=False, repr=False)
    length: int = field(default=1, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Related(NamedTuple):
    """A second place of a problem, such as the catalogue file that wrote the refused value."""

    pos: Pos
    message: str


class Problem(NamedTuple):
    """One mistake or one warning; `code` is a stable kebab-case word for tools to match."""

    pos: Pos
    code: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    related: tuple[Related, ...] = ()


class KwokgenError(Exception):
    """Everything that is wrong with the input, ordered by place."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = ordered(problems)
        super().__init__("; ".join(f"{problem.pos}: {problem.message}" for problem in self.problems))


class EnvironmentFailure(Exception):  # noqa: N818 - the input is right, it is not an error of the user
    """Writing failed for a reason outside of the blueprint: a full disk, a lost permission."""


def ordered(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems by place, each once: two rules may find the same mistake."""
    unique = {(problem.pos, problem.code, problem.message): problem for problem in problems}
    return tuple(sorted(unique.values(), key=lambda problem: (problem.pos, problem.code, problem.message)))


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Only the problems that stop a render."""
    return tuple(problem for problem in problems if problem.severity == "error")


def quoted(values: Iterable[str]) -> str:
    """Alternatives as every message lists them: sorted, quoted, cut at nine."""
    names = sorted(set(values))
    listed = ", ".join(f'"{name}"' for name in names[:MOST_CHOICES])
    more = len(names) - MOST_CHOICES
    return f"{listed} and {more} more" if more > 0 else listed


def nearest(value: str, available: Iterable[str]) -> str | None:
    """The alternative that a typing mistake most likely meant."""
    # Only a message needs it, and it is not small.
    from difflib import get_close_matches

    folded = {name.lower(): name for name in available}
    begun = [name for name in folded if value and name.startswith(value.lower())]
    if len(begun) == 1:
        return folded[begun[0]]
    found = get_close_matches(value.lower(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def unknown(pos: Pos, what: str, value: str, available: Iterable[str], *, code: str, listing: str = "") -> Problem:
    """The one way to say that a name leads nowhere; `listing` is the command that prints the choices."""
    names = tuple(available)
    choices = f"available: {quoted(names)}" if names else f"no {what} is defined"
    near = nearest(value, names)
    hints = [f'did you mean "{near}"?' if near else "", f"(list them: {listing})" if listing else ""]
    return Problem(pos, code, f'unknown {what} "{value}". {choices}', " ".join(filter(None, hints)))
