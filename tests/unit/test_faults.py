"""Faults: who has them, what nodes are born with, and which Stage plays a node or a slice in which state, by its age."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bench.live import breaking
from kwokgen.pipeline import Rendered
from kwokgen.timeline import timeline
from tests.unit.rendering import blueprint, command, documents, problems, rendered
from tests.unit.test_stages import matches, results

Data = dict[str, Any]
NODES = "pools: [{name: a, count: %d, machine: p5.48xlarge, expose: extended-resource, detectors: [nvsentinel]}]\n"
GPUS = "pools: [{name: a, count: 4, machine: p5.48xlarge}]\n"
ON = "where: {pool: a, nodes: [1]}"
ALL = "effects: {taint: true, cordon: true}"
DRIFTED = "kwokgen.io/fault-f"
TURNED = {"SysLogsGPUFallenOff", "SysLogsXIDError"}
"""What NVSentinel says of XID 79."""


def stages(done: Rendered, kind: str = "Node") -> dict[str, Data]:
    """Specs of the Stages of faults by the last words of their names, out of the controller's configuration."""
    (text,) = (each["data"]["kwok.yaml"] for each in documents(done, "ConfigMap").values())
    found = [each for each in YAML(typ="safe").load_all(text) if each["kind"] == "Stage"]
    specs = {each["metadata"]["name"]: each["spec"] for each in found if each["spec"]["resourceRef"]["kind"] == kind}
    return {
        name.removeprefix("t-fault-f-").removeprefix("gpus-").removeprefix("t-"): spec
        for name, spec in specs.items()
        if "-fault-" in name or "-clock" in name
    }


def the(done: Rendered, kind: str, name: str) -> Data:
    found = next(each for (_, _, own), each in documents(done, kind).items() if own == name)
    return deepcopy(found)


def old(thing: Data, age: float) -> Data:
    """An object of an age in seconds, made Ready by its lifecycle."""
    created = datetime.now(UTC) - timedelta(seconds=age)
    thing["metadata"]["creationTimestamp"] = created.strftime("%Y-%m-%dT%H:%M:%SZ")
    status = thing.setdefault("status", {})
    status["phase"] = "Running"
    status.setdefault("conditions", []).append({"type": "Ready", "status": "True"})
    return thing


def faulty(node: Data) -> Data:
    """Everything as the fault wants it."""
    node["metadata"]["annotations"][DRIFTED] = "active"
    node["spec"].setdefault("taints", []).append(
        {"key": "nvidia.com/gpu-error", "value": "fatal", "effect": "NoSchedule"}
    )
    node["spec"]["unschedulable"] = True
    node["status"]["allocatable"]["nvidia.com/gpu"] = "7"
    for condition in node["status"]["conditions"]:
        if condition["type"] in TURNED:
            condition["status"] = "True"
    return node


def marked(node: Data, state: str) -> Data:
    node["metadata"].setdefault("annotations", {})[DRIFTED] = state
    return node


def labelled(thing: Data, value: str) -> Data:
    thing["metadata"]["labels"][DRIFTED] = value
    return thing


def playing(specs: dict[str, Data], thing: Data) -> set[str]:
    return {name for name, spec in specs.items() if matches(spec["selector"], thing)}


def planned(tmp_path: Path) -> tuple[dict[str, Data], Data]:
    done = rendered(
        tmp_path, NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, start: {{after: 5m}}, for: 30m, {ALL}}}]"
    )
    return stages(done), the(done, "Node", "a-1")


def test_a_planned_fault_by_the_age_of_its_node(tmp_path: Path) -> None:
    """Once in its time and once after it; what is as it should be is left alone, what somebody healed is not."""
    specs, node = planned(tmp_path)
    assert specs.keys() == {"begin", "hold", "end", "clock"}
    assert playing(specs, old(deepcopy(node), 10)) == {"clock"}
    assert playing(specs, old(deepcopy(node), 301)) == {"begin", "clock"}
    assert playing(specs, faulty(old(deepcopy(node), 301))) == {"clock"}
    assert playing(specs, marked(old(deepcopy(node), 301), "active")) == {"hold", "clock"}
    assert playing(specs, faulty(old(deepcopy(node), 2101))) == {"end"}
    assert playing(specs, marked(old(deepcopy(node), 2101), "over")) == set()
    assert playing(specs, old(deepcopy(node), 2101)) == set()


