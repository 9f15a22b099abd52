"""What is written reads back as it was: by YAML 1.1, by YAML 1.2, stamped or dumped, and by kubectl."""

from __future__ import annotations

import json
import operator
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kwokgen import emit
from kwokgen.catalog import Catalog
from kwokgen.emit import dump, stamp
from kwokgen.model.place import Place
from kwokgen.problem import Pos
from kwokgen.series import Column, Join, Run, Series, Shape, Slot, filled
from tests.unit.nasty import CONTROLLED_LINES, CONTROLS, PRINTED, documents, strings
from tests.unit.rendering import content, rendered, split

ALWAYS = settings(derandomize=True, deadline=None, max_examples=200)
COLUMNS: dict[str, Column] = {
    "name": lambda index: f"n-{index}",
    "text": lambda index: PRINTED[index % len(PRINTED)],
    "hex": lambda index: f"{index:08x}",
    "number": lambda index: str(index * 7 - 3),
}
SORTS = {"name": "name", "text": "text", "hex": "hex", "number": "int"}
SLOTS = st.sampled_from([Slot(column, sort) for column, sort in SORTS.items()])
JOINS = st.lists(st.one_of(SLOTS, strings("Cc")), min_size=1, max_size=4).map(lambda parts: Join(tuple(parts)))


def series(shapes: tuple[tuple[Shape, int], ...]) -> Series:
    """A series with so many rows of each shape."""
    runs, first = [], 0
    for shape, rows in shapes:
        runs.append(Run(shape, first, first + rows - 1))
        first += rows
    return Series(file="f.yaml", runs=tuple(runs), at=Place(), by="tests", columns=COLUMNS)


def direct(value: Any, index: int) -> Any:
    """A row as `filled` makes it, with the quotes that a slot brings."""
    if isinstance(value, dict):
        return {key: direct(below, index) for key, below in value.items()}
    if isinstance(value, list):
        return [direct(below, index) for below in value]
    done = filled(value, COLUMNS, index)
    if isinstance(value, Slot | Join) and isinstance(done, str):
        done = emit._Mark(done)
        done.bare = False
    return done


def read_twice(text: str) -> tuple[Any, Any]:
    """A document as YAML 1.1 and as YAML 1.2 has it."""
    return yaml.safe_load(text), YAML(typ="safe", pure=True).load(StringIO(text))


@pytest.mark.slow
@ALWAYS
@given(
    st.lists(st.tuples(documents(strings("Cc"), st.one_of(SLOTS, JOINS)), st.integers(1, 9)), min_size=1, max_size=3)
)
def test_stamped_bytes_are_those_of_a_direct_dump(shapes: list[tuple[dict[str, Any], int]]) -> None:
    """Every row that is stamped has the bytes of the row that is filled in first and dumped then."""
    made = series(tuple((Shape((document, {"second": document})), rows) for document, rows in shapes))
    rows = [
        (document, index)
        for run in made.runs
        for index in range(run.first, run.last + 1)
        for document in run.shape.documents
    ]
    assert "".join(dump(direct(document, index)) for document, index in rows) == b"".join(stamp(made)).decode()


@pytest.mark.slow
@ALWAYS
@given(documents(strings("Cc"), st.one_of(SLOTS, JOINS)), st.integers(0, 200))
def test_stamped_rows_read_back(document: dict[str, Any], index: int) -> None:
    """What slots are filled with arrives, whatever it looks like: texts escaped, integers as numbers."""
    made = series(((Shape(({"d": document},)), index + 1),)).part(index, index)
    wanted = {"d": filled(document, COLUMNS, index)}
    assert (wanted, wanted) == read_twice(b"".join(stamp(made)).decode())


def test_first_last_and_rows_between_of_a_large_series(tmp_path: Path) -> None:
    """Pieces of a MiB join without a seam: rows at their borders are as any other."""
    done = rendered(tmp_path, "pools: [{name: p, count: 2400, machine: p5.48xlarge}]")
    (file,) = (file for file in done.bundle().files if file.path.startswith("50"))
    (made,) = (one for one in done.series if one.file.startswith("50"))
    found = split(content(file))
    assert len(list(file.pieces())) > 3
    assert made.rows == len(found)
    for index in (0, 1, 7, 255, 256, 1023, 1999, 2399):
        wanted = filled(made.runs[0].shape.documents[0], made.columns, index)
        assert (wanted, wanted) == read_twice(found[index].decode())


@pytest.mark.slow
@pytest.mark.parametrize("categories", [("Cc",), ()], ids=["printed", "any"])
def test_any_document_reads_back(categories: tuple[str, ...]) -> None:
    """Nothing that JSON can say is read as something else, by YAML 1.1 or 1.2: no word, number, date or mark."""

    @ALWAYS
    @given(documents(strings(*categories)))
    @example({"a": CONTROLLED_LINES[0]} if not categories else {"a": ""})
    def reads_back(document: dict[str, Any]) -> None:
        assert (document, document) == read_twice(dump(document))

    reads_back()


