"""`--set` arguments put into a blueprint's tree; every value keeps the place that wrote it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from kwokgen import tree
from kwokgen.blueprint.overlays import ATTRIBUTES, name_of
from kwokgen.model.place import Entry, Node
from kwokgen.problem import KwokgenError, Pos, Problem, nearest, quoted

STEP = re.compile(r'"(?P<quoted>[^"]*)"|\[(?P<index>[0-9]+)\]|(?P<word>[^."\[\]=]+)')

ABOVE = ("apiVersion", "kind", "metadata", "spec")


def is_argument(file: str) -> bool:
    """Whether it is what the places of a `--set` argument have for a file."""
    return re.fullmatch(r"--set\[[0-9]+\]", file) is not None


def assigned(base: Node, arguments: Sequence[str]) -> tuple[Node, tuple[Problem, ...]]:
    """The tree with every `path=value` of `arguments`, left to right; paths start below `spec`.

    Those whose path leads nowhere, or whose value is not one YAML value, are left out, and are the problems.
    """
    problems: list[Problem] = []
    for number, argument in enumerate(arguments, 1):
        try:
            base = _Assignment(argument, f"--set[{number}]").apply(base)
        except KwokgenError as error:
            problems += error.problems
    return base, tuple(problems)


class _Assignment(NamedTuple):
    """One `--set` argument; its text is the line that problems show."""

    argument: str
    file: str

    def apply(self, base: Node) -> Node:
        path, equals, text = self._split()
        if equals == '"':
            self._fail(len(path), "the quote is not closed")
        steps = self._steps(path)
        if not equals:
            self._fail(len(self.argument), "no value: write path=value", "such as pools.gpu.count=100")
        spec = base.child("spec")
        if not isinstance(base.value, dict) or spec is None:
            self._fail(0, "the blueprint has no spec to set anything in")
        value = self._value(text, len(path) + 1)
        done = self._put(spec, steps, value)
        return base._replace(value=base.value | {"spec": base.value["spec"]._replace(node=done)})

    def _split(self) -> tuple[str, str, str]:
        """The path may hold quoted keys with `=` in them."""
        quoted_keys = re.match(r'(?:"[^"]*"|[^"=])*', self.argument)
        end = quoted_keys.end() if quoted_keys else 0
        return self.argument[:end], self.argument[end : end + 1], self.argument[end + 1 :]

    def _steps(self, path: str) -> list[tuple[int, str | int]]:
        steps: list[tuple[int, str | int]] = []
        at = 0
        while at < len(path):
            found = STEP.match(path, at)
            if not found:
                self._fail(at, f'"{path[at]}" does not belong here', "a path is a.b.c, with [0] or names for items")
            index = found["index"]
            steps.append((at, int(index) if index else found["quoted"] if found["word"] is None else found["word"]))
            at = self._next(path, found.end())
        if steps and steps[0][1] in ABOVE:
            self._fail(0, f'a path begins below spec, which has no "{steps[0][1]}"', "such as pools.gpu.count=100")
        if not steps:
            self._fail(0, "no path: write path=value", "such as pools.gpu.count=100")
        return steps

    def _next(self, path: str, at: int) -> int:
        if path[at : at + 1] in {"", "["}:
            return at
        if path[at] != "." or at + 1 == len(path):
            self._fail(at, f'"{path[at]}" does not belong here', "a path is a.b.c, with [0] or names for items")
        return at + 1

    def _value(self, text: str, at: int) -> Node:
        if not text.strip():
            return Node(self._pos(at), "", "")
        try:
            return _shown(tree.parse(" " * at + text, self.file), self.argument)
        except KwokgenError as error:
            if [problem.code for problem in error.problems] == ["empty"]:
                return self._null(text, at)
            raise KwokgenError(
                *(problem._replace(pos=_excerpted(problem.pos, self.argument)) for problem in error.problems)
            ) from None

    def _null(self, text: str, at: int) -> Node:
        """What YAML reads as nothing: a null is as good as in a file, a comment is never what is meant."""
        raw = text.lstrip()
        start = at + len(text) - len(raw)
        if raw.startswith("#"):
            self._fail(start, "no value: this is a comment", 'quote it: "#…"')
        return Node(self._pos(start), None, raw.split()[0])

    def _put(self, node: Node, steps: list[tuple[int, str | int]], value: Node) -> Node:
        (at, step), rest = steps[0], steps[1:]
        if isinstance(node.value, tuple):
            index = self._index(node.value, at, step)
            items = list(node.value)
            items[index] = self._put(items[index], rest, value) if rest else value
            return node._replace(value=tuple(items))
        if not isinstance(node.value, dict):
            self._fail(at, f'"{step}" leads nowhere: {node.raw or "this"} is a single value')
        return node._replace(value=self._key(node, at, str(step), rest, value))

    def _key(self, node: Node, at: int, key: str, rest: list[tuple[int, str | int]], value: Node) -> dict[str, Entry]:
        entries = dict(node.value) if isinstance(node.value, dict) else {}
        key_pos = self._pos(at, len(key))
        if not rest:
            return entries | {key: Entry(key_pos, value)}
        below = entries[key] if key in entries else Entry(key_pos, Node(key_pos, {}))
        if key == ATTRIBUTES and len(rest) > 1:
            below = below._replace(node=_unsorted(below.node, rest[0][1], rest[1][1]))
        return entries | {key: below._replace(node=self._put(below.node, rest, value))}

    def _index(self, items: tuple[Node, ...], at: int, step: str | int) -> int:
        if isinstance(step, int):
            if step < len(items):
                return step
            self._fail(at, f"there is no item [{step}]: the list has {len(items)}")
        names = [name_of(item) or "" for item in items]
        if step not in names:
            near = nearest(str(step), names)
            hint = f'did you mean "{near}"?' if near else "only an item that is there can be set"
            self._fail(at, f'no item is named "{step}". available: {quoted(filter(None, names))}', hint)
        return names.index(str(step))

    def _pos(self, at: int, length: int = 1) -> Pos:
        line = self.argument.count("\n", 0, at) + 1
        column = at - self.argument.rfind("\n", 0, at)
        return _excerpted(Pos(self.file, line, column, length=length), self.argument)

    def _fail(self, at: int, message: str, hint: str = "") -> NoReturn:
        raise KwokgenError(Problem(self._pos(at), "set", message, hint))


def _unsorted(attributes: Node, name: str | int, sort: str | int) -> Node:
    """Without the value of an attribute that is of another sort than the one to be set."""
    held = attributes.child(name)
    if held is None or held.child(sort) or not isinstance(held.value, dict) or not isinstance(attributes.value, dict):
        return attributes
    entry = attributes.value[str(name)]
    return attributes._replace(value=attributes.value | {str(name): entry._replace(node=held._replace(value={}))})


def _excerpted(pos: Pos, argument: str) -> Pos:
    # YAML ends a line at a carriage return as well.
    return replace(pos, excerpt="".join(argument.split("\n")[pos.line - 1 : pos.line]))


def _shown(node: Node, argument: str) -> Node:
    """The node with the argument's own line as the one that a problem shows."""
    pos = _excerpted(node.pos, argument)
    if isinstance(node.value, dict):
        entries = {
            key: Entry(_excerpted(entry.key_pos, argument), _shown(entry.node, argument))
            for key, entry in node.value.items()
        }
        return node._replace(pos=pos, value=entries)
    if isinstance(node.value, tuple):
        return node._replace(pos=pos, value=tuple(_shown(item, argument) for item in node.value))
    return node._replace(pos=pos)
