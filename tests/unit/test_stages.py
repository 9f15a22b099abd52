"""Lifecycles: which Stage plays which object, when, and what the controller may do for it; KWOK's rules are said anew here."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jq
import pytest

from kwokgen.catalog import Catalog, builtin_node
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import Problem
from tests.unit.rendering import blueprint, documents, load, problems, rendered

Data = dict[str, Any]
POOL = "pools: [{name: a, count: 1, machine: m7i.24xlarge}]\n"
PROFILES = [("node", name) for name in Catalog().names("stages/node")]
PROFILES += [("pod", name) for name in Catalog().names("stages/pod")]
LABELS = {"app.kubernetes.io/instance": "t", "kwokgen.io/pool": "a"}
OWNERS = [
    *("workload.codeflare.dev/v1beta2 AppWrapper", "batch/v1 Job", "kubeflow.org/v1 MPIJob", "v1 Pod"),
    *("kubeflow.org/v1 PyTorchJob", "kubeflow.org/v1 TFJob", "batch.volcano.sh/v1alpha1 Job"),
]
"""The kinds whose pods end by themselves."""


@cache
def profile(sort: str, name: str) -> list[Data]:
    """The Stages of a profile, with its steps put in."""
    kind = f"stages/{sort}"
    found: list[Data] = Catalog().whole(kind, builtin_node(kind, name)).plain()["stages"]
    for stage in found:
        for expression in stage["selector"]["matchExpressions"]:
            if expression.get("values") == ["$owners"]:
                expression["values"] = OWNERS
    return found


@cache
def _compiled(expression: str) -> Any:
    return jq.compile(expression)


def results(expression: str, thing: Data) -> list[Any]:
    """What KWOK sees of an expression: nothing where it fails, and never a null."""
    try:
        found = _compiled(expression).input_value(thing).all()
    except ValueError as error:
        if "jq: error" in str(error):  # it does not compile, which is no way to match
            raise
        return []
    return [one for one in found if one is not None]


def holds(expression: Data, thing: Data) -> bool:
    """https://kwok.sigs.k8s.io/docs/user/stages-configuration/: how one of matchExpressions is held against an object."""
    found = results(expression["key"], thing)
    texts = [json.dumps(one) if isinstance(one, bool) else one for one in found]
    among = any(one in expression.get("values", ()) for one in texts)
    answers = {"In": among, "NotIn": not among, "Exists": bool(found), "DoesNotExist": not found}
    return answers[expression["operator"]]


def matches(selector: Data, thing: Data) -> bool:
    """Whether a Stage's selector means an object."""
    meta = thing["metadata"]
    named = selector.get("matchLabels", {}).items() <= meta.get("labels", {}).items()
    named &= selector.get("matchAnnotations", {}).items() <= meta.get("annotations", {}).items()
    return named and all(holds(expression, thing) for expression in selector.get("matchExpressions", ()))


def node(phase: str = "", *, fault: str = "", **conditions: str) -> Data:
    """A node with conditions such as Ready="True"."""
    if fault:
        conditions["KwokgenFault"] = fault
    listed = [{"type": name, "status": status} for name, status in conditions.items()]
    status: Data = {"capacity": {"cpu": "1"}} | ({"phase": phase} if phase else {})
    return {
        "metadata": {"name": "a-0", "labels": LABELS},
        "status": status | ({"conditions": listed} if listed else {}),
    }


def pod(phase: str = "Pending", *, owner: str = "batch/v1 Job", deleted: bool = False, **more: Any) -> Data:
    """A pod of a Job that is bound to a node; `more` is its status."""
    meta: Data = {"name": "p", "namespace": "t"}
    if owner:
        version, kind = owner.split()
        meta["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": "j"}]
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {"metadata": meta, "status": {"phase": phase, "conditions": [scheduled]} | more}


def created(init: Data | None, *, initialized: str) -> Data:
    """A pod behind the step `create` of the profile `general`, with or without an init container in some state."""
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": initialized}]
    waiting = [{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}]
    inits = {"initContainerStatuses": [{"name": "i", "state": init}]} if init else {}
    return pod(podIP="10.64.0.1", conditions=conditions, containerStatuses=waiting, **inits)


def gated(ready: str, *, of: str = "ReplicaSet", **gates: str) -> Data:
    """A pod with two readiness gates whose containers are ready; `gates` are the conditions that somebody has set."""
    owner = {"ReplicaSet": "apps/v1 ReplicaSet", "Job": "batch/v1 Job"}[of]
    known = {"ContainersReady": "True", "Ready": ready, "ab": "True", **gates}
    thing = pod("Running", owner=owner, conditions=[{"type": name, "status": status} for name, status in known.items()])
    return thing | {"spec": {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]}}


