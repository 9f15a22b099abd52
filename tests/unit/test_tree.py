"""The tree of a text: the place of every key and value, the spelling of every scalar, and texts made to break readers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kwokgen import tree
from kwokgen.emit import dump
from kwokgen.model.place import Node
from kwokgen.problem import KwokgenError
from tests.unit.nasty import documents, strings
from tests.unit.rendering import problems

NASTY = """\
%YAML 1.2
---
# A comment: {with: [flow]}
block:
  key: value  # behind
  "quoted key": 'it''s'
  ? explicit
  : "a\\tb"
  list:
  - one
  - - nested
  -
    below: 1
flow: {a: 1, "b": [x, 'y', {c: ~}],
  d: [2,
      3]}
text: |
  literal
folded: >-
  a
  b
several: "one
  two"
anchored: &anchor 1.30
aliased: *anchor
map: &map {x: 1}
again: *map
😀é: {日本: ok, b: [é]}
"""
PLACES = {
    "block": ("4:1", "5:3"),
    "block.key": ("5:3", "5:8"),
    "block.quoted key": ("6:3", "6:17"),
    "block.explicit": ("7:5", "8:5"),
    "block.list": ("9:3", "10:3"),
    "block.list.0": ("", "10:5"),
    "block.list.1": ("", "11:5"),
    "block.list.1.0": ("", "11:7"),
    "block.list.2": ("", "13:5"),
    "block.list.2.below": ("13:5", "13:12"),
    "flow": ("14:1", "14:7"),
    "flow.a": ("14:8", "14:11"),
    "flow.b": ("14:14", "14:19"),
    "flow.b.0": ("", "14:20"),
    "flow.b.1": ("", "14:23"),
    "flow.b.2": ("", "14:28"),
    "flow.b.2.c": ("14:29", "14:32"),
    "flow.d": ("15:3", "15:6"),
    "flow.d.0": ("", "15:7"),
    "flow.d.1": ("", "16:7"),
    "text": ("17:1", "17:7"),
    "folded": ("19:1", "19:9"),
    "several": ("22:1", "22:10"),
    "anchored": ("24:1", "24:11"),
    "aliased": ("25:1", "25:10"),
    "map": ("26:1", "26:6"),
    "map.x": ("26:12", "26:15"),
    "again": ("27:1", "27:8"),
    "again.x": ("26:12", "26:15"),
    "😀é": ("28:1", "28:5"),
    "😀é.日本": ("28:6", "28:10"),
    "😀é.b": ("28:14", "28:17"),
    "😀é.b.0": ("", "28:18"),
}
"""Where each key stands, and each value; an alias stands where it is written, what is below it where that is."""


def walk(node: Node, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The path, the key's place and the value's of everything below a node."""
    below: Any = ()
    if isinstance(node.value, dict):
        below = [(key, f"{entry.key_pos.line}:{entry.key_pos.column}", entry.node) for key, entry in node.value.items()]
    if isinstance(node.value, tuple):
        below = [(str(index), "", item) for index, item in enumerate(node.value)]
    for key, place, item in below:
        yield path + key, place, f"{item.pos.line}:{item.pos.column}"
        yield from walk(item, f"{path}{key}.")


def placed(text: str) -> dict[str, tuple[str, str]]:
    return {path: (key, value) for path, key, value in walk(tree.parse(text, "f"))}


def wrong(text: str) -> list[tuple[str, str, str]]:
    """Place, code and message of everything wrong with a text."""
    found = problems(lambda: tree.parse(text, "f"))
    assert {problem.pos.file for problem in found} == {"f"}
    return [(f"{one.pos.line}:{one.pos.column}", one.code, one.message) for one in found]


@pytest.mark.parametrize(
    "change",
    [lambda text: text, lambda text: text.replace("\n", "\r\n"), lambda text: text.rstrip("\n")],
    ids=["as it is", "with Windows' line ends", "without a last line end"],
)
def test_the_place_of_every_key_and_value(change: Any) -> None:
    """Lines and columns count from 1, columns in characters."""
    assert placed(change(NASTY)) == PLACES