@pytest.mark.parametrize("part", ["taint", "another effect", "cordon", "allocatable", "condition", "no condition"])
def test_each_effect_is_held(tmp_path: Path, part: str) -> None:
    """A re-apply of the nodes takes the taint and the cordon, others whatever they like."""
    specs, node = planned(tmp_path)
    thing = faulty(old(node, 400))
    if part == "taint":
        thing["spec"]["taints"].pop()
    elif part == "another effect":
        thing["spec"]["taints"][-1]["effect"] = "PreferNoSchedule"
    elif part == "cordon":
        del thing["spec"]["unschedulable"]
    elif part == "allocatable":
        thing["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    elif part == "condition":
        next(each for each in thing["status"]["conditions"] if each["type"] in TURNED)["status"] = "False"
    else:
        thing["status"]["conditions"] = thing["status"]["conditions"][-1:]
    assert playing(specs, thing) == {"hold", "clock"}


def test_no_other_node_is_played(tmp_path: Path) -> None:
    """Nor one that is not Ready yet, nor one whose fault somebody has taken back."""
    specs, node = planned(tmp_path)
    other = old(deepcopy(node), 400)
    del other["metadata"]["labels"][DRIFTED]
    early = old(deepcopy(node), 400)
    del early["status"]["phase"]
    assert playing(specs, other) == playing(specs, early) == set()
    assert playing(specs, labelled(faulty(old(deepcopy(node), 400)), "off")) == {"end"}


def test_a_fault_by_hand_is_as_its_label_says(tmp_path: Path) -> None:
    """Also twice; a time of its own ends it."""
    for lasts, words in (("", {"begin", "hold", "end"}), (", for: 10m", {"begin", "hold", "end", "clock"})):
        done = rendered(
            tmp_path, NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, start: {{manual: true}}{lasts}, {ALL}}}]"
        )
        specs, node = stages(done), old(the(done, "Node", "a-1"), 99_999)
        assert specs.keys() == words
        assert playing(specs, deepcopy(node)) == set()
        assert playing(specs, labelled(deepcopy(node), "on")) == {"begin"}
        assert playing(specs, labelled(marked(deepcopy(node), "over"), "on")) == {"begin"}
        assert playing(specs, faulty(deepcopy(node))) == {"end"}
        begun = labelled(faulty(deepcopy(node)), "on")
        for minutes, played in ((1, {"clock"} & words), (11, {"end"} if lasts else set())):
            since = str(int(datetime.now(UTC).timestamp()) - minutes * 60)
            begun["metadata"]["annotations"][f"{DRIFTED}.since"] = since
            assert playing(specs, begun) == played


def test_pods_end_by_their_label(tmp_path: Path) -> None:
    """Those that run, once; a taint is as strong as the blueprint says."""
    own = "start: {manual: true}, effects: {exit: true, taint: NoExecute}"
    done = rendered(tmp_path, NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, {own}}}]")
    (spec,) = stages(done, "Pod").values()
    running = {"metadata": {"name": "p", "labels": {DRIFTED: "on"}}, "status": {"phase": "Running"}}
    assert matches(spec["selector"], running)
    assert not matches(spec["selector"], running | {"status": {"phase": "Pending"}})
    assert not matches(spec["selector"], running | {"metadata": {"name": "p", "labels": {DRIFTED: "exited"}}})
    assert [patch["root"] for patch in spec["next"]["patches"]] == ["", "status"]
    assert "NoExecute" in stages(done)["begin"]["next"]["patches"][0]["template"]
    (line,) = (moment for moment in timeline(done.cluster) if moment.what == ("pods exit 1",))
    assert line.command.startswith(f"for node in $(kubectl get node -l {DRIFTED}=on ")