STARTED = {"startedAt": "2026-01-01T00:00:00Z"}
NODES = {
    "new": node(),
    "without a status": {"metadata": {"name": "a-0"}},
    "Ready by somebody else": node(Ready="True"),
    "Ready": node("Running", Ready="True", MemoryPressure="False"),
    "Unknown after an outage": node("Running", Ready="Unknown"),
    "NotReady": node("Running", Ready="False"),
    "down on purpose": node("Running", fault="True", Ready="False"),
    "no longer down on purpose": node("Running", fault="False", Ready="False"),
}
PODS = {
    "Pending": pod(),
    "Pending of nobody": pod(owner=""),
    "created": created(None, initialized="True"),
    "created with an init container": created({"waiting": {"reason": "PodInitializing"}}, initialized="False"),
    "init container running": created({"running": STARTED}, initialized="False"),
    "init container done": created({"terminated": {"exitCode": 0}}, initialized="True"),
    "sidecar running": created({"running": STARTED}, initialized="True"),
    "Running of a Job": pod("Running"),
    "Running of nobody": pod("Running", owner=""),
    "Running of somebody's Job": pod("Running", owner="example.com/v1 Job"),
    "Running of a Deployment": pod("Running", owner="apps/v1 ReplicaSet"),
    "Running of a RayCluster": pod("Running", owner="ray.io/v1 RayCluster"),
    "containers not ready": pod(
        "Running",
        conditions=[{"type": "ContainersReady", "status": "False"}],
        containerStatuses=[{"name": "c", "state": {"running": STARTED}}],
    ),
    "container to be restarted": pod(
        "Running",
        owner="",
        conditions=[{"type": "ContainersReady", "status": "False"}],
        containerStatuses=[{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    ),
    "gates that nobody has set": gated("False"),
    "gates of which one is not set": gated("False", a="True"),
    "gates of which one is False": gated("False", a="True", b="False"),
    "gates that are met": gated("False", a="True", b="True"),
    "gates of a Job's pod that are met": gated("False", of="Job", a="True", b="True"),
    "gates that are met and known to be": gated("True", a="True", b="True"),
    "gates of which one is lost": gated("True", a="True", b="Unknown"),
    "Succeeded": pod("Succeeded"),
    "Failed": pod("Failed"),
    "Pending and deleted": pod(deleted=True),
    "Running and deleted": pod("Running", deleted=True),
    "Succeeded and deleted": pod("Succeeded", deleted=True),
}
GATED = {
    "gates that nobody has set": ["gates-set"],
    "gates of which one is not set": ["gates-set"],
    "gates that are met": ["gates-met"],
    "gates of a Job's pod that are met": ["gates-met"],
    "gates of which one is lost": ["gates-unmet"],
}
ENDED = {
    "Pending and deleted": ["terminate"],
    "Running and deleted": ["terminate"],
    "Succeeded and deleted": ["delete"],
}
DELETED = ENDED | GATED | {"Running of a Job": ["complete"]}
NOT_READY = {"containers not ready": ["complete"]}
UNREADY = ("new", "without a status", "Unknown after an outage", "NotReady", "no longer down on purpose")
INITIALIZED = {state: ["initialize"] for state in UNREADY}
PENDING = ("Pending", "Pending of nobody", "created", "created with an init container")
PENDING += ("init container running", "init container done", "sidecar running")
PLAYED = {
    ("node", "fast"): INITIALIZED,
    ("node", "heartbeat"): INITIALIZED | {"Ready": ["heartbeat"]},
    ("node", "slow-start"): {
        "new": ["join"],
        "without a status": ["join"],
        "Ready": ["heartbeat"],
        "Unknown after an outage": ["ready"],
        "NotReady": ["ready"],
        "no longer down on purpose": ["ready"],
    },
    ("node", "heartbeat-lease"): INITIALIZED | {"Ready": ["heartbeat"]},
    ("pod", "fast"): DELETED | NOT_READY | {state: ["ready"] for state in PENDING},
    ("pod", "timed"): DELETED | NOT_READY | {state: ["create"] for state in PENDING},
    ("pod", "general"): DELETED
    | {
        "Pending": ["create"],
        "Pending of nobody": ["create"],
        "created": ["running"],
        "created with an init container": ["init-running"],
        "init container running": ["init-completed"],
        "init container done": ["running"],
        "sidecar running": ["running"],
        "containers not ready": ["ready"],
    },
}
"""Which step of each profile plays an object in each state; none where the state is not named."""


def drawn(stages: list[Data], thing: Data) -> list[str]:
    """The steps that KWOK may play an object with: those of weight 0 wait for those with one."""
    found = [(stage.get("weight", 0), stage["step"]) for stage in stages if matches(stage["selector"], thing)]
    heaviest = max((weight for weight, _ in found), default=0)
    return [step for weight, step in found if weight == heaviest]


@pytest.mark.parametrize(("sort", "name"), [key for key in PROFILES if key != ("node", "node-capacity")])
def test_each_state_has_the_one_step_that_plays_it(sort: str, name: str) -> None:
    """Never two, between which KWOK would draw; none where nothing is to be done."""
    stages = profile(sort, name)
    states = NODES if sort == "node" else PODS
    found = {state: drawn(stages, thing) for state, thing in states.items()}
    assert {state: steps for state, steps in found.items() if steps} == PLAYED[sort, name]


def completes(thing: Data) -> set[bool]:
    """Whether each profile of pods lets a pod succeed."""
    [steps] = zip(
        *([stage for stage in profile(*key) if stage["step"] == "complete"] for key in PROFILES if key[0] == "pod"),
        strict=True,
    )
    return {matches(stage["selector"], thing) for stage in steps}


@pytest.mark.parametrize("owner", [owner for owner in OWNERS if owner != "v1 Pod"])
def test_pods_of_a_kind_that_completes_succeed(owner: str) -> None:
    """Each by group, version and kind; whatever else owns the pod beside it."""
    thing = pod("Running", owner=owner)
    assert completes(thing) == {True}
    thing["metadata"]["ownerReferences"].insert(0, {"apiVersion": "v1", "kind": "Node", "name": "n"})
    assert completes(thing) == {True}


def test_a_pod_of_no_owner_succeeds_where_it_says_when() -> None:
    """A pod of a Deployment does not, whatever it says."""
    thing, other = pod("Running", owner=""), pod("Running", owner="apps/v1 ReplicaSet")
    assert completes(thing) == {False}
    for each in (thing, other):
        each["metadata"]["annotations"] = {"kwokgen.io/run-seconds": "5"}
    assert completes(thing) == {True}
    assert completes(other) == {False}


def test_the_owners_that_complete_are_those_of_the_catalogue(tmp_path: Path) -> None:
    [asked] = [
        one
        for one in stages(rendered(tmp_path, POOL))["t-timed-complete"]["selector"]["matchExpressions"]
        if len(one.get("values", [])) > 1
    ]
    assert asked["values"] == OWNERS


OWNER = 'summary: Own\nsource: here\nchecked: "2026-01-01"\napiVersion: example.com/v1\nkind: Train\ncompletes: true\n'


def test_an_owner_of_ones_own(tmp_path: Path) -> None:
    """One file; another of the name of a built-in one replaces it."""
    file = tmp_path / "own" / "owners" / "train.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(OWNER, encoding="utf-8")
    file.with_name("job.yaml").write_text(OWNER.replace("Train", "Job").replace("true", "false"), encoding="utf-8")
    (tmp_path / "t.yaml").write_text(blueprint(POOL), encoding="utf-8")
    done = render(str(tmp_path / "t.yaml"), catalog=Catalog.of([str(tmp_path / "own")]))
    [values] = [
        one["values"]
        for one in stages(done)["t-timed-complete"]["selector"]["matchExpressions"]
        if len(one.get("values", [])) > 1
    ]
    assert values == sorted(
        {*OWNERS, "example.com/v1 Train"} - {"batch/v1 Job"},
        key=[*OWNERS[:-1], "example.com/v1 Train", OWNERS[-1]].index,
    )


@pytest.mark.parametrize(("sort", "name"), PROFILES)
def test_each_step_means_its_sample_and_not_an_empty_object(sort: str, name: str) -> None:
    """The sample is what says that a step can match at all; of an object without all that it asks for, no step is sure."""
    for stage in profile(sort, name):
        assert matches(stage["selector"], stage["sample"]), stage["step"]
        opposite = {
            "metadata": {"name": "x"},
            "status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        if stage["step"] != "capacity":
            assert not matches(stage["selector"], opposite), stage["step"]


@pytest.mark.parametrize(("sort", "name"), PROFILES)
def test_each_expression_compiles(sort: str, name: str) -> None:
    """With the times that a deadline may use bound before it."""
    for stage in profile(sort, name):
        expressions = [one["key"] for one in stage["selector"]["matchExpressions"]]
        if "until" in stage.get("delay", {}):
            times = ("create", "init", "ready", "run", "delete")
            expressions.append("".join(f"1 as ${time} | " for time in times) + stage["delay"]["until"])
        for expression in expressions:
            assert jq.compile(expression)


def stages(done: Rendered) -> dict[str, Data]:
    """The Stages of a cluster by name, from its controller's configuration."""
    texts = documents(done, "ConfigMap")["ConfigMap", "kwok-t", "kwok-t"]["data"]["kwok.yaml"].split("---\n")[1:]
    found = [load(text) for text in texts]
    return {one["metadata"]["name"]: one["spec"] for one in found if one["kind"] == "Stage"}


def only_node(done: Rendered) -> Data:
    """The one node of a cluster, as it is applied."""
    [found] = documents(done, "Node").values()
    return found


def test_stages_are_called_by_blueprint_lifecycle_and_step(tmp_path: Path) -> None:
    """Without lifecycles there are the two default ones; the last Stages are one a pool."""
    assert list(stages(rendered(tmp_path, POOL))) == [
        "t-heartbeat-lease-initialize",
        "t-heartbeat-lease-heartbeat",
        "t-timed-create",
        "t-timed-gates-met",
        "t-timed-gates-unmet",
        "t-timed-complete",
        "t-timed-terminate",
        "t-timed-delete",
        "t-capacity-a",
    ]


MANY = """
pools:
- {name: a, count: 1, machine: {cpu: 1}}
- {name: b, count: 1, machine: {cpu: 1}, lifecycle: second}
lifecycles:
- {name: first, nodes: fast}
- {name: second, nodes: heartbeat}
- {name: third, pods: fast}
- {name: fourth, pods: general}
workloads: [{name: x, kind: job}, {name: y, kind: job, lifecycle: fourth}]
"""


def test_of_several_lifecycles_each_object_is_played_by_its_own(tmp_path: Path) -> None:
    """Nodes and pods carry the label of one that is not the default, and no step of another means them."""
    cluster = rendered(tmp_path, MANY)
    found, done = stages(cluster), documents(cluster, "Node", "Job")
    templates = {name: done["Job", "t", name]["spec"]["template"]["metadata"] for name in ("x-0", "y-0")}
    played = {
        "a-0": done["Node", "", "a-0"],
        "b-0": done["Node", "", "b-0"],
        **{name: pod() | {"metadata": meta} for name, meta in templates.items()},
    }
    kinds = {"a-0": "Node", "b-0": "Node", "x-0": "Pod", "y-0": "Pod"}
    assert {
        name: [
            stage
            for stage, spec in found.items()
            if spec["resourceRef"]["kind"] == kinds[name] and matches(spec["selector"], thing)
        ]
        for name, thing in played.items()
    } == {
        "a-0": ["t-first-initialize"],
        "b-0": ["t-second-initialize"],
        "x-0": ["t-third-ready"],
        "y-0": ["t-fourth-create"],
    }


def test_nodes_of_another_bundle_are_left_alone(tmp_path: Path) -> None:
    """Every Stage of nodes asks for the bundle's own label."""
    others = node() | {"metadata": {"name": "a-0", "labels": LABELS | {"app.kubernetes.io/instance": "other"}}}
    specs = [spec for spec in stages(rendered(tmp_path, MANY)).values() if spec["resourceRef"]["kind"] == "Node"]
    assert [matches(spec["selector"], others) for spec in specs] == [False] * 5


CHANGED = {
    "as rendered": ({}, False),
    "more of a resource": ({"cpu": "193"}, True),
    "a resource less": ({"memory": None}, True),
    "a resource that was removed from the blueprint": ({"example.com/fpga": "1"}, True),
}


@pytest.mark.parametrize("machine", ["p5.48xlarge", "gb200-nvl72-tray", "{cpu: 0.5, memory: 1e9, example.com/a.b: 3}"])
@pytest.mark.parametrize("part", ["capacity", "allocatable"])
@pytest.mark.parametrize(("change", "expected"), CHANGED.values(), ids=CHANGED)
def test_a_changed_capacity_is_put_right(tmp_path: Path, machine: str, part: str, change: Data, expected: bool) -> None:
    """A node that has what the blueprint says is left alone, any other is played, before its heartbeat."""
    done = rendered(tmp_path, f"pools: [{{name: a, count: 1, machine: {machine}}}]")
    stage, thing = stages(done)["t-capacity-a"], only_node(done)
    has = thing["status"][part] | change
    thing["status"][part] = {name: value for name, value in has.items() if value is not None}
    assert matches(stage["selector"], thing) is expected
    assert stage["weight"] == 100


def test_a_capacity_is_put_right_to_that_of_the_node_as_rendered(tmp_path: Path) -> None:
    """The extended resource of the GPUs among it; a node that is down on purpose is left alone."""
    spec = "pools: [{name: a, count: 1, machine: p5.48xlarge, expose: extended-resource, capacity: {cpu: 10}}]"
    done = rendered(tmp_path, spec)
    stage, thing = stages(done)["t-capacity-a"], only_node(done)
    words = re.findall(r"\$(capacity|allocatable) := dict (.*) }}", stage["next"]["statusTemplate"])
    written = {part: json.loads("[" + text.replace('" "', '","') + "]") for part, text in words}
    assert {part: dict(zip(text[::2], text[1::2], strict=True)) for part, text in written.items()} == {
        part: thing["status"][part] for part in ("capacity", "allocatable")
    }
    assert written["capacity"][-2:] == ["nvidia.com/gpu", "8"]
    thing["status"] |= {"capacity": {}, "conditions": [{"type": "KwokgenFault", "status": "True"}]}
    assert not matches(stage["selector"], thing)


@pytest.mark.parametrize(
    ("lifecycle", "step", "expected"),
    [
        ("{nodes: heartbeat}", "heartbeat", (20_000, 25_000)),
        ("{nodes: heartbeat, heartbeat: 1m}", "heartbeat", (60_000, 75_000)),
        ("{nodes: heartbeat, heartbeat: 1ms}", "heartbeat", (1, 1)),
        ("{nodes: heartbeat-lease}", "heartbeat", (600_000, 612_000)),
        ("{nodes: heartbeat-lease, heartbeat: 1.5s}", "heartbeat", (1_500, 1_530)),
        ("{nodes: fast}", "initialize", None),
        ("{nodes: slow-start}", "join", None),
        ("{nodes: slow-start}", "ready", (30_000, None)),
        ("{nodes: slow-start, ready: 1500ms}", "ready", (1_500, None)),
        ("{nodes: slow-start, ready: {min: 10s, max: 2m}}", "ready", (10_000, None)),
        ("{nodes: slow-start}", "heartbeat", (600_000, 612_000)),
        ("{pods: fast}", "complete", None),
        ("{pods: timed}", "create", (1_000, None)),
        ("{pods: timed, create: 2s}", "create", (2_000, None)),
        ("{pods: timed, run: 1h30m}", "complete", (5_400_000, None)),
        ("{pods: timed}", "delete", None),
        ("{pods: timed}", "terminate", (0, None)),
        ("{pods: timed, create: {min: 2s, max: 1m}}", "create", (2_000, None)),
        ("{nodes: heartbeat, heartbeat: {min: 10s, max: 20s}}", "heartbeat", (10_000, 25_000)),
        ("{pods: general, create: 250ms}", "running", (250, None)),
        ("{pods: general, init: 250ms}", "init-completed", (250, None)),
        ("{pods: general, run: 1m}", "complete", (60_000, None)),
        ("{pods: general, delete: 3s}", "terminate", (3_000, None)),
    ],
)
def test_delays(tmp_path: Path, lifecycle: str, step: str, expected: tuple[int, int | None] | None) -> None:
    """A time of the blueprint or of the profile, and the longest that KWOK may draw, which is never below it."""
    done = rendered(tmp_path, f"{POOL}lifecycles: [{lifecycle.replace('{', '{name: l, ', 1)}]")
    delay = stages(done)[f"t-l-{step}"].get("delay")
    assert expected == (delay and (delay["durationMilliseconds"], delay.get("jitterDurationMilliseconds")))


MOMENTS = {
    "create, by default": ("timed", "create", {}, "00:00:01"),
    "create, by the blueprint": ("timed, create: 90s", "create", {}, "00:01:30"),
    "create, by annotation": ("timed, create: 90s", "create", {"create": "2.5"}, "00:00:03"),
    "create, at once": ("timed", "create", {"create": "0"}, "00:00:00"),
    "create, by a word": ("timed, create: 4s", "create", {"create": "soon"}, "00:00:04"),
    "create, by an empty annotation": ("timed, create: 4s", "create", {"create": ""}, "00:00:04"),
    "create, by the other annotation": ("timed, create: 4s", "create", {"run": "9"}, "00:00:04"),
    "run, by default": ("timed", "complete", {}, "00:10:30"),
    "run, by the blueprint": ("timed, run: 1500ms", "complete", {}, "00:10:02"),
    "run, by annotation": ("timed", "complete", {"run": "12.345"}, "00:10:13"),
    "run, whole seconds": ("timed", "complete", {"run": "86400"}, "24:10:00"),
    "run of general": ("general, run: 45s", "complete", {}, "00:30:45"),
    "run of general, by annotation": ("general, run: 45s", "complete", {"run": "1"}, "00:30:01"),
    "create of general": ("general, create: 2s", "create", {}, "00:00:02"),
    "create of general, the second": ("general, create: 2s", "running", {"create": "3"}, "00:05:03"),
    "init of general": ("general, init: 2s", "init-running", {}, "00:10:02"),
    "init of general, the second": ("general, init: 2s", "init-completed", {"init": "3"}, "00:15:03"),
    "ready of general": ("general, ready: 7s", "ready", {}, "00:30:07"),
    "delete, by default": ("timed", "terminate", {}, "00:40:00"),
    "delete, by the blueprint": ("fast, delete: 7s", "terminate", {}, "00:40:07"),
    "delete, by annotation": ("general", "terminate", {"delete": "9"}, "00:40:09"),
    "delete, when the grace period is over": ("timed, delete: 2m", "terminate", {}, "00:40:30"),
}


@pytest.mark.parametrize(("lifecycle", "step", "seconds", "expected"), MOMENTS.values(), ids=MOMENTS)
def test_moments(tmp_path: Path, lifecycle: str, step: str, seconds: dict[str, str], expected: str) -> None:
    """A deadline counts from what the pod's status says, in whole seconds, rounded up."""
    spec = stages(rendered(tmp_path, f"{POOL}lifecycles: [{{name: l, pods: {lifecycle}}}]"))[f"t-l-{step}"]
    thing = pod("Running", startTime="2026-01-01T00:10:00Z")
    thing["status"]["conditions"] += [
        {"type": "Initialized", "status": "True", "lastTransitionTime": "2026-01-01T00:05:00Z"},
        {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:20:00Z"},
    ]
    thing["status"]["initContainerStatuses"] = [{"state": {"running": {"startedAt": "2026-01-01T00:15:00Z"}}}]
    later = [f"2026-01-01T00:{minute}:00Z" for minute in (25, 30, 28)]
    thing["status"]["containerStatuses"] = [{"state": {"running": {"startedAt": time}}} for time in later]
    thing["metadata"]["annotations"] = {f"kwokgen.io/{name}-seconds": value for name, value in seconds.items()}
    thing["metadata"] |= {"deletionTimestamp": "2026-01-01T00:40:30Z", "deletionGracePeriodSeconds": 30}
    hours, _, rest = expected.partition(":")
    day, hour = divmod(int(hours), 24)
    assert results(spec["delay"]["durationFrom"]["expressionFrom"], thing) == [
        f"2026-01-{day + 1:02}T{hour:02}:{rest}Z"
    ]


def test_a_pod_that_was_bound_by_hand_is_created_from_its_own_creation(tmp_path: Path) -> None:
    """No scheduler has said when."""
    thing = {"metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Pending"}}
    for name in ("timed", "general"):
        spec = stages(rendered(tmp_path, f"{POOL}lifecycles: [{{name: l, pods: {name}, create: 9s}}]"))["t-l-create"]
        assert results(spec["delay"]["durationFrom"]["expressionFrom"], thing) == ["2026-01-01T00:00:09Z"]


def seconds_of(tmp_path: Path, names: list[str], *, seed: int = 1, hostname: str = "") -> list[int]:
    """When each of some pods is created, with a time that is drawn."""
    spec = f"{POOL}seed: {seed}\nlifecycles: [{{name: l, pods: timed, create: {{min: 10s, max: 1010s}}}}]"
    until = stages(rendered(tmp_path, spec))["t-l-create"]["delay"]["durationFrom"]["expressionFrom"]
    found = []
    for name in names:
        thing = {"metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}
        if hostname:
            thing["spec"] = {"hostname": hostname}
        [moment] = results(f"{until} | fromdateiso8601 - 1767225600", thing)
        found.append(moment)
    return found


def test_a_time_of_pods_is_drawn_from_seed_and_name(tmp_path: Path) -> None:
    """Evenly between its bounds, for neighbours far apart, the same each time; the pod of an index draws one time."""
    names = [f"job-{index // 10}-{index % 10}" for index in range(1000)]
    found = seconds_of(tmp_path, names)
    assert found == seconds_of(tmp_path, names)
    assert found[:100] != seconds_of(tmp_path, names[:100], seed=2)
    assert min(found) >= 10
    assert max(found) <= 1010
    tenths = [sum(10 + tenth * 100 <= one < 110 + tenth * 100 for one in found) for tenth in range(10)]
    assert min(tenths) > 60
    assert max(tenths) < 140
    rises = sum(after > before for before, after in pairwise(found))
    assert 400 < rises < 600
    assert len(set(seconds_of(tmp_path, ["job-0-abcde", "job-0-fghij"], hostname="job-0"))) == 1


def test_a_pod_that_says_its_time_draws_none(tmp_path: Path) -> None:
    """A word in its place is none."""
    spec = f"{POOL}lifecycles: [{{name: l, pods: timed, run: {{min: 10s, max: 20s}}}}]"
    until = stages(rendered(tmp_path, spec))["t-l-complete"]["delay"]["durationFrom"]["expressionFrom"]
    for said, expected in (("5", range(5, 6)), ("soon", range(10, 21))):
        thing = pod("Running", startTime="2026-01-01T00:00:00Z")
        thing["metadata"]["annotations"] = {"kwokgen.io/run-seconds": said}
        [moment] = results(until, thing)
        assert int(moment.removesuffix("Z").rpartition(":")[2]) in expected


def test_readiness_gates_are_set_where_the_blueprint_says_so(tmp_path: Path) -> None:
    for said, expected in (("", False), (", readinessGates: wait", False), (", readinessGates: set", True)):
        found = stages(rendered(tmp_path, f"{POOL}lifecycles: [{{name: l, pods: fast{said}}}]"))
        assert ("t-l-gates-set" in found) is expected


WATCH = "list watch"
LEASES = {"coordination.k8s.io leases in kube-node-lease": "create list update watch"}
PODS_ROLE = {"pods": "delete list watch", "pods/status": "patch"}
NODES_ROLE = {"nodes": "list patch watch", "nodes/status": "patch"}
EVENTS = {"events": "create patch"}
ROLES: dict[str, tuple[str, dict[str, str]]] = {
    "default": ("", NODES_ROLE | PODS_ROLE | LEASES),
    "fast": ("lifecycles: [{name: n, nodes: fast}, {name: p, pods: fast}]", NODES_ROLE | PODS_ROLE | LEASES),
    "heartbeat": ("lifecycles: [{name: n, nodes: heartbeat}]", NODES_ROLE | PODS_ROLE | LEASES),
    "without leases": (
        "lifecycles: [{name: n, nodes: heartbeat}]\ncontroller: {nodeLeaseDuration: 0s}",
        NODES_ROLE | PODS_ROLE,
    ),
    "general": ("lifecycles: [{name: p, pods: general}]", NODES_ROLE | PODS_ROLE | LEASES | EVENTS),
    "general beside timed": (
        "lifecycles: [{name: p, pods: timed}, {name: q, pods: general}]",
        NODES_ROLE | PODS_ROLE | LEASES | EVENTS,
    ),
    "Stages as objects": (
        "controller: {stages: crd}",
        NODES_ROLE | PODS_ROLE | LEASES | {"kwok.x-k8s.io stages": WATCH},
    ),
}


def role(found: dict[Any, Data]) -> dict[str, str]:
    """The verbs of the controllers' one account by group, resource and the namespace where it is not all of them."""
    done = {}
    for (kind, namespace, name), document in found.items():
        if kind in {"ClusterRole", "Role"}:
            binding = found[f"{kind}Binding", namespace, name]
            assert name == "kwok-t"
            assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
            assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "kwok-t", "namespace": "kwok-t"}]
            for rule in document["rules"]:
                (group,), (resource,) = rule["apiGroups"], rule["resources"]
                where = f" in {namespace}" if namespace else ""
                done[f"{group} {resource}{where}".strip()] = " ".join(rule["verbs"])
    return done


@pytest.mark.parametrize(("spec", "expected"), ROLES.values(), ids=ROLES)
def test_controllers_may_do_what_their_stages_need_and_no_more(
    tmp_path: Path, spec: str, expected: dict[str, str]
) -> None:
    """For each lifecycle; the tests on a real control plane run with this role."""
    assert expected == role(documents(rendered(tmp_path, POOL + spec)))


def test_a_controller_of_others_gets_no_role_and_labels_no_node(tmp_path: Path) -> None:
    """Its own role may patch the status of nodes and nothing else of them."""
    found = documents(rendered(tmp_path, POOL + "controller: {run: existing}"))
    assert {kind for kind, _, _ in found} & {
        "ClusterRole",
        "Role",
        "ServiceAccount",
        "Deployment",
        "ConfigMap",
    } == set()
    patches = found["Stage", "", "t-heartbeat-lease-initialize"]["spec"]["next"]["patches"]
    assert [(patch["root"], patch["subresource"]) for patch in patches] == [("status", "status")]


OWN = """\
summary: Own
source: here
checked: "2026-01-01"
kind: Pod
parameters: {run: {summary: s, default: 1s}}
stages:
- step: one
  selector:
    matchExpressions:
    - key: @KEY@
      operator: @OPERATOR@
  delay: {parameter: run, until: @UNTIL@}
  next: {delete: true}
  sample:
    metadata: {name: p, labels: {job-type: a, size: "3"}}
    status: {phase: Running, replicas: 3, ready: true, startTime: "2026-01-01T00:00:00Z"}
"""
KEY, UNTIL = "10:12", "12:34"


def own(folder: Path, key: str, operator: str = "Exists", until: str = ".status.startTime") -> Path:
    """A catalogue with a lifecycle of pods of one step."""
    file = folder / "own" / "stages" / "pod" / "own.yaml"
    file.parent.mkdir(parents=True)
    text = OWN.replace("@KEY@", json.dumps(key)).replace("@OPERATOR@", operator).replace("@UNTIL@", json.dumps(until))
    file.write_text(text, encoding="utf-8")
    return folder / "own"


def wrong(folder: Path, catalog: Path) -> list[Problem]:
    """What is wrong with the lifecycle `own` of a catalogue; all of it in its file."""
    file = folder / "t.yaml"
    file.write_text(blueprint(POOL + "lifecycles: [{name: l, pods: own}]"), encoding="utf-8")
    found = problems(lambda: render(str(file), catalog=Catalog.of([str(catalog)])))
    assert {problem.pos.file for problem in found} == {str(catalog / "stages" / "pod" / "own.yaml")}
    return list(found)


def accepted(folder: Path, catalog: Path) -> Rendered:
    """A cluster with the lifecycle `own` of a catalogue."""
    file = folder / "t.yaml"
    file.write_text(blueprint(POOL + "lifecycles: [{name: l, pods: own}]"), encoding="utf-8")
    return render(str(file), catalog=Catalog.of([str(catalog)]))


def said(found: list[Problem]) -> list[tuple[str, str, str]]:
    return [(f"{one.pos.line}:{one.pos.column}", one.code, one.message) for one in found]


@pytest.mark.parametrize(
    ("key", "operator"),
    [
        ('.metadata.labels["job-type"]', "Exists"),
        ('.metadata.labels["job-type"]', "In\n      values: [b, a]"),
        ('.metadata.labels["job-type"]', "NotIn\n      values: [b]"),
        (".status.ready", 'In\n      values: ["true"]'),
        (".status.conditions[] | .type", "DoesNotExist"),
        ('.status.conditions[] | select(.type == "a-b") | .type', "NotIn\n      values: [c]"),
        (".status.replicas | tostring", 'In\n      values: ["3"]'),
    ],
)
def test_expressions_of_ones_own_that_hold_on_the_sample(tmp_path: Path, key: str, operator: str) -> None:
    """Nothing is said of those, and the Stage is played with them."""
    done = accepted(tmp_path, own(tmp_path, key, operator))
    assert done.warnings == ()
    text = documents(done)["ConfigMap", "kwok-t", "kwok-t"]["data"]["kwok.yaml"]
    assert [
        load(part)["spec"]["selector"]["matchExpressions"][0]["key"]
        for part in text.split("---\n")
        if "t-l-one" in part
    ] == [key]


SUBTRACTION = 'a "-" outside of quotes is a subtraction: write .metadata.labels["a-b"]'


@pytest.mark.parametrize("operator", ["Exists", "In\n      values: [a]", "NotIn\n      values: [a]", "DoesNotExist"])
def test_a_subtraction_is_refused(tmp_path: Path, operator: str) -> None:
    """`.metadata.labels.job-type` is the label `job` less the type of the object: it is never what anybody meant."""
    found = wrong(tmp_path, own(tmp_path, ".metadata.labels.job-type", operator))
    assert [(place, code) for place, code, _ in said(found)] == [(KEY, "stage")]
    assert "cannot be subtracted" in found[0].message
    assert found[0].hint == SUBTRACTION


@pytest.mark.parametrize(
    ("key", "operator", "message", "hint"),
    [
        (".a |", "Exists", "not jq: jq: error: syntax error", ""),
        (".a | nothing", "Exists", "not jq: jq: error: nothing/0 is not defined", ""),
        ("", "Exists", "not jq: ", ""),
        (".metadata.labels.missing", "Exists", "Exists does not hold on the sample: it gives []", ""),
        (".metadata.name", "DoesNotExist", 'DoesNotExist does not hold on the sample: it gives ["p"]', ""),
        (".metadata.name", "In\n      values: [q]", 'In does not hold on the sample: it gives ["p"]', ""),
        (".metadata.name", "NotIn\n      values: [p]", 'NotIn does not hold on the sample: it gives ["p"]', ""),
        (".status.replicas", 'In\n      values: ["3"]', "In does not hold on the sample: it gives [3]", "tostring"),
        (".status.conditions[]", "Exists", "Exists does not hold on the sample: it fails: Cannot iterate", ""),
        ("halt_error", "Exists", "Exists does not hold on the sample: it gives []", ""),
        ('"x" * 2000000000', "Exists", "the expression does not end, or takes too much memory", ""),
    ],
)
def test_expressions_of_ones_own_that_do_not_hold(
    tmp_path: Path, key: str, operator: str, message: str, hint: str
) -> None:
    """Each is a problem at the expression."""
    found = wrong(tmp_path, own(tmp_path, key, operator))
    assert [(place, code, text[: len(message)]) for place, code, text in said(found)] == [(KEY, "stage", message)]
    assert hint in found[0].hint


@pytest.mark.parametrize(
    "operator",
    [
        "NotIn",
        "NotIn\n      values: []",
        "In",
        "Exists\n      values: [p]",
        "DoesNotExist\n      values: [p]",
    ],
)
def test_values_that_an_operator_does_not_have(tmp_path: Path, operator: str) -> None:
    """KWOK takes In and NotIn only with values, the others only without, and plays nothing of what it does not take."""
    found = wrong(tmp_path, own(tmp_path, ".metadata.name", operator))
    assert [(place, code) for place, code, _ in said(found)] == [(KEY, "stage")]
    assert "values" in found[0].message


@pytest.mark.parametrize(
    ("until", "message"),
    [
        (".status.startTime[0]", "the moment cannot be found on the sample: fails: Cannot index string with number"),
        (".status.stopTime", "the moment cannot be found on the sample: gives [null]"),
        (".status.startTime | fromdateiso8601", "the moment cannot be found on the sample: gives [1767225600]"),
        ('"a", "b"', 'the moment cannot be found on the sample: gives ["a", "b"]'),
        ("empty", "the moment cannot be found on the sample: gives []"),
        ("$create", "not jq: jq: error: $create is not defined"),
        ('"tomorrow"', "the moment cannot be found on the sample: gives"),
    ],
)
def test_moments_of_ones_own_that_cannot_be_found(tmp_path: Path, until: str, message: str) -> None:
    """KWOK says nothing and takes the plain time, so that kwokgen says it."""
    found = wrong(tmp_path, own(tmp_path, ".metadata.name", until=until))
    assert [(place, code, text[: len(message)]) for place, code, text in said(found)] == [(UNTIL, "stage", message)]


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789+01:00"])
def test_moments_of_ones_own(tmp_path: Path, moment: str) -> None:
    """RFC 3339 in universal time or with an offset."""
    assert accepted(tmp_path, own(tmp_path, ".metadata.name", until=json.dumps(moment))).warnings == ()


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00Z",
        "20260101T000000Z",
        "2026-W01-1T00:00:00Z",
        "2026-01-01T00:00:00+0100",
        "2026-02-30T00:00:00Z",
        "1m",
        "",
    ],
)
def test_moments_that_kwok_cannot_read(tmp_path: Path, moment: str) -> None:
    """Go reads RFC 3339 and nothing else of ISO 8601."""
    found = wrong(tmp_path, own(tmp_path, ".metadata.name", until=json.dumps(moment)))
    assert [(place, code) for place, code, _ in said(found)] == [(UNTIL, "stage")]


