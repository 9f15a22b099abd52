"""The lint of Stages: kwokgen's own have nothing wrong, and right ones of others are let alone; the wrong are in problems/."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kwokgen import stagelint
from kwokgen.blueprint.lifecycles import DEFAULTS, FOLDER
from kwokgen.catalog import Catalog, entries
from kwokgen.expressions import Question, held
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.pipeline import render
from kwokgen.problem import EnvironmentFailure, KwokgenError, Pos, Problem
from kwokgen.resources._stages import stages
from tests import test_golden
from tests.unit.rendering import BLUEPRINTS, ROOT, blueprint, rendered

NODES, PODS = (Catalog().names(FOLDER[sort]) for sort in ("nodes", "pods"))
NAMED = [("nodes", name) for name in NODES if name != "node-capacity"] + [("pods", name) for name in PODS]
FUNCTIONS = entries.kwok(Catalog().get("kwok", "v0.8.0", Pos(""), "release")).functions
POOL = "pools: [{name: a, count: 1, machine: p5.48xlarge}]\n"
RENDERED = [*sorted(BLUEPRINTS.glob("*.yaml")), *(case / "blueprint.yaml" for case in test_golden.CASES)]


def problems(lifecycle: Lifecycle) -> list[Problem]:
    functions = FUNCTIONS[lifecycle.kind]
    return [*stagelint.alone(lifecycle, functions), *stagelint.between(lifecycle, functions)]


@pytest.mark.parametrize(("sort", "name"), NAMED)
def test_built_in_profiles_have_nothing_wrong(tmp_path: Path, sort: str, name: str) -> None:
    """A render does not look at them."""
    done = rendered(tmp_path, f"{POOL}lifecycles: [{{name: l, {sort}: {name}}}]")
    (lifecycle,) = (one for one in done.cluster.lifecycles if one.name == "l")
    assert problems(lifecycle) == []


def test_what_is_made_for_every_pool_has_nothing_wrong(tmp_path: Path) -> None:
    capacity = rendered(tmp_path, POOL).cluster.capacity
    assert capacity
    assert problems(capacity) == []


@pytest.mark.parametrize("file", RENDERED, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_stages_that_are_written_have_nothing_wrong(file: Path) -> None:
    """Those of faults, of failures and of capacities, which are made of what a blueprint says, as well."""
    cluster = render(str(file)).cluster
    for stage in stages(cluster):
        kind = stage["spec"]["resourceRef"]["kind"]
        functions = cluster.controller.kwok.called(kind)
        assert stagelint.findings(kind, stage["spec"], functions, ()) == [], stage["metadata"]["name"]


def own(folder: Path, sort: str, steps: list[dict[str, Any]], spec: str = "") -> tuple[Problem, ...]:
    """The warnings of a bundle whose nodes or pods have a lifecycle of these steps."""
    file = folder / "catalog" / FOLDER[sort] / "own.yaml"
    file.parent.mkdir(parents=True)
    kind = {"nodes": "Node", "pods": "Pod"}[sort]
    about = {"summary": "s", "source": "s", "checked": "2026-01-01", "kind": kind}
    times = {"parameters": {"run": {"summary": "s", "default": "5m"}}}
    file.write_text(json.dumps(about | times | {"stages": steps}), encoding="utf-8")
    written = folder / "t.yaml"
    written.write_text(blueprint(f"{POOL}lifecycles: [{{name: l, {sort}: own}}]\n{spec}"), encoding="utf-8")
    return render(str(written), catalog=Catalog.of([str(folder / "catalog")])).warnings


def step(
    name: str, *conditions: tuple[str, str, str], sample: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A step whose conditions are (key, operator, value), and which writes `template` to the status."""
    asked = [
        {"key": key, "operator": operator} | ({"values": [value]} if value else {})
        for key, operator, value in conditions
    ]
    thing: dict[str, Any] = {"metadata": {"name": "n"}} | (sample or {})
    action = more.pop("next", None) or {"statusTemplate": more.pop("template", "message: a")}
    return {"step": name, "selector": {"matchExpressions": asked}, "next": action, "sample": thing} | more


