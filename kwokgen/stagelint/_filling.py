"""What a Go template makes, as far as that can be known without an object: values of the object are placeholders."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kwokgen import tree
from kwokgen.gotemplate import LITERALS, OPENING, Action, Template
from kwokgen.problem import KwokgenError

NOW = "2026-01-01T01:00:00.123456789Z"
"""Stands for what differs each time."""
VALUE = "kwokgen-value"
CHANGING = {"Now", "now", "uuidv4", "randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "randNumeric"}
QUOTING = {"Quote", "quote", "squote", "toJson", "mustToJson", "toRawJson", "mustToRawJson"}


class Filled(NamedTuple):
    """The text, once through each `range` and the first way at each `if`.

    `straight` is one without either, `known` one without placeholders, and `lines` one in which no placeholder has a
    line of its own, where it may be anything.
    """

    text: str
    straight: bool
    known: bool
    lines: bool


def filled(template: Template) -> Filled:
    """The text that a template without mistakes makes."""
    work = _Filling()
    for piece in template.pieces:
        work.take(piece)
    text = "".join(work.parts)
    alone = re.search(rf'^["\s]*({VALUE}["\s]*)+$', text, re.MULTILINE) is not None
    return Filled(text.strip(), work.straight, VALUE not in text, not alone)


class Unread(NamedTuple):
    """What is no YAML, and in which line."""

    message: str
    line: int


def read(text: str) -> tuple[Any, Unread | None]:
    """YAML as data, or None with what is wrong with it; a key that stands twice may be of two ways, and is not."""
    try:
        return tree.parse(text, "template").plain(), None
    except KwokgenError as error:
        wrong = [problem for problem in error.problems if problem.message.startswith("not YAML")]
        return None, Unread(wrong[0].message, wrong[0].pos.line) if wrong else None


def repeated(template: Template) -> str:
    """A key that a template repeats for each item of a list, so that the last one is all that is left of them."""
    once, twice = _given_twice(template.pieces), _given_twice(tuple(_unrolled(template.pieces)))
    return next((key for key in twice if key not in once and VALUE not in key), "")


def _given_twice(pieces: tuple[str | Action, ...]) -> list[str]:
    try:
        tree.parse(filled(Template(pieces, ())).text, "template")
    except KwokgenError as error:
        return [problem.message.split('"')[1] for problem in error.problems if problem.code == "duplicate-key"]
    return []


def _unrolled(pieces: tuple[str | Action, ...]) -> list[str | Action]:
    """The pieces with each list gone through twice."""
    done: list[str | Action] = []
    begun: list[tuple[str, int]] = []
    for piece in pieces:
        keyword = piece.keyword if isinstance(piece, Action) else ""
        if keyword in OPENING:
            begun.append((keyword, len(done) + 1))
        if begun and begun[-1][0] == "range" and keyword in {"else", "end"}:
            done += done[begun.pop()[1] :]
            begun += [("", 0)] if keyword == "else" else []
        elif keyword == "end":
            begun.pop()
        done.append(piece)
    return done


class _Filling:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.taken = [True]
        self.changing: set[str] = set()
        self.straight = True

    def take(self, piece: str | Action) -> None:
        if isinstance(piece, Action) and piece.keyword:
            self.straight = False
            self._turn(piece.keyword)
        elif all(self.taken):
            self.parts.append(piece if isinstance(piece, str) else self._said(piece))

    def _turn(self, keyword: str) -> None:
        if keyword in OPENING:
            self.taken.append(keyword != "define")
        elif keyword == "else":
            self.taken[-1] = False
        elif keyword == "end":
            self.taken.pop()
        elif keyword == "template" and all(self.taken):
            self.parts.append(VALUE)

    def _said(self, action: Action) -> str:
        changes = bool({*action.words} & (CHANGING | self.changing))
        if action.sets:
            self.changing = self.changing | {action.sets} if changes else self.changing - {action.sets}
            return ""
        if len(action.words) == 1 and (action.words[0][0] in '"`' or action.words[0] in LITERALS):
            return action.words[0].strip('"`')
        value = NOW if changes else VALUE
        return f'"{value}"' if QUOTING & {*action.words} else value