def test_a_moment_behind_a_null_is_not_found(tmp_path: Path) -> None:
    """KWOK takes the first of what an expression gives."""
    found = wrong(tmp_path, own(tmp_path, ".metadata.name", until="null, .status.startTime"))
    assert [(place, code) for place, code, _ in said(found)] == [(UNTIL, "stage")]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ('import "x" as $x {search: "@"}; $x[]', "not jq: jq: error"),
        ('error("")', "Exists does not hold on the sample: it fails: "),
    ],
)
def test_expressions_that_read_files_or_say_nothing(tmp_path: Path, key: str, message: str) -> None:
    """KWOK's jq has no modules; and what fails without a word fails, it does not run on."""
    (tmp_path / "x.json").write_text("1", encoding="utf-8")
    found = wrong(tmp_path, own(tmp_path, key.replace("@", str(tmp_path))))
    assert [(place, code, text[: len(message)]) for place, code, text in said(found)] == [(KEY, "stage", message)]


def test_what_is_wrong_with_every_expression_is_said_at_once(tmp_path: Path) -> None:
    """The one that does not end is said after those before it."""
    found = wrong(tmp_path, own(tmp_path, ".a |", until='"x" * 2000000000'))
    assert [(place, code) for place, code, _ in said(found)] == [(KEY, "stage"), (UNTIL, "stage")]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["def f: f; f", "last(range(1000000000000))", "[repeat(1)]", "def f: [f]; f"])