def test_what_the_nasty_text_means() -> None:
    assert tree.parse(NASTY, "f").plain() == {
        "block": {
            "key": "value",
            "quoted key": "it's",
            "explicit": "a\tb",
            "list": ["one", ["nested"], {"below": 1}],
        },
        "flow": {"a": 1, "b": ["x", "y", {"c": None}], "d": [2, 3]},
        "text": "literal\n",
        "folded": "a b",
        "several": "one two",
        "anchored": 1.3,
        "aliased": 1.3,
        "map": {"x": 1},
        "again": {"x": 1},
        "😀é": {"日本": "ok", "b": ["é"]},
    }


def test_a_byte_order_mark_moves_nothing() -> None:
    """Editors of Windows write one before everything."""
    assert placed("\ufeffa: 1\nb: 2\n") == {"a": ("1:1", "1:4"), "b": ("2:1", "2:4")}


@pytest.mark.parametrize(
    ("text", "place"),
    [("a:\nb: 1\n", "1:3"), ("a:   # nothing\n\n\nb: 1\n", "1:3"), ("{a: , b: 1}", "1:4"), ("a: &x\nb: *x\n", "1:4")],
)
def test_the_place_of_nothing_is_on_its_own_line(text: str, place: str) -> None:
    """Behind the key, and not where the next thing happens to stand."""
    node = tree.parse(text, "f").child("a")
    assert node
    assert (node.value, node.pos.line) == (None, int(place.split(":", maxsplit=1)[0]))
    assert node.pos.column >= int(place.split(":", maxsplit=1)[1])


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("key: value", (3, 5)),
        ("key: 'value'", (3, 7)),
        ("'key' : \"a\\n\"", (5, 5)),
        ("日本: é", (2, 1)),
        ("key: &x 1", (3, 4)),
        ("key: |\n  a\n", (3, 1)),
        ("key: {a: 1}", (3, 1)),
        ("key: 'a\n  b'", (3, 1)),
    ],
)
def test_what_a_report_underlines(text: str, lengths: tuple[int, int]) -> None:
    """A scalar of one line as written, its quotes and anchor included; the first character of all else."""
    [entry] = tree.parse(text, "f").value.values()
    assert (entry.key_pos.length, entry.node.pos.length) == lengths
    assert entry.key_pos.excerpt == text.split("\n", maxsplit=1)[0]


MEANINGS: dict[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "NULL": None,
    "nULL": "nULL",
    "true": True,
    "False": False,
    "tRUE": "tRUE",
    "yes": "yes",
    "off": "off",
    "0": 0,
    "+1": 1,
    "-0": 0,
    "007": 7,
    "0o17": 15,
    "0x1F": 31,
    "0b11": "0b11",
    "1_000": "1_000",
    "1.30": 1.3,
    ".5": 0.5,
    "1.": 1.0,
    "1e3": 1000.0,
    "-1.5E-2": -0.015,
    "12:30:45": "12:30:45",
    "2024-01-01": "2024-01-01",
    "1.2.3": "1.2.3",
    "<<": "<<",
    "=": "=",
    "é": "é",
    "٣": "٣",
}
"""YAML 1.2's core schema."""


@pytest.mark.parametrize(("raw", "value"), MEANINGS.items())
def test_the_meaning_of_a_plain_scalar_and_its_own_spelling(raw: str, value: object) -> None:
    """1.30 is the number 1.3, and can be shown as it was written; in quotes everything is a string."""
    for text in (f"a: {raw}", f"a: [{raw or '~'}]", f"a: {{b: {raw} }}"):
        node = tree.parse(text, "f").child("a")
        node = node and (node.child("b") or node.child(0) or node)
        assert node
        assert (repr(node.value), node.raw) == (repr(value), raw or node.raw)
    assert tree.parse(f"a: '{raw}'\nb: !!str {raw or '~'}\n", "f").plain() == {"a": raw, "b": raw or "~"}


