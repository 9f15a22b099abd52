"""What commands say about themselves, and the forms of their answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kwokgen.catalog import KINDS
from kwokgen.cli import USAGE
from kwokgen.cli.plan import _duration
from tests.unit.rendering import ROOT, blueprint, command

WARNED = """
pools: [{name: a, count: 1, machine: {cpu: 8}}]
workloads: [{name: w, kind: job, arrival: {every: 1s}}]
"""
DURATIONS = {
    0: "0 s",
    119: "119 s",
    120: "2 min",
    7_199: "119 min",
    7_200: "2 h",
    7_260: "2 h 1 min",
    172_799: "47 h 59 min",
    172_800: "2 days",
    9_936_000: "115 days",
    9_939_600: "115 days 1 h",
}


@pytest.mark.parametrize(("seconds", "words"), DURATIONS.items())
def test_a_plan_says_how_long_in_units_that_people_read(seconds: int, words: str) -> None:
    assert _duration(seconds) == words


def said(*arguments: str, cwd: Path = ROOT, code: int = 0) -> tuple[str, str]:
    """What a command writes to stdout and to stderr."""
    done = command(*arguments, cwd=cwd)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def test_a_plan_for_github_is_text_and_its_warnings_are_annotations(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(blueprint(WARNED), encoding="utf-8")
    plain, _ = said("plan", "t.yaml", cwd=tmp_path)
    assert plain.startswith("blueprint ")
    out, err = said("plan", "t.yaml", "--format", "github", cwd=tmp_path)
    assert out == plain
    assert err.startswith("::warning file=t.yaml,line=")


def test_a_list_of_the_catalogue_has_nothing_to_annotate() -> None:
    """There is no file of the user's that it speaks of."""
    _, err = said("catalog", "--format", "github", code=USAGE)
    assert "'github' is not one of 'text', 'json'" in err


def helped(name: str) -> str:
    """The help of a command, whose lines are as long as its library likes."""
    return " ".join(said(name, "--help")[0].split())


FORMATS = {
    "validate": "How problems are written",
    "render": "How problems are written",
    "plan": "How the plan and problems are written",
    "diff": "How changes and problems are written",
    "catalog": "How entries and problems are written",
}


@pytest.mark.parametrize(("name", "words"), FORMATS.items())
def test_help_says_what_a_format_is_of(name: str, words: str) -> None:
    assert words in helped(name)


def test_help_names_the_kinds_of_the_catalogue() -> None:
    """By the folders that they are, those of `stages/node` and `stages/pod` together; each of them is taken."""
    [listed] = re.findall(r"KIND One of ([a-z, ]+)\.", helped("catalog"))
    assert listed.split(", ") == list(dict.fromkeys(kind.partition("/")[0] for kind in KINDS))
    assert said("catalog", "stages")[0].splitlines()[0] == "stages/node:"