def test_an_expression_that_does_not_end_is_ended(tmp_path: Path, key: str) -> None:
    """By the kernel, in bounded time and memory, and it is a problem like any other."""
    catalog = own(tmp_path, key)
    start = time.monotonic()
    found = wrong(tmp_path, catalog)
    assert time.monotonic() - start < 60
    assert said(found) == [(KEY, "stage", "the expression does not end, or takes too much memory")]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("{parameter: run,", "{parameter: create,", {12}),
        ("kind: Pod", "kind: Node", {4}),
        ("- step: one", "- {step: one, selector: {}, next: {delete: true}, sample: {}}\n- step: one", {7, 8}),
        ("{parameter: run,", '{parameter: run, spread: "99999%",', {12}),
    ],
    ids=[
        "a time that it does not have",
        "a lifecycle of nodes among those of pods",
        "two steps of one name",
        "a spread that nobody means",
    ],
)
def test_an_entry_that_no_stages_can_be_made_of(tmp_path: Path, old: str, new: str, lines: set[int]) -> None:
    """It is refused at its place in its file."""
    catalog = own(tmp_path, ".metadata.name")
    file = catalog / "stages" / "pod" / "own.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert [problem.pos.line in lines for problem in wrong(tmp_path, catalog)] == [True]


TIMELESS = "stages:\n- {step: one, selector: {}, delay: {parameter: run}, next: {delete: true}, sample: {}}\n"
UNASKED = """\
stages:
- step: one
  selector: {matchExpressions: [{key: .metadata.name, operator: Exists}]}
  next: {delete: true}
  sample: {metadata: {name: n}}
"""
ABOUT = 'summary: Own\nsource: here\nchecked: "2026-01-01"\nkind: @\n'
OVERRIDDEN = {
    "the default of pods": ("pod/timed", "", TIMELESS, ["6:48"]),
    "the default of pods, named": ("pod/timed", "lifecycles: [{name: l, pods: timed}]", TIMELESS, ["6:48"]),
    "the default of nodes": ("node/heartbeat-lease", "", TIMELESS, ["6:48"]),
    "a default that the schema refuses": ("node/heartbeat-lease", "", "stages: []\n", ["5:9"]),
    "what is made for every pool": ("node/node-capacity", "", UNASKED, ["7:13", "7:33", "8:9"]),
}