def test_gpus_that_are_gone(tmp_path: Path) -> None:
    """From birth they are in no slice; later a Stage takes them, and again when an apply has brought them back."""
    fault = (
        "faults: [{name: f, fault: xid-79, where: {pool: a, nodes: [1], gpus: [1]}, %s effects: {deviceGone: true}}]"
    )
    born = the(rendered(tmp_path, GPUS + fault % ""), "ResourceSlice", "a-1-gpu.nvidia.com")
    assert [device["name"] for device in born["spec"]["devices"]] == [
        f"gpu-{index}" for index in range(8) if index != 1
    ]
    done = rendered(tmp_path, GPUS + fault % "start: {manual: true},")
    specs, found = stages(done, "ResourceSlice"), labelled(the(done, "ResourceSlice", "a-1-gpu.nvidia.com"), "on")
    assert len(found["spec"]["devices"]) == 8
    assert playing(specs, deepcopy(found)) == {"begin"}
    assert playing(specs, marked(deepcopy(found), "active")) == {"hold"}
    del found["spec"]["devices"][1]
    assert playing(specs, marked(deepcopy(found), "active")) == set()
    assert playing(specs, labelled(marked(found, "active"), "off")) == {"end"}


def test_a_moment_of_the_calendar(tmp_path: Path) -> None:
    """In any zone, whatever the node's age."""
    for hours, age, expected in ((1, 9, {"clock"}), (-1, 9, {"begin"}), (-1, 99_999, {"begin"})):
        moment = (datetime.now(UTC) + timedelta(hours=hours)).astimezone().isoformat(timespec="seconds")
        done = rendered(tmp_path, NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, start: {{at: '{moment}'}}}}]")
        assert playing(stages(done), old(the(done, "Node", "a-1"), age)) == expected


def test_a_slice_is_played_as_its_node(tmp_path: Path) -> None:
    """By the taints of the fault's GPUs alone."""
    done = rendered(
        tmp_path,
        GPUS
        + "faults: [{name: f, fault: xid-79, where: {pool: a, nodes: [1], gpus: [2]}, start: {after: 5m}, for: 30m}]",
    )
    specs, slice_ = stages(done, "ResourceSlice"), the(done, "ResourceSlice", "a-1-gpu.nvidia.com")
    slice_["metadata"]["annotations"] = {}
    taint = {"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}
    assert playing(specs, old(deepcopy(slice_), 10)) == {"clock-gpus-a"}
    assert playing(specs, old(deepcopy(slice_), 310)) == {"begin", "clock-gpus-a"}
    held = marked(old(deepcopy(slice_), 310), "active")
    assert playing(specs, held) == {"hold", "clock-gpus-a"}
    held["spec"]["devices"][1]["taints"] = [taint]
    assert playing(specs, held) == {"hold", "clock-gpus-a"}
    held["spec"]["devices"][2]["taints"] = [taint]
    assert playing(specs, held) == {"clock-gpus-a"}
    assert playing(specs, old(held, 2110)) == {"end"}


def test_the_clock_tells_the_next_moment(tmp_path: Path) -> None:
    """Of all faults of a node, and of no other."""
    faults = (
        "{name: x, fault: xid-79, where: {pool: a, nodes: [1]}, start: {after: 5m}, for: 5m}, "
        "{name: y, fault: xid-79, where: {pool: a, nodes: [1]}, start: {after: 20m}}, "
        "{name: z, fault: node-not-ready, where: {pool: a, nodes: [2]}, start: {after: 1m}}"
    )
    done = rendered(tmp_path, NODES % 4 + f"faults: [{faults}]")
    clock = stages(done)["clock"]
    for name, age, expected in (("a-1", 10, 300), ("a-1", 400, 600), ("a-1", 900, 1200), ("a-2", 10, 60)):
        node = old(the(done, "Node", name), age)
        (moment,) = results(clock["delay"]["durationFrom"]["expressionFrom"], node)
        created = datetime.fromisoformat(node["metadata"]["creationTimestamp"])
        assert (datetime.fromisoformat(moment) - created).total_seconds() == expected
    assert not matches(clock["selector"], old(the(done, "Node", "a-2"), 90))


def test_nodes_without_leases_have_their_heartbeats(tmp_path: Path) -> None:
    """A clock would be drawn instead of them, and the node fall NotReady while it waits."""
    spec = "lifecycles: [{name: beating, nodes: heartbeat}, {name: normal, pods: timed}]\n"
    done = rendered(tmp_path, spec + NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, start: {{after: 5m}}}}]")
    assert stages(done).keys() == {"begin", "hold", "end"}


