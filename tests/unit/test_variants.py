"""Overlays and `--set`: what is laid over what, and where a mistake in them is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kwokgen.pipeline import read, render
from kwokgen.problem import Problem
from tests.unit.rendering import blueprint, problems

BASE = """
seed: 3
pools:
- {name: a, count: 1, machine: p5.48xlarge, labels: {x: "1", "example.com/y": "2"}}
- {name: "1", count: 2, machine: m7i.24xlarge}
workloads:
- {name: w, kind: job, pods: 4, container: {command: [sleep, inf]}}
patches:
- {target: {kind: Node}, merge: {metadata: {annotations: {note: first}}}}
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A blueprint's file."""
    file = tmp_path / "base.yaml"
    file.write_text(blueprint(BASE), encoding="utf-8")
    return file


def files(folder: Path, *overlays: str) -> list[str]:
    """Overlays as files."""
    paths = [folder / f"over{number}.yaml" for number, _ in enumerate(overlays)]
    for path, text in zip(paths, overlays, strict=True):
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


def spec(file: Path, *sets: str, overlays: tuple[str, ...] = ()) -> dict[str, Any]:
    """The spec that a blueprint with its variants has."""
    node, _ = read(str(file), files(file.parent, *overlays), sets)
    return node.plain()["spec"]


def at(data: Any, path: str) -> Any:
    """A value by keys and indexes, or `-` where there is none."""
    for step in filter(None, path.split(".")):
        data = data[int(step)] if isinstance(data, list) else data.get(step, "-")
    return data


OVERLAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "a value": ("{seed: 4}", {"seed": 4, "pools.0.count": 1}),
    "a new key": ("{controller: {shards: 2}}", {"controller.shards": 2, "seed": 3}),
    "an item by name": (
        "{pools: [{name: '1', count: 9}]}",
        {"pools.0.count": 1, "pools.1.count": 9, "pools.1.machine": "m7i.24xlarge"},
    ),
    "items in another order": (
        "{pools: [{name: '1', count: 9}, {name: a, count: 8}]}",
        {"pools.0.name": "a", "pools.0.count": 8, "pools.1.name": "1", "pools.1.count": 9},
    ),
    "a new item": (
        "{pools: [{name: b, count: 3, machine: dgx-h100}]}",
        {"pools.0.name": "a", "pools.1.name": "1", "pools.2": {"name": "b", "count": 3, "machine": "dgx-h100"}},
    ),
    "a key of a mapping in an item": (
        "{pools: [{name: a, labels: {x: '9', z: '3'}}]}",
        {"pools.0.labels": {"x": "9", "example.com/y": "2", "z": "3"}},
    ),
    "null of a key": ("{seed: null, workloads: ~}", {"seed": "-", "workloads": "-", "pools.0.count": 1}),
    "null of a key in an item": (
        "{pools: [{name: a, labels: {x: null}}]}",
        {"pools.0.labels": {"example.com/y": "2"}, "pools.0.count": 1},
    ),
    "null of a key that is not there": ("{controller: null}", {"controller": "-", "seed": 3}),
    "null of a key below one that is not there": (
        "{controller: {namespace: null, shards: 2}, pools: [{name: b, labels: null, annotations: {x: null}}]}",
        {"controller": {"shards": 2}, "pools.2": {"name": "b", "annotations": {}}},
    ),
    "a list of words": (
        "{workloads: [{name: w, container: {command: [true]}}]}",
        {"workloads.0.container.command": [True], "workloads.0.pods": 4},
    ),
    "a list without names": (
        "{patches: [{target: {kind: Job}, merge: {metadata: {annotations: {a: null}}}}]}",
        {"patches": [{"target": {"kind": "Job"}, "merge": {"metadata": {"annotations": {"a": None}}}}]},
    ),
    "a mapping over a name": ("{pools: [{name: a, machine: {cpu: 1}}]}", {"pools.0.machine": {"cpu": 1}}),
    "no item": ("{workloads: []}", {"workloads": [], "seed": 3}),
}