@pytest.mark.parametrize(("name", "spec", "text", "expected"), OVERRIDDEN.values(), ids=OVERRIDDEN)
def test_a_mistake_of_an_entry_that_is_used_unasked(
    tmp_path: Path, name: str, spec: str, text: str, expected: list[str]
) -> None:
    """A catalogue may replace what no blueprint has to name: its mistakes stand in its file, beside all others."""
    file = tmp_path / "own" / "stages" / f"{name}.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(ABOUT.replace("@", "Pod" if "pod" in name else "Node") + text, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(blueprint("pools: [{name: a, count: 1, machine: p5}]\n" + spec), encoding="utf-8")
    found = problems(lambda: render(str(tmp_path / "t.yaml"), catalog=Catalog.of([str(tmp_path / "own")])))
    assert [place for place, _, _ in said([one for one in found if one.pos.file == str(file)])] == expected
    assert [one.message.partition(".")[0] for one in found if one.pos.file != str(file)] == ['unknown machine "p5"']


def test_a_role_follows_stages_of_ones_own(tmp_path: Path) -> None:
    """A patch asks for its subresource, an event for events; what no Stage does, no rule allows."""
    catalog = own(tmp_path, ".metadata.name")
    file = catalog / "stages" / "pod" / "own.yaml"
    patch = "{patches: [{root: metadata, template: 'a: b'}, {root: spec, subresource: resize, template: 'a: b'}], event: {reason: A}}"
    file.write_text(file.read_text(encoding="utf-8").replace("{delete: true}", patch), encoding="utf-8")
    (tmp_path / "t.yaml").write_text(blueprint(POOL + "lifecycles: [{name: l, pods: own}]"), encoding="utf-8")
    done = render(str(tmp_path / "t.yaml"), catalog=Catalog.of([str(catalog)]))
    expected = NODES_ROLE | LEASES | EVENTS | {"pods": "list patch watch", "pods/resize": "patch"}
    assert expected == role(documents(done))