NEW = (".status.phase", "DoesNotExist", "")
RUNNING = (".status.phase", "In", "Running")
UNMARKED = ('.status.conditions[]? | select(.type == "Old") | .type', "DoesNotExist", "")
START = step("start", NEW, template="phase: Running")
AT_WORK = {"status": {"phase": "Running"}}
BEAT = 'conditions: [{type: Ready, lastHeartbeatTime: "{{ Now }}"}]'
NOTE = {"patches": [{"root": "metadata", "type": "merge", "template": 'annotations: {at: "{{ Now }}"}'}]}
RIGHT = {
    "a heartbeat that has a pause": [
        START,
        step("beat", RUNNING, sample=AT_WORK, next=NOTE, delay={"parameter": "run"}),
    ],
    "a time in whole seconds, which ends by itself": [START, step("beat", RUNNING, sample=AT_WORK, template=BEAT)],
    "a condition that no longer holds": [
        START,
        step("age", RUNNING, UNMARKED, sample=AT_WORK, template='conditions: [{type: Old, message: "{{ Now }}"}]'),
    ],
    "a value that is the object's own": [
        START,
        step("copy", RUNNING, sample=AT_WORK, template="a: {{ .metadata.name }}"),
    ],
    "a Stage of more weight that plays once": [
        START,
        step("beat", RUNNING, sample=AT_WORK, template=BEAT, delay={"parameter": "run"}),
        step("age", RUNNING, UNMARKED, sample=AT_WORK, template="conditions: [{type: Old}]", weight=5),
    ],
    "a list that is written whole": [
        step(
            "taint",
            NEW,
            next={
                "patches": [
                    {
                        "root": "spec",
                        "template": "taints:\n{{ range .spec.taints }}\n- {{ toJson . }}\n{{ end }}\n- {key: a}",
                    },
                    {"root": "status", "subresource": "status", "template": "phase: Running"},
                ]
            },
        )
    ],
    "a list that is written whole by a function": [
        step(
            "taint",
            NEW,
            next={
                "patches": [
                    {"root": "spec", "template": 'taints: {{ toJson (append .spec.taints (dict "key" "a")) }}'},
                    {"root": "status", "subresource": "status", "template": "phase: Running"},
                ]
            },
        )
    ],
    "a taint that a JSON patch adds": [
        step(
            "taint",
            NEW,
            next={"patches": [{"root": "spec", "type": "json", "template": "- {op: add, path: /taints/-}"}]},
        )
    ],
    "texts that only some objects give": [
        step(
            "say",
            NEW,
            template="phase: Running\n{{ if .spec.a }}a: {{ .spec.a }}{{ else }}a: {{ YAML .spec 1 }}{{ end }}",
        )
    ],
    "a Stage of more weight that plays for a time": [
        START,
        step("beat", RUNNING, sample=AT_WORK, template=BEAT, delay={"parameter": "run"}),
        step("soon", RUNNING, ("now > 0", "In", "true"), sample=AT_WORK, weight=5),
    ],
    "another sort of text altogether": [
        step("say", NEW, template="{{ YAML .status }}{{ YAML .spec }}\nphase: Running")
    ],
    "keys of a list's items": [
        step("say", NEW, template="phase: Running\nlabels:\n{{ range .spec.a }}\n  {{ .b }}: {{ .c }}\n{{ end }}")
    ],
    "a phase that is worked out": [
        step("start", NEW, template='phase: {{ index .metadata.labels "phase" }}'),
        step("end", (".status.phase", "In", "Odd"), sample={"status": {"phase": "Odd"}}),
    ],
    "a number that is one": [
        step(
            "many", ("(.metadata.annotations.wave | tonumber? // 0) < 5", "In", "true"), NEW, template="phase: Running"
        )
    ],
}


@pytest.mark.parametrize("steps", RIGHT.values(), ids=RIGHT)
def test_right_stages_of_nodes_are_let_alone(tmp_path: Path, steps: list[dict[str, Any]]) -> None:
    """A lint that cries wolf is switched off."""
    assert own(tmp_path, "nodes", steps) == ()


LATER = "faults: [{name: f, fault: readonly-filesystem, where: {pool: a, nodes: [0]}, start: {after: 9m}}]"
AGE = step(
    "age",
    RUNNING,
    UNMARKED,
    sample=AT_WORK,
    template='conditions: [{type: Old, status: "True"}]',
    delay={"parameter": "run"},
)
UNTIL = {"parameter": "run", "until": '"2026-01-01T00:00:00Z"'}