@pytest.mark.parametrize(("overlay", "expected"), OVERLAYS.values(), ids=OVERLAYS)
def test_overlays(base: Path, overlay: str, expected: dict[str, Any]) -> None:
    """Mappings by key, named lists by name, null deletes, everything else replaces."""
    found = spec(base, overlays=(f"spec: {overlay}",))
    assert {path: at(found, path) for path in expected} == expected


ATTRIBUTES: dict[str, tuple[str, Any]] = {
    "another sort": ("{a: {version: 1.2.3}}", {"version": "1.2.3"}),
    "the same sort": ("{a: {each: [z, w]}}", {"each": ["z", "w"]}),
    "another sort, with a null of the one before": ("{a: {each: null, strings: [z]}}", {"strings": ["z"]}),
    "a word": ("{a: z}", "z"),
    "nothing": ("{a: null}", "-"),
    "another attribute": ("{b: {version: 1.2.3}}", {"each": ["x", "y"]}),
}


@pytest.mark.parametrize(("attributes", "expected"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_an_attribute_has_one_value(tmp_path: Path, attributes: str, expected: Any) -> None:
    """One of another sort takes the place of the one before; `--set` does so as well."""
    gpus = "gpus: {driver: g.example.com, count: 2, attributes: {a: {each: [x, y]}, c: 1}}"
    file = tmp_path / "base.yaml"
    file.write_text(blueprint(f"pools: [{{name: p, count: 1, machine: {{cpu: 1}}, {gpus}}}]"), encoding="utf-8")
    found = spec(file, overlays=(f"spec: {{pools: [{{name: p, gpus: {{attributes: {attributes}}}}}]}}",))
    assert at(found, "pools.0.gpus.attributes.a") == expected
    assert at(found, "pools.0.gpus.attributes.c") == 1


@pytest.mark.parametrize(
    ("path", "expected"), [("version=1.2.3", {"version": "1.2.3"}), ("each[1]=z", {"each": ["x", "z"]})]
)
def test_an_attribute_that_is_set_has_one_value(tmp_path: Path, path: str, expected: Any) -> None:
    """As with an overlay."""
    gpus = "gpus: {driver: g.example.com, count: 2, attributes: {a: {each: [x, y]}}}"
    file = tmp_path / "base.yaml"
    file.write_text(blueprint(f"pools: [{{name: p, count: 1, machine: {{cpu: 1}}, {gpus}}}]"), encoding="utf-8")
    found = render(str(file), sets=[f"pools.p.gpus.attributes.a.{path}"])
    assert found.cluster.pools[0].count == 1
    assert at(spec(file, f"pools.p.gpus.attributes.a.{path}"), "pools.0.gpus.attributes.a") == expected


def test_overlays_follow_each_other_and_then_the_sets(base: Path) -> None:
    """The last word wins."""
    overlays = ("spec: {seed: 10, pools: [{name: a, count: 10}]}", "spec: {seed: 20}")
    found = spec(base, "workloads.w.pods=30", "workloads.w.pods=31", overlays=overlays)
    assert {path: at(found, path) for path in ("seed", "pools.0.count", "workloads.0.pods")} == {
        "seed": 20,
        "pools.0.count": 10,
        "workloads.0.pods": 31,
    }


def test_an_overlay_may_name_the_bundle(base: Path) -> None:
    """It is laid over the whole document."""
    [over] = files(base.parent, "metadata: {name: other}")
    assert render(str(base), overlays=[over]).cluster.name == "other"


SETS: dict[str, tuple[str, str, Any]] = {
    "a number": ("pools.a.count=5", "pools.0.count", 5),
    "an item by index": ("pools[1].count=5", "pools.1.count", 5),
    "an item that is called like an index": ("pools.1.count=5", "pools.1.count", 5),
    "a name in quotes": ('pools."1".count=5', "pools.1.count", 5),
    "a key in quotes": ('"pools".a."count"=5', "pools.0.count", 5),
    "a key with dots": ('pools.a.labels."example.com/y"=9', "pools.0.labels", {"x": "1", "example.com/y": 9}),
    "a key with an equals sign": ('pools.a."x=y"=1', "pools.0.x=y", 1),
    "a new mapping": ("controller.shards=2", "controller", {"shards": 2}),
    "a mapping": ("pools.a.labels={z: '3'}", "pools.0.labels", {"z": "3"}),
    "a list": ("workloads.w.claims=[a, b]", "workloads.0.claims", ["a", "b"]),
    "an item of a list of words": (
        "workloads.w.container.command[1]=9s",
        "workloads.0.container.command",
        ["sleep", "9s"],
    ),
    "a whole item": ("pools[1]={name: b}", "pools.1", {"name": "b"}),
    "a string": ("pools.a.machine=dgx-h100", "pools.0.machine", "dgx-h100"),
    "a number in quotes": ("kubernetes='1.37'", "kubernetes", "1.37"),
    "a boolean": ("pools.a.fakeTaint=false", "pools.0.fakeTaint", False),
    "a word of YAML 1.1": ("pools.a.machine=yes", "pools.0.machine", "yes"),
    "a value with an equals sign": ("pools.a.machine=a=b", "pools.0.machine", "a=b"),
    "a value in quotes": ('pools.a.machine="a: b # c"', "pools.0.machine", "a: b # c"),
    "spaces around": ("seed= 7 ", "seed", 7),
    "nothing": ("pools.a.machine=", "pools.0.machine", ""),
    "an empty string": ("pools.a.machine=''", "pools.0.machine", ""),
    "letters beyond ASCII": ("pools.a.machine=日本", "pools.0.machine", "日本"),
}


@pytest.mark.parametrize(("argument", "path", "expected"), SETS.values(), ids=SETS)
def test_sets(base: Path, argument: str, path: str, expected: object) -> None:
    """A path below spec, with names or indexes for items, and one YAML value."""
    found = at(spec(base, argument), path)
    assert (type(found), found) == (type(expected), expected)


def test_a_set_leaves_all_else_as_it_is(base: Path) -> None:
    """Also the other keys of the item."""
    before, after = spec(base), spec(base, "pools.a.count=5")
    after["pools"][0]["count"] = 1
    assert before == after


def test_a_version_keeps_its_spelling(base: Path) -> None:
    """1.30 is the number 1.3: the report says what was written."""
    found = wrong(base, "kubernetes=1.30")
    assert "1.30" in found[0].message
    assert place(found[0]) == "--set[1]:1:12"


def wrong(file: Path, *sets: str, overlays: tuple[str, ...] = ()) -> tuple[Problem, ...]:
    """What is wrong with a blueprint with its variants."""
    return problems(lambda: render(str(file), overlays=files(file.parent, *overlays), sets=sets))


def place(problem: Problem) -> str:
    """File, line and column, without the folder."""
    return str(problem.pos).rpartition("/")[2]


MISTAKES: dict[str, tuple[str, int, str]] = {
    "no item of this name": ("pools.b.count=5", 7, 'no item is named "b". available: "1", "a"'),
    "no item of this index": ("pools[2].count=5", 6, "there is no item [2]: the list has 2"),
    "no value": ("pools.a.count", 14, "no value: write path=value"),
    "no path": ("=1", 1, "no path: write path=value"),
    "nothing at all": ("", 1, "no path: write path=value"),
    "a dot first": (".seed=1", 1, '"." does not belong here'),
    "a dot last": ("pools.a.count.=1", 14, ""),
    "two dots": ("pools..a=1", 7, '"." does not belong here'),
    "an index that is no number": ("pools[a].count=1", 6, '"[" does not belong here'),
    "a negative index": ("pools[-1].count=1", 6, '"[" does not belong here'),
    "no dot behind an index": ("pools[0]count=1", 9, ""),
    "an open quote": ('pools."a=1', 7, ""),
    "a path below a value": ("seed.x=1", 6, '"x" leads nowhere: 3 is a single value'),
    "a list that is not closed": ("pools.a.taints=[1", 18, "not YAML: "),
    "a mapping where there is none": ("pools.a.machine=a: b: c", 21, "not YAML: "),
    "a key twice": ("pools.a.labels={b: '1', b: '2'}", 25, 'key "b" is given twice'),
    "an alias": ("seed=*x", 6, 'not YAML: no anchor "x"'),
    "a tag": ("seed=!x 1", 6, 'the tag "!x" is not known'),
    "two lines": ("seed=1\nx: 2", 6, ""),
    "a comment": ("seed=# none", 6, ""),
    "a document": ("seed=1\n---\n", 6, ""),
    "a null": ("pools.a.count=null", 15, '"count" must be an integer'),
    "a null behind a space": ("pools.a.count= null", 16, '"count" must be an integer, not null'),
    "a null before a comment": ("pools.a.count=~ # none", 15, '"count" must be an integer, not null'),
    "a null on two lines": ("pools.a.count=null\n", 15, '"count" must be an integer, not null'),
    "a comment behind a space": ("seed= # none", 7, "no value: this is a comment"),
    "a path on two lines": ("seed.x=1\n", 6, '"x" leads nowhere'),
    "a wrong type": ("pools.a.count='5'", 15, '"count" must be an integer'),
    "a wrong type below": ("pools.a.labels={b: 1}", 20, '"b" must be a string, not the number 1'),
    "an unknown key": ("pools.a.cuont=5", 9, 'unknown key "cuont"'),
    "a key that is not below spec": ("metadata.name=x", 1, 'a path begins below spec, which has no "metadata"'),
    "an unknown name": ("pools.a.machine=p5", 17, 'unknown machine "p5"'),
    "an item of a list that is not there": ("namespaces[0].name=x", 1, '"namespaces" must be a list'),
}


@pytest.mark.parametrize(("argument", "column", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_of_a_set(base: Path, argument: str, column: int, message: str) -> None:
    """One problem at the character of the argument, which is shown whole."""
    [found] = wrong(base, "seed=1" if "seed" not in argument else "pools.a.count=1", argument)
    assert found.message[: len(message)] == message
    line = 2 if argument.startswith("seed=1\n") and found.pos.line == 2 else 1
    assert (found.pos.file, found.pos.line) == ("--set[2]", line)
    assert found.pos.column == column or line == 2
    assert found.pos.excerpt == argument.split("\n")[line - 1]
    assert "file" not in found.message


@pytest.mark.parametrize("argument", ["seed=[1,\r2", "pools.a.labels={b: '1',\r c: 2}"])
def test_a_mistake_behind_a_carriage_return(base: Path, argument: str) -> None:
    """Where YAML begins a line, and the argument none."""
    [found] = wrong(base, argument)
    assert (found.pos.file, found.pos.line) == ("--set[1]", 2)


def test_every_mistake_of_sets_is_told_with_those_of_the_blueprint(base: Path) -> None:
    """Those that lead somewhere are set, so that what they say is looked at as well."""
    base.write_text(base.read_text(encoding="utf-8").replace("m7i.24xlarge", "3"), encoding="utf-8")
    found = wrong(base, "pools.x.count=2", "pools.a.count=0", "pools.y.count=[", "workloads.z.pods=1", "seed.x=1")
    assert [place(problem) for problem in found] == [
        "--set[1]:1:7",
        "--set[2]:1:15",
        "--set[3]:1:16",
        "--set[4]:1:11",
        "--set[5]:1:6",
        "base.yaml:9:36",
    ]


def test_a_set_that_fails_is_told_with_warnings(base: Path) -> None:
    """Also where nothing else is wrong."""
    found = wrong(base, "pools.x.count=2", "pools.a.fakeTaint=false")
    assert [(place(problem), problem.severity) for problem in found] == [
        ("--set[1]:1:7", "error"),
        ("--set[2]:1:19", "warning"),
    ]


OVERLAY_MISTAKES: dict[str, tuple[str, list[str]]] = {
    "a value": ("spec:\n  pools:\n  - name: a\n    count: many\n", ["over0.yaml:4:12"]),
    "a key": ("spec:\n  pools:\n  - name: a\n    cuont: 3\n", ["over0.yaml:4:5"]),
    "a name": ("spec: {pools: [{name: a, machine: p5}]}\n", ["over0.yaml:1:35"]),
    "a new item that lacks a key": ("spec:\n  pools:\n  - {name: b, count: 1}\n", ["over0.yaml:3:5"]),
    "a new mapping": ("spec: {controller: {shards: 61}}\n", ["over0.yaml:1:29"]),
    "a key that was deleted": ("spec: {kubernetes: null}\n", ["base.yaml:5:3"]),
    "a list over a mapping": ("spec: []\n", ["over0.yaml:1:7"]),
    "a word over everything": ("word\n", ["over0.yaml:1:1"]),
    "nothing": ("# nothing\n", ["over0.yaml"]),
    "no YAML": ("spec: [\n", ["over0.yaml:2:1"]),
    "a name twice": ("spec: {pools: [{name: a, count: 1}, {name: a, count: 2}]}\n", ["over0.yaml:1:44"]),
}


@pytest.mark.parametrize(("overlay", "expected"), OVERLAY_MISTAKES.values(), ids=OVERLAY_MISTAKES)
def test_mistakes_of_an_overlay(base: Path, overlay: str, expected: list[str]) -> None:
    """Each stands in the file that wrote it."""
    assert [place(problem) for problem in wrong(base, overlays=(overlay,))] == expected


def test_what_an_overlay_did_not_write_stands_in_the_blueprint(base: Path) -> None:
    """A mistake of the blueprint in an item that the overlay changes."""
    base.write_text(base.read_text(encoding="utf-8").replace("m7i.24xlarge", "3"), encoding="utf-8")
    found = wrong(base, "pools.a.count=x", overlays=("spec: {pools: [{name: '1', count: y}]}",))
    assert [place(problem) for problem in found] == ["--set[1]:1:15", "base.yaml:9:36", "over0.yaml:1:35"]


def test_two_items_of_one_name_are_no_less_wrong_with_an_overlay(base: Path) -> None:
    """The first of them must not vanish."""
    base.write_text(base.read_text(encoding="utf-8").replace('name: "1"', "name: a"), encoding="utf-8")
    alone = [problem.code for problem in wrong(base)]
    over = [
        problem.code for problem in wrong(base, overlays=("spec: {pools: [{name: c, count: 1, machine: dgx-h100}]}",))
    ]
    assert "duplicate-name" in alone
    assert "duplicate-name" in over


def test_two_items_of_one_name_stand_where_they_are_written(base: Path) -> None:
    """Also when an overlay changes them: its name is only the way to them."""
    base.write_text(base.read_text(encoding="utf-8").replace('name: "1"', "name: a"), encoding="utf-8")
    found = [wrong(base), wrong(base, overlays=("spec: {pools: [{name: a, count: 3}]}",))]
    assert [[(place(one), one.code, one.message) for one in problems] for problems in found] == [
        [("base.yaml:9:12", "duplicate-name", 'two pools are named "a", the first at 8:12')]
    ] * 2


def test_an_overlay_that_cannot_be_read(base: Path) -> None:
    """Is a problem of that file."""
    found = problems(lambda: render(str(base), overlays=[str(base.parent / "missing.yaml")]))
    assert [(place(problem), problem.code) for problem in found] == [("missing.yaml", "unreadable")]