@pytest.mark.parametrize("text", [*PRINTED, *CONTROLS], ids=lambda text: ascii(text)[:30])
def test_every_nasty_string_reads_back(text: str) -> None:
    """As a value, in a list, and as a key."""
    document = {"value": text, "list": [text, [text]], "key": {text[:300]: text}}
    assert (document, document) == read_twice(dump(document))


@pytest.mark.parametrize("text", CONTROLLED_LINES, ids=ascii)
def test_control_characters_at_the_ends_of_lines_read_back(text: str) -> None:
    """A text of lines that starts or ends with a control character is quoted, for no block can hold it."""
    assert ({"a": text}, {"a": text}) == read_twice(dump({"a": text}))


@pytest.mark.parametrize("number", [1e22, -2.5e-9, 1e-7])
def test_numbers_with_an_exponent_read_back(number: float) -> None:
    """A float is a float to every reader."""
    assert ({"a": number}, {"a": number}) == read_twice(dump({"a": number}))


@pytest.mark.parametrize(
    ("text", "expected"), [('a"b', '"a\\"b"'), ("a\\b", '"a\\\\b"'), ("a\nb", '"a\\nb"'), ("é😀", '"é😀"')]
)
def test_text_columns_are_escaped(text: str, expected: str) -> None:
    """A slot of text is written with YAML's escapes, alone and inside a join."""
    shape = Shape(({"a": Slot("t", "text"), "b": Join(("<", Slot("t", "text"), ">"))},))
    made = Series(file="f", runs=(Run(shape, 0, 0),), at=Place(), by="tests", columns={"t": lambda _index: text})
    assert f'---\na: {expected}\nb: "<{expected[1:-1]}>"\n' == b"".join(stamp(made)).decode()


def test_only_integers_are_bare() -> None:
    """An integer stands without quotes; a name and hex digits have them even where they need none."""
    shape = Shape(({column: Slot(column, sort) for column, sort in SORTS.items()},))
    expected = b'---\nname: "n-1"\ntext: "n"\nhex: "00000001"\nnumber: 4\n'
    assert expected == b"".join(stamp(series(((shape, 2),)).part(1, 1)))


@pytest.mark.parametrize("slot", [Slot("name"), Join(("a", Slot("name")))], ids=["slot", "join"])
@pytest.mark.parametrize(
    "use",
    [
        str,
        len,
        bool,
        iter,
        lambda slot: f"{slot}",
        lambda slot: f"{slot:>9}",
        lambda slot: "%s" % slot,  # noqa: UP031
        "{}".format,
        lambda slot: slot == "a",
        lambda slot: slot != "a",
        lambda slot: slot == slot,
        lambda slot: slot + "a",
        lambda slot: "a" + slot,
        lambda slot: slot * 2,
        lambda slot: slot % 2,
        lambda slot: operator.lt(slot, slot),
    ],
)
def test_slots_refuse_to_be_used(slot: Slot | Join, use: Callable[[Any], object]) -> None:
    """A builder that reads a slot fails where it does so, not in somebody's cluster."""
    with pytest.raises(TypeError):
        use(slot)


@pytest.mark.parametrize("name", Catalog().names("stages/pod"))
def test_templates_are_literal_blocks(name: str) -> None:
    """A template of several lines stands in the output as in its file, byte for byte, and can be reviewed there."""
    fact = Catalog().get("stages/pod", name, Pos("tests"), "lifecycle")
    templates = [stage["next"]["statusTemplate"] for stage in fact.data["stages"] if "statusTemplate" in stage["next"]]
    assert templates
    for template in templates:
        expected = f"---\nspec:\n  next:\n    statusTemplate: |\n{indent(template, '      ')}"
        assert expected == dump({"spec": {"next": {"statusTemplate": template}}})


@pytest.mark.live
def test_kubectl_reads_what_is_written() -> None:
    """The real kubectl has the same idea of every nasty string, alone, joined, as a key, and in a block."""
    from testbed.programs import path

    texts = [*PRINTED, *CONTROLS, *(first + second for first in PRINTED for second in PRINTED)]
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    wanted = [
        head
        | {
            "metadata": {"name": f"c-{start}"},
            "data": {text[:300]: [text, {"in": text}] for text in texts[start : start + 200]},
        }
        for start in range(0, len(texts), 200)
    ]
    wanted.append(
        head | {"metadata": {"name": "scalars"}, "data": {"a": [None, True, False, 0, -7, 2**53, 0.5, {}, []]}}
    )
    command = [path("kubernetes-1.37", "kubectl"), "annotate", "--local", "-f", "-", "x=y", "-o", "json"]
    said = subprocess.run(command, input="".join(map(dump, wanted)), capture_output=True, text=True, check=True).stdout
    found, at = [], 0
    while at < len(said.rstrip()):
        document, at = json.JSONDecoder().raw_decode(said, at)
        at += len(said[at:]) - len(said[at:].lstrip())
        assert document["metadata"].pop("annotations") == {"x": "y"}
        found.append(document)
    assert wanted == found