@pytest.mark.parametrize(
    ("stage", "spec", "expected"),
    [
        (AGE, LATER, 1),
        (AGE, "", 0),
        (AGE, LATER.replace(", start: {after: 9m}", ""), 0),
        (AGE | {"delay": UNTIL}, LATER, 0),
        (step("beat", RUNNING, sample=AT_WORK, template=BEAT, delay={"parameter": "run"}), LATER, 0),
    ],
    ids=["that a fault begins anew", "without faults", "born with the fault", "of a moment", "of a heartbeat"],
)
def test_fixed_delays(tmp_path: Path, stage: dict[str, Any], spec: str, expected: int) -> None:
    """Only what a Stage of the bundle writes to while it waits."""
    assert len(own(tmp_path, "nodes", [START, stage], spec)) == expected


ALIVE = (".metadata.deletionTimestamp", "DoesNotExist", "")
BEGIN = step(
    "begin",
    ALIVE,
    (".status.phase", "In", "Pending"),
    sample={"status": {"phase": "Pending"}},
    template="phase: Running",
)
DELETE = step(
    "delete",
    (".metadata.deletionTimestamp", "Exists", ""),
    sample={"metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    next={"delete": True},
)
COMPLETE = step("complete", ALIVE, RUNNING, sample=AT_WORK, template="phase: Succeeded")
JOB = "workloads: [{name: w, kind: job}]"


@pytest.mark.parametrize(
    ("steps", "spec", "expected"),
    [
        ([BEGIN, DELETE, COMPLETE], JOB, []),
        ([BEGIN, DELETE], JOB, ["no Stage ends pods"]),
        ([BEGIN, DELETE], "", []),
        ([BEGIN, COMPLETE], JOB, ["no Stage deletes pods"]),
        ([BEGIN, DELETE, step("fail", ALIVE, RUNNING, sample=AT_WORK, template="phase: Failed")], JOB, []),
        ([BEGIN, DELETE, COMPLETE | {"selector": {"matchExpressions": [{"key": RUNNING[0], "operator": "In", "values": ["Running"]}]}}], JOB, ['"complete" and "delete" both play a running pod']),
    ],
)  # fmt: skip
def test_lives_of_pods(tmp_path: Path, steps: list[dict[str, Any]], spec: str, expected: list[str]) -> None:
    """Pods begin, end and are deleted, and of two Stages that may do it one is chosen."""
    found = own(tmp_path, "pods", steps, spec)
    assert [text in problem.message for text, problem in zip(expected, found, strict=True)] == [True] * len(expected)


def test_a_lifecycle_that_stands_in_for_a_default_is_looked_at(tmp_path: Path) -> None:
    """Nobody names it in the blueprint."""
    file = tmp_path / FOLDER["nodes"] / f"{DEFAULTS['nodes']}.yaml"
    file.parent.mkdir(parents=True)
    steps = [START | {"next": {"statusTemplate": "phase: {{ nope }}"}}]
    entry = {"summary": "s", "source": "s", "checked": "2026-01-01", "kind": "Node", "stages": steps}
    file.write_text(json.dumps(entry), encoding="utf-8")
    written = tmp_path / "t.yaml"
    written.write_text(blueprint(POOL), encoding="utf-8")
    with pytest.raises(KwokgenError, match='function "nope" not defined'):
        render(str(written), catalog=Catalog.of([str(tmp_path)]))


def test_a_stage_of_another_kind_that_a_patch_changes(tmp_path: Path) -> None:
    """Faults of devices have Stages of ResourceSlices, for which KWOK has fewer functions."""
    spec = """
controller: {stages: crd}
pools: [{name: a, count: 1, machine: dgx-h100}]
faults: [{name: f, fault: xid-79, where: {pool: a, nodes: [0], gpus: [0]}, start: {manual: true}, effects: {deviceTaint: true}}]
patches: [{target: {kind: Stage, name: "*"}, merge: {spec: {weight: 7, next: {statusTemplate: "{{ NodeName }}", patches: null}}}}]
"""
    with pytest.raises(KwokgenError) as caught:
        rendered(tmp_path, spec)
    assert {problem.message for problem in caught.value.problems} == {
        'the template fails: function "NodeName" not defined'
    }


def test_one_expression_is_asked_of_many_objects() -> None:
    """It is compiled once: else the child would have no time left for a large lifecycle."""
    asked = [['.a[]? | select(.b == "c") | .d', {"a": [{"number": number}]}] for number in range(3_000)]
    command = [sys.executable, "-m", "kwokgen.jqchild"]
    done = subprocess.run(command, input=json.dumps(asked), text=True, capture_output=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["begun", *['{"results": []}'] * 3_000]


def test_a_jq_that_does_not_begin_is_nobodys_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EnvironmentFailure, match="jq does not begin: no answer"):
        held([Question(Pos("own.yaml", 1, 1), ".a", {})])
