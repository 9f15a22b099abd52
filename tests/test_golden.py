"""Small blueprints and every byte of what they are rendered to; `pytest --update` writes it anew, then look at it.

The first comments of a blueprint say what it is for:

    # case: C02, C09                   of tests/cases.yaml, where it is one of them
    # why: what goes wrong otherwise
    # files: 40-*.yaml 80-*.yaml       only these of the bundle are held; all without the line
"""

from __future__ import annotations

import re
import shutil
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kwokgen.pipeline import render
from tests.unit.rendering import contents, in_folder

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())


def header(case: Path) -> dict[str, str]:
    """The first comments of a case's blueprint by their words."""
    text = (case / "blueprint.yaml").read_text(encoding="utf-8")
    comments = re.match(r"(# .*\n)*", text)
    return dict(re.findall(r"^# (case|why|files): (.+)$", comments[0] if comments else "", re.MULTILINE))


def held(case: Path) -> dict[str, bytes]:
    """The files of a case's bundle that it is about."""
    done = contents(render(str(case / "blueprint.yaml")).bundle())
    patterns = header(case).get("files", "*").split()
    for pattern in patterns:
        assert any(fnmatchcase(path, pattern) for path in done), f"no file is called {pattern}"
    return {path: text for path, text in done.items() if any(fnmatchcase(path, pattern) for pattern in patterns)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bundle_is_what_it_was(case: Path, *, update: bool) -> None:
    expected = case / "expected"
    done = held(case)
    if update:
        shutil.rmtree(expected, ignore_errors=True)
        for path, text in done.items():
            (expected / path).parent.mkdir(parents=True, exist_ok=True)
            (expected / path).write_bytes(text)
    assert {path: text.decode() for path, text in done.items()} == {
        path: text.decode() for path, text in in_folder(expected).items()
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_what_it_is_for(case: Path) -> None:
    assert "why" in header(case)
    assert {path.name for path in case.iterdir()} == {"blueprint.yaml", "expected"}