def test_nodes_that_are_down_have_no_heartbeats(tmp_path: Path) -> None:
    """So a clock ends the fault that keeps them so."""
    spec = "lifecycles: [{name: beating, nodes: heartbeat, heartbeat: 1s}, {name: normal, pods: timed}]\n"
    fault = f"{{name: f, fault: node-not-ready, {ON}, start: {{after: 5m}}, for: 30s}}"
    done = rendered(tmp_path, spec + NODES % 4 + f"faults: [{fault}]")
    specs, node = stages(done), the(done, "Node", "a-1")
    assert playing(specs, old(deepcopy(node), 10)) == set()
    down = marked(old(deepcopy(node), 310), "active")
    down["status"]["conditions"] = [{"type": "Ready", "status": "False"}, {"type": "KwokgenFault", "status": "True"}]
    assert playing(specs, down) == {"clock-down"}


def test_a_step_with_another_value_of_a_taint(tmp_path: Path) -> None:
    """Sets it where it stands: there is no moment at which claims get the device."""
    fault = (
        "{name: f, fault: xid-48, where: {pool: a, nodes: [1]}, start: {after: 5m}, for: 1m, then: [{fault: xid-79}]}"
    )
    specs = stages(rendered(tmp_path, GPUS + f"faults: [{fault}]"), "ResourceSlice")
    template = specs["begin-2"]["next"]["patches"][0]["template"]
    assert "op: remove" not in template
    assert '{{ if ne (or $taint.value "") "79" }}' in template


def test_a_node_that_is_born_with_a_fault(tmp_path: Path) -> None:
    """Its manifest says so; no Stage touches it, that of the pool's capacity included."""
    done = rendered(tmp_path, NODES % 4 + f"faults: [{{name: f, fault: xid-79, {ON}, {ALL}}}]")
    node, well = the(done, "Node", "a-1"), the(done, "Node", "a-2")
    assert stages(done) == {}
    assert node["metadata"]["labels"][DRIFTED] == "born"
    assert [taint["key"] for taint in node["spec"]["taints"]] == ["kwok.x-k8s.io/node", "nvidia.com/gpu-error"]
    assert (node["spec"]["unschedulable"], "unschedulable" in well["spec"]) == (True, False)
    assert (node["status"]["capacity"]["nvidia.com/gpu"], node["status"]["allocatable"]["nvidia.com/gpu"]) == ("8", "7")
    turned = {
        each["type"]
        for each, other in zip(node["status"]["conditions"], well["status"]["conditions"], strict=True)
        if each != other
    }
    assert turned == TURNED


def drawn(done: Rendered) -> set[str]:
    return {name for (_, _, name), each in documents(done, "Node").items() if DRIFTED in each["metadata"]["labels"]}


@pytest.mark.slow
@pytest.mark.parametrize("share", ["1%", "12.5%", "50%", "100%"])
def test_a_share_of_nodes_is_drawn(tmp_path: Path, share: str) -> None:
    """So many, the same again, others with another seed; one more node takes the place of one at most."""
    fault = f"faults: [{{name: f, fault: node-not-ready, where: {{pool: a, nodes: {share}}}}}]"
    first = drawn(rendered(tmp_path, NODES % 400 + fault))
    assert len(first) == round(400 * float(share[:-1]) / 100)
    assert drawn(rendered(tmp_path, NODES % 400 + fault)) == first
    assert share == "100%" or drawn(rendered(tmp_path, NODES % 400 + fault, "seed=2")) != first
    assert len(drawn(rendered(tmp_path, NODES % 401 + fault)) ^ first) <= 2


def test_messages_are_no_templates(tmp_path: Path) -> None:
    """Whatever an entry says, KWOK's patch says it too."""
    own = tmp_path / "own" / "faults"
    own.mkdir(parents=True)
    message = 'a "b" {{ .metadata.name }} # c: d'
    (own / "odd.yaml").write_text(
        "summary: odd\nsource: here\nchecked: '2026-11-28'\nconfidence: unverified\nof: node\nexpect: {node: used, pods: stay}\n"
        f"effects: {{conditions: {{npd: {{KernelDeadlock: {{reason: Odd, message: '{message}'}}}}}}}}\n"
    )
    spec = "pools: [{name: a, count: 1, machine: {cpu: 8}, detectors: [npd]}]\n"
    spec += "faults: [{name: f, fault: odd, where: {pool: a}, start: {manual: true}}]"
    (tmp_path / "t.yaml").write_text(blueprint(spec))
    done = command("render", "t.yaml", "--catalog", "own", cwd=tmp_path)
    assert re.search(r'message: "a \\"b\\" \{\{ "\{\{" \}\} \.metadata\.name \}\} # c: d"', done.stdout.decode())