SLOW = "lifecycles: [{name: joining, nodes: slow-start, ready: %s}]\npools: [{name: a, count: %d, machine: m7i.24xlarge}]\n"


def ready_at(done: Rendered) -> dict[str, int]:
    """Seconds from the creation of each node to its Ready."""
    until = stages(done)["t-joining-ready"]["delay"]["durationFrom"]["expressionFrom"]
    found = {}
    for thing in documents(done, "Node").values():
        thing["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
        (moment,) = results(until, thing)
        minutes, seconds = moment.removeprefix("2026-01-01T00:").removesuffix("Z").split(":")
        found[thing["metadata"]["name"]] = int(minutes) * 60 + int(seconds)
    return found


def test_nodes_are_ready_after_a_time_of_their_own(tmp_path: Path) -> None:
    """Within the bounds, the same again, another with another seed, and the same in a larger pool."""
    done = ready_at(rendered(tmp_path, SLOW % ("{min: 10s, max: 5m}", 40)))
    assert min(done.values()) >= 10
    assert 200 < max(done.values()) <= 300
    assert len(set(done.values())) > 20
    assert ready_at(rendered(tmp_path, SLOW % ("{min: 10s, max: 5m}", 41))).items() >= done.items()
    assert ready_at(rendered(tmp_path, SLOW % ("{min: 10s, max: 5m}", 40), "seed=2")) != done


def test_nodes_of_one_time(tmp_path: Path) -> None:
    assert set(ready_at(rendered(tmp_path, SLOW % ("90s", 2))).values()) == {90}