@pytest.mark.parametrize("raw", ["9" * 6000, "0x" + "f" * 6000, "-" + "9" * 6000])
def test_numbers_of_any_length_are_read(raw: str) -> None:
    """Python's int() refuses them; they are far above every bound, and are shown as they were written."""
    node = tree.parse(f"a: {raw}\n", "f").child("a")
    assert node
    assert (abs(node.value) > 2**64, node.raw) == (True, raw)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: {c: 1, c: 2}\na: 3\n", [("2:11", "c", "2:5"), ("3:1", "a", "1:1")]),
        ("'1': a\n1: b\n", [("2:1", "1", "1:1")]),
        ("a: 1\na: 2\na: 3\n", [("2:1", "a", "1:1"), ("3:1", "a", "1:1")]),
        ("- {a: 1}\n- {a: 1, a: 1}\n", [("2:10", "a", "2:4")]),
        ("? a\n: 1\n? 'a'\n: 2\n", [("3:3", "a", "1:3")]),
    ],
)
def test_every_key_that_is_given_twice(text: str, expected: list[tuple[str, str, str]]) -> None:
    """All in one run, each with the place of the first."""
    said = [(place, "duplicate-key", f'key "{key}" is given twice, first at {first}') for place, key, first in expected]
    assert wrong(text) == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<<: {a: 1}\n", {"a": 1}),
        ("<<: {a: 1, b: 2}\na: 3\n", {"a": 3, "b": 2}),
        ("a: 3\n<<: {a: 1, b: 2}\n", {"a": 3, "b": 2}),
        ("<<: [{a: 1}, {a: 2, b: 2}]\n", {"a": 1, "b": 2}),
        ("<<: &x {<<: {c: 3}, a: 1}\nb: 2\n", {"a": 1, "b": 2, "c": 3}),
        ("<<: word\n", {"<<": "word"}),
        ("'<<': {a: 1}\n", {"<<": {"a": 1}}),
    ],
)
def test_merge_keys(text: str, expected: dict[str, Any]) -> None:
    """What stands there itself wins, then what is merged first: https://yaml.org/type/merge.html."""
    assert tree.parse(text, "f").plain() == expected


def test_what_is_merged_stands_where_it_was_written() -> None:
    assert placed("x: &x {a: 1}\ny:\n  <<: *x\n  b: 2\n") == {
        "x": ("1:1", "1:4"),
        "x.a": ("1:8", "1:11"),
        "y": ("2:1", "3:3"),
        "y.b": ("4:3", "4:6"),
        "y.a": ("1:8", "1:11"),
    }


@pytest.mark.parametrize(
    ("text", "place", "code", "message"),
    [
        ("", "0:0", "empty", "the file holds no YAML document"),
        ("# only this\n", "0:0", "empty", "the file holds no YAML document"),
        ("--- ~\n", "0:0", "empty", "the file holds no YAML document"),
        ("a: 1\n---\nb: 1\n", "2:1", "documents", "a second YAML document starts here"),
        ("a: 1\n b: 2\n", "2:3", "yaml", "not YAML: mapping values are not allowed here"),
        ("a:\n\t- b\n", "2:1", "yaml", "not YAML: a tab stands where YAML wants spaces"),
        ("a: [1, 2\nb: 3\n", "2:2", "yaml", "not YAML: "),
        ("a: 'x\n", "1:4", "yaml", "not YAML: "),
        ('a: "\\q"\n', "1:6", "yaml", "not YAML: "),
        ("a: @x\n", "1:4", "yaml", "not YAML: "),
        ("a: *x\n", "1:4", "yaml", 'not YAML: no anchor "x" stands before this alias'),
        ("a: &a [*a]\n", "1:8", "yaml", 'not YAML: no anchor "a" stands before this alias'),
        ("a: !!binary x\n", "1:4", "tag", 'the tag "tag:yaml.org,2002:binary" is not known'),
        ("a: !!int '3'\n", "1:4", "tag", 'the tag "tag:yaml.org,2002:int" is not known'),
        ("a: !own {b: 1}\n", "1:4", "tag", 'the tag "!own" is not known'),
        ("a: !!python/object:os.system [x]\n", "1:4", "tag", "the tag "),
        ("? [x]\n: 1\n", "1:3", "key", "a key must be a word, not a mapping or a list"),
        ("a: 'x\x07'\n", "1:6", "yaml", "the character #x0007 is not allowed"),
        ("a: b\nc: '\ud83d'\n", "2:5", "yaml", "the character #xd83d is not allowed"),
        ('a: b\nc: "\\ud83d"\n', "2:4", "yaml", ""),
    ],
)
def test_mistakes_of_the_text(text: str, place: str, code: str, message: str) -> None:
    """One problem, at the character where the reader gave up."""
    [(at, of, said)] = wrong(text)
    assert (at, of, said[: len(message)]) == (place, code, message)