@pytest.mark.slow
def test_more_stages_than_a_config_map_holds(tmp_path: Path) -> None:
    """ConfigMap "kwok-t" is invalid: []: Too long: may not be more than 1048576 bytes."""
    items = (
        f"{{name: f{index}, fault: xid-79, where: {{pool: a, nodes: [{index}]}}, start: {{manual: true}}}}"
        for index in range(250)
    )
    spec = NODES % 250 + f"faults: [{', '.join(items)}]\n"
    said = [problem.message for problem in problems(lambda: rendered(tmp_path, spec))]
    assert any("bytes of data, a ConfigMap may have 1048576" in message for message in said)
    rendered(tmp_path, spec + "controller: {run: outside}")


def aged(node: Data, seconds: float, **marks: str) -> Data:
    """A node of an age, with annotations of its fault."""
    thing = old(deepcopy(node), seconds)
    for key, text in marks.items():
        thing["metadata"]["annotations"][DRIFTED if key == "state" else f"{DRIFTED}.{key}"] = text
    return thing


@pytest.mark.parametrize(("times", "last"), [("", 600), (", times: 6", 600)])
def test_a_repeated_fault_by_the_age_of_its_node(tmp_path: Path, times: str, last: int) -> None:
    """Once in each of its times, healed while one lasts, ended after each."""
    fault = f"{{name: f, fault: cordoned, {ON}, start: {{after: 5m}}, for: 30s, repeat: {{every: 2m{times}}}}}"
    done = rendered(tmp_path, NODES % 4 + f"faults: [{fault}]")
    specs, node = stages(done), the(done, "Node", "a-1")
    assert specs.keys() == {"begin", "hold", "end", "clock"}
    assert playing(specs, aged(node, 280)) == {"clock"}
    for zero in (300, 420, 300 + last - 120):
        assert playing(specs, aged(node, zero + 1)) - {"clock"} == {"begin"}
        assert playing(specs, aged(node, zero + 1, state="over")) - {"clock"} == {"begin"}
        assert playing(specs, aged(node, zero + 10, state="active")) - {"clock"} == {"hold"}
        begun = aged(node, zero + 10, state="active")
        begun["spec"]["unschedulable"] = True
        assert playing(specs, begun) - {"clock"} == set()
        assert playing(specs, aged(node, zero + 31, state="active")) - {"clock"} == {"end"}
        assert playing(specs, aged(node, zero + 31, state="over")) - {"clock"} == set()
    after = playing(specs, aged(node, 300 + 6 * 120 + 1, state="over")) - {"clock"}
    assert after == (set() if times else {"begin"})
    assert playing(specs, aged(node, 300 + 6 * 120 + 1, state="active")) - {"clock"} == ({"end"} if times else {"hold"})


def test_the_clock_of_a_repeated_fault(tmp_path: Path) -> None:
    """Its next begin or end, until the last; not on a node that an outage has made NotReady."""
    fault = f"{{name: f, fault: cordoned, {ON}, start: {{after: 5m}}, for: 30s, repeat: {{every: 2m, times: 3}}}}"
    done = rendered(tmp_path, NODES % 4 + f"faults: [{fault}]")
    clock, node = stages(done)["clock"], the(done, "Node", "a-1")
    for age, expected in ((10, 300), (301, 330), (331, 420), (430, 450), (451, 540), (541, 570)):
        thing = aged(node, age)
        (moment,) = results(clock["delay"]["durationFrom"]["expressionFrom"], thing)
        created = datetime.fromisoformat(thing["metadata"]["creationTimestamp"])
        assert (datetime.fromisoformat(moment) - created).total_seconds() == expected
        assert matches(clock["selector"], thing)
    assert not matches(clock["selector"], aged(node, 571))
    out = aged(node, 10)
    out["status"]["conditions"][-1]["status"] = "Unknown"
    assert not matches(clock["selector"], out)
    out["status"]["conditions"].append({"type": "KwokgenFault", "status": "True"})
    assert matches(clock["selector"], out)


