"""Mistakes, each in a file of its own whose first comments say what must be found in it, and nothing else.

# expect: LINE:COLUMN CODE "a part of the text"     in the order of the report; `warning: ` before a warning's place
# hint: "a part of the hint"                        of the expectation above; "" is no hint at all
# why: what goes wrong otherwise
# case: C16, C17                                    of tests/cases.yaml
# entry: stages/pod                                 the file is no blueprint, it is an entry of a catalogue that one uses
# xfail: what the product does instead              strict: the line goes with the bug
"""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest

from kwokgen.catalog import Catalog
from kwokgen.pipeline import render
from kwokgen.problem import KwokgenError, Problem

FOLDER = Path(__file__).parent / "problems"
FILES = sorted(FOLDER.iterdir())
EXPECT = re.compile(r'(?P<warning>warning: )?(?P<place>\d+:\d+) (?P<code>[a-z-]+) "(?P<text>.+)"')
HINT = re.compile(r'"(?P<text>.*)"')


class Expected(NamedTuple):
    """One problem, as a file's comments have it; a hint of None may be anything."""

    place: str
    code: str
    text: str
    hint: str | None = None


class Case(NamedTuple):
    """What the comments at the top of a file say."""

    expected: list[Expected]
    why: str = ""
    cases: tuple[str, ...] = ()
    entry: str = ""
    xfail: str = ""


USES = {
    "stages/node": """
  lifecycles: [{name: own, nodes: case}]
  pools: [{name: gpu, count: 2, machine: p5.48xlarge}]
  faults: [{name: later, fault: readonly-filesystem, where: {pool: gpu, nodes: [0]}, start: {after: 10m}}]
""",
    "stages/pod": """
  lifecycles: [{name: own, pods: case}]
  pools: [{name: gpu, count: 2, machine: p5.48xlarge}]
  workloads: [{name: train, kind: job}]
""",
}
"""What a blueprint has that uses an entry."""
HEAD = 'apiVersion: kwokgen.io/v1alpha1\nkind: Blueprint\nmetadata: {name: case}\nspec:\n  kubernetes: "1.37"'


def read(file: Path) -> Case:
    """The comments of a file that are for this test; any other comment may follow them."""
    case = Case([])
    lines = file.read_text(encoding="utf-8").split("\n")
    for line in takewhile(lambda line: re.match(r"# [a-z]+: ", line), lines):
        word, _, said = line.removeprefix("# ").partition(": ")
        if word == "expect":
            found = EXPECT.fullmatch(said)
            assert found, f"{file.name}: {line}"
            place = (found["warning"] or "") + found["place"]
            case.expected.append(Expected(place, found["code"], found["text"]))
        elif word == "hint":
            found = HINT.fullmatch(said)
            assert found, f"{file.name}: {line}"
            case.expected[-1] = case.expected[-1]._replace(hint=found["text"])
        else:
            assert word in {"why", "case", "entry", "xfail"}, f"{file.name}: {line}"
            case = case._replace(**{"cases": tuple(said.split(", "))} if word == "case" else {word: said})
    return case


def parameters() -> list:
    marks = {file: pytest.mark.xfail(reason=read(file).xfail, strict=True) for file in FILES if read(file).xfail}
    return [pytest.param(file, id=file.stem, marks=marks.get(file, ())) for file in FILES]


def found(file: Path, catalog: Catalog) -> tuple[Problem, ...]:
    """Every problem of a blueprint, warnings as well."""
    try:
        return render(str(file), catalog=catalog).warnings
    except KwokgenError as error:
        return error.problems


def used(file: Path, entry: str, folder: Path) -> tuple[Path, Path, Catalog]:
    """A blueprint that uses a catalogue's entry, where the entry stands then, and the catalogue."""
    own, blueprint = folder / entry / "case.yaml", folder / "blueprint.yaml"
    own.parent.mkdir(parents=True)
    own.write_bytes(file.read_bytes())
    blueprint.write_text(HEAD + USES[entry], encoding="utf-8")
    return blueprint, own, Catalog.of([str(folder)])


def said(problem: Problem, expected: Expected | None) -> Expected:
    """A problem in the words of what is expected, as far as those are parts of its own."""
    place = f"{problem.pos.line}:{problem.pos.column}"
    place = f"warning: {place}" if problem.severity == "warning" else place
    text, hint = problem.message, problem.hint
    if expected and expected.text in text:
        text = expected.text
    if expected and (expected.hint is None or (expected.hint and expected.hint in hint)):
        return Expected(place, problem.code, text, expected.hint)
    return Expected(place, problem.code, text, hint)


@pytest.mark.parametrize("file", parameters())
def test_a_file_has_the_problems_that_it_says_and_no_other(file: Path, tmp_path: Path) -> None:
    expected, entry = read(file).expected, read(file).entry
    blueprint, file, catalog = used(file, entry, tmp_path) if entry else (file, file, Catalog())
    problems = found(blueprint, catalog)
    padded = [*expected, *[None] * len(problems)]
    assert [said(problem, one) for problem, one in zip(problems, padded, strict=False)] == expected
    assert {problem.pos.file for problem in problems} == {str(file)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_says_what_must_be_found_and_why(file: Path) -> None:
    case = read(file)
    assert file.suffix == ".yaml"
    assert case.expected
    assert case.why
