"""Every case of real users is held by files that name it, or is missing; half of them are mistakes."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
import yaml

from tests import test_golden, test_problems
from tests.unit.rendering import ROOT

CASES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "tests" / "cases.yaml").read_text(encoding="utf-8"))
SOURCE = ROOT.parent / "shared" / "reference" / "cases.md"
"""Where the cases are told; not a part of the project."""


def held_by_files() -> set[tuple[str, str]]:
    """Each case with each file and each test that names it."""
    found = {
        (case, f"tests/problems/{file.name}") for file in test_problems.FILES for case in test_problems.read(file).cases
    }
    for folder in test_golden.CASES:
        found |= {(case, f"tests/golden/{folder.name}") for case in _ids(test_golden.header(folder).get("case", ""))}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        place = file.relative_to(ROOT)
        found |= {(case, f"{place}::{test.name}") for test in tests for case in _ids(ast.get_docstring(test) or "")}
    return found


def _ids(text: str) -> list[str]:
    return re.findall(r"\bC\d\d\b", text)


def test_the_table_lists_exactly_what_names_a_case() -> None:
    assert {(case, held) for case, entry in CASES.items() for held in entry.get("held", ())} == held_by_files()


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_held_or_says_what_is_missing(case: str) -> None:
    entry = CASES[case]
    assert entry.keys() <= {"title", "mistake", "held", "missing"}
    assert entry["title"]
    assert entry.get("held") or entry.get("missing")
    assert entry["mistake"] is any(held.startswith("tests/problems/") for held in entry.get("held", ()))


def test_every_case_is_there() -> None:
    assert len(CASES) == 36
    assert list(CASES) == sorted(CASES)


@pytest.mark.skipif(not SOURCE.exists(), reason="the cases are told outside of the project")
def test_the_cases_are_those_that_are_told() -> None:
    assert list(CASES) == re.findall(r"^### (C\d+) ", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)


def test_half_of_the_cases_that_are_held_are_mistakes() -> None:
    held = [entry for entry in CASES.values() if "held" in entry]
    assert 2 * sum(entry["mistake"] for entry in held) >= len(held)