STEPS = "for: 1m, then: [{fault: driver-upgrade-cordon, for: 2m}, {fault: driver-upgrade-done%s}]"


def test_steps_follow_one_another(tmp_path: Path) -> None:
    """Each begins where the one before it is, or where none is; each is ended where it is too late for the next."""
    fault = f"{{name: f, fault: driver-upgrade-required, {ON}, start: {{after: 5m}}, {STEPS % ', for: 3m'}}}"
    done = rendered(tmp_path, NODES % 4 + f"faults: [{fault}]")
    specs, node = stages(done), the(done, "Node", "a-1")
    assert specs.keys() == {f"{word}-{step}" for word in ("begin", "hold", "end") for step in (1, 2, 3)} | {"clock"}
    for age, step, state in (
        (301, "", {"begin-1"}),
        (301, "1", {"hold-1"}),
        (361, "1", {"begin-2"}),
        (361, "2", {"hold-2"}),
        (361, "", {"begin-2"}),
        (481, "1", {"end-1"}),
        (481, "2", {"begin-3"}),
        (661, "3", {"end-3"}),
        (661, "2", {"end-2"}),
        (661, "", set()),
    ):
        thing = aged(node, age, state="active", step=step) if step else aged(node, age)
        assert playing(specs, thing) - {"clock"} == state, (age, step)
    assert playing(specs, labelled(aged(node, 361, state="active", step="1"), "off")) == {"end-1"}


def test_a_step_takes_what_only_the_one_before_it_does(tmp_path: Path) -> None:
    """In the patch that begins it, so that no pod comes to the node between two that keep it away."""
    steps = "for: 1m, then: [{fault: driver-upgrade-drain, for: 1m, effects: {taint: true}}, {fault: driver-upgrade-done, for: 1m}]"
    fault = f"{{name: f, fault: driver-upgrade-cordon, {ON}, start: {{after: 5m}}, {steps}}}"
    specs = stages(rendered(tmp_path, NODES % 4 + f"faults: [{fault}]"))
    patches = {name: spec["next"].get("patches", [{}])[0].get("template", "") for name, spec in specs.items()}
    assert "op: remove" not in patches["begin-2"]
    assert patches["begin-3"].count("op: remove") == 2  # the taint and the cordon
    assert "unschedulable" not in patches["hold-1"].split("op: add, path: /spec/unschedulable")[1]


def test_what_a_fault_ends_is_as_the_pool_has_it(tmp_path: Path) -> None:
    """A label that its nodes have anyway is set back, not taken."""
    pool = "pools: [{name: a, count: 2, machine: p5.48xlarge, labels: {nvidia.com/gpu-driver-upgrade-state: upgrade-done}}]\n"
    fault = f"faults: [{{name: f, fault: driver-upgrade-required, {ON}, start: {{after: 5m}}, for: 1m}}]"
    template = stages(rendered(tmp_path, pool + fault))["end"]["next"]["patches"][0]["template"]
    assert 'gpu-driver-upgrade-state, value: "upgrade-done"' in template
    assert "op: remove" not in template


def test_a_repeated_fault_by_hand(tmp_path: Path) -> None:
    """Counted from its label; off ends it between two times as well, and forgets when it began."""
    for times, over in (("", set()), (", times: 2", {"stop"})):
        fault = f"{{name: f, fault: cordoned, {ON}, start: {{manual: true}}, for: 30s, repeat: {{every: 2m{times}}}}}"
        done = rendered(tmp_path, NODES % 4 + f"faults: [{fault}]")
        specs, node = stages(done), old(the(done, "Node", "a-1"), 9)
        assert playing(specs, node) == set()
        assert playing(specs, labelled(deepcopy(node), "on")) == {"begin"}
        for ago, state, expected in (
            (10, "active", {"hold"}),
            (40, "active", {"end"}),
            (40, "over", set()),
            (125, "over", {"begin"}),
            (160, "over", over),
        ):
            since = str(int(datetime.now(UTC).timestamp()) - ago)
            thing = labelled(aged(node, 9, state=state, since=since), "on")
            assert playing(specs, thing) - {"clock"} == expected, ago
            thing = labelled(thing, "off")
            assert playing(specs, thing) == ({"end"} if state == "active" else {"stop"})