@pytest.mark.parametrize("brackets", ["[", "{a: ", "- "], ids=["lists", "mappings", "block lists"])
def test_depth_is_bounded(brackets: str) -> None:
    """64 levels are read, one more is a problem at its place, and a thousand exhaust nothing."""
    closing = {"[": "]", "{a: ": "}", "- ": ""}[brackets]
    assert tree.parse(brackets * 64 + "1" + closing * 64, "f").value
    column = 64 * len(brackets) + 1
    for levels in (65, 1_000):
        assert wrong(brackets * levels) == [(f"1:{column}", "nesting", "nested deeper than 64 levels")]


def bomb(levels: int) -> str:
    """Each level is ten of the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (bomb(9), "6:"),
        (bomb(9).replace("[", "{a: [").replace("]", "]}"), "6:"),
        (
            "x: &x {" + ", ".join(f"k{index}: 1" for index in range(100)) + "}\n" + "y: [" + "{<<: *x}, " * 3_000 + "]",
            "2:",
        ),
    ],
    ids=["lists", "mappings", "merge keys"],
)
def test_aliases_are_counted_as_if_written_out(text: str, place: str) -> None:
    """A billion values of a few lines are refused as soon as there are too many, before anything is made of them."""
    start = time.process_time()
    [(at, code, message)] = wrong(text)
    assert (at[:2], code, message) == (place, "too-large", "more than 200000 values, aliases written out")
    assert time.process_time() - start < 20


def test_aliases_that_are_not_too_many_are_read() -> None:
    """And keep the meaning of what they stand for."""
    node = tree.parse(bomb(4), "f").plain()
    assert node["a3"] == [[[["x"] * 10] * 10] * 10] * 10


@given(documents(strings("Cc", "Zl", "Zp")))
@settings(max_examples=40)
def test_what_kwokgen_writes_it_reads(document: dict[str, Any]) -> None:
    """All of it, with a place for everything."""
    text = dump(document).removeprefix("---\n")
    assume("<<" not in text)
    node = tree.parse(text, "f")
    assert node.plain() == document
    lines = text.split("\n")
    for _, key, value in walk(node):
        for place in filter(None, (key, value)):
            line, column = map(int, place.split(":"))
            assert 1 <= line <= len(lines)
            assert 1 <= column <= len(lines[line - 1]) + 1


def lines_of_problems(text: str) -> list[int]:
    try:
        tree.parse(text, "f").plain()
    except KwokgenError as error:
        return [problem.pos.line for problem in error.problems]
    return []


@given(st.text(alphabet=" \n\t:-[]{}&*!|>'\"#%@`,?a0é\r\x85\u2028\ufeff\x00", max_size=30))
def test_no_text_is_too_nasty(text: str) -> None:
    """It is a tree, or problems with places in it."""
    lines = len(re.split(r"\r\n|[\r\n\x85\u2028]", text))
    assert all(0 <= line <= lines for line in lines_of_problems(text))