def test_a_node_that_is_to_go(tmp_path: Path) -> None:
    """At an age; at a moment of the calendar only those that were there before; by hand; and only then may KWOK delete any."""
    now = datetime.now(UTC)
    for start, age, expected in (
        ("after: 5m", 280, {"clock"}),
        ("after: 5m", 301, {"begin"}),
        (f"at: '{now.isoformat(timespec='seconds')}'", 60, {"begin"}),
        (f"at: '{(now - timedelta(minutes=5)).isoformat(timespec='seconds')}'", 60, set()),
        ("manual: true", 99_999, set()),
    ):
        done = rendered(tmp_path, NODES % 4 + f"faults: [{{name: f, fault: node-gone, {ON}, start: {{{start}}}}}]")
        specs, node = stages(done), old(the(done, "Node", "a-1"), age)
        assert playing(specs, node) == expected, start
        assert specs["begin"]["next"]["delete"] is True
        (role,) = documents(done, "ClusterRole").values()
        assert ["delete" in rule["verbs"] for rule in role["rules"] if rule["resources"] == ["nodes"]] == [True]
    (role,) = documents(rendered(tmp_path, NODES % 4), "ClusterRole").values()
    assert ["delete" in rule["verbs"] for rule in role["rules"] if rule["resources"] == ["nodes"]] == [False]


def test_the_timeline_of_what_is_repeated_and_what_follows(tmp_path: Path) -> None:
    """Each step once, with what comes again beside it; by hand, with the commands."""
    flap = "{name: flap, fault: cordoned, where: {pool: a, nodes: [0]}, start: {after: 5m}, for: 30s, repeat: {every: 2m, times: 5}}"
    driver = f"{{name: driver, fault: driver-upgrade-required, where: {{pool: a, nodes: [1]}}, start: {{manual: true}}, {STEPS % ''}}}"
    done = rendered(tmp_path, NODES % 9 + f"faults: [{flap}, {driver}]")
    assert [
        (each.time + each.again, each.entry, each.what[0], each.command[-14:]) for each in timeline(done.cluster)
    ] == [
        ("T+5m00s, every 2m00s, 5 times", "cordoned", "cordoned", ""),
        ("T+5m30s, every 2m00s, 5 times", "cordoned", "recovers", ""),
        (
            "by hand",
            "driver-upgrade-required",
            "label nvidia.com/gpu-driver-upgrade-state=upgrade-required",
            "on --overwrite",
        ),
        ("by hand +1m00s", "driver-upgrade-cordon", "cordoned", ""),
        ("by hand +3m00s", "driver-upgrade-done", "label nvidia.com/gpu-driver-upgrade-state=upgrade-done", ""),
        ("by hand", "driver-upgrade-required", "recovers", "ff --overwrite"),
    ]


def test_the_timeline_is_in_order(tmp_path: Path) -> None:
    """Births, then ages, then labels."""
    done = rendered(
        tmp_path,
        NODES % 9 + "faults: [{name: h, fault: xid-79, where: {pool: a, nodes: [0]}, start: {manual: true}}, "
        "{name: l, fault: node-not-ready, where: {pool: a, nodes: [1-8]}, start: {after: 5m}, for: 30m}, "
        "{name: b, fault: xid-79, where: {pool: a, nodes: [2]}}]",
    )
    assert [(each.time, each.fault, each.nodes, each.first) for each in timeline(done.cluster)] == [
        ("from birth", "b", 1, ("a-2",)),
        ("T+5m00s", "l", 8, ("a-1", "a-2", "a-3")),
        ("T+35m00s", "l", 8, ("a-1", "a-2", "a-3")),
        ("by hand", "h", 1, ("a-0",)),
        ("by hand", "h", 1, ("a-0",)),
    ]


def test_one_more_node_changes_few_lines(tmp_path: Path) -> None:
    """Of a thousand with 1 % of XID 79, 5 % that flap and 2 % of pods that fail: its own, and those of a place that moved to it."""
    few, many = (lines(rendered(tmp_path, breaking.spec(nodes))) for nodes in (1_000, 1_001))
    assert few.total() > 40_000
    assert 0 < (many - few).total() < 80
    assert (few - many).total() < 20


def lines(done: Rendered) -> Counter[str]:
    return Counter(b"".join(done.bundle().stream()).decode().splitlines())
