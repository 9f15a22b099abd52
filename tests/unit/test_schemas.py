"""JSON Schemas: that they are some, that editors may use them, and that every key of the language changes what is rendered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from kwokgen import schemas
from kwokgen.formats import FORMATS
from kwokgen.problem import KwokgenError
from tests.unit.rendering import BLUEPRINTS, ROOT, command, contents, load, problems, rendered

EXAMPLES = sorted(BLUEPRINTS.glob("*.yaml"))


@pytest.mark.parametrize("name", schemas.names())
def test_a_schema_is_one_of_its_draft(name: str) -> None:
    """All are of the draft that kwokgen's own reader holds documents against."""
    schema = schemas.load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://kwokgen.io/schemas/{name}.schema.json"
    Draft202012Validator.check_schema(schema)


def parts(schema: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within a schema, with where it is."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for key in ("properties", "$defs", "patternProperties"):
        for name, below in schema.get(key, {}).items():
            yield from parts(below, f"{path}/{key}/{name}")
    for key in ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not"):
        yield from parts(schema.get(key), f"{path}/{key}")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, below in enumerate(schema.get(key, ())):
            yield from parts(below, f"{path}/{key}/{index}")


OWN = [name for name in schemas.names() if not name.startswith("kwok/")]


@pytest.mark.parametrize("name", OWN)
def test_a_schema_of_ours_explains_itself(name: str) -> None:
    """Each key has a description, each format is one that kwokgen knows, each reference leads somewhere.

    A key that must be there is one that may be there, but where the object is somebody else's and its keys are not ours.
    """
    schema = schemas.load(name)
    for path, part in parts(schema):
        keys = part.get("properties", {})
        if name != "names":
            undescribed = [key for key, below in keys.items() if not {"description", "$ref"} & below.keys()]
            assert undescribed == [], path
        assert part.get("format", "quantity") in FORMATS, path
        if "$ref" in part and part["$ref"].startswith("#/"):
            assert part["$ref"].removeprefix("#/$defs/") in schema["$defs"], path
        for key in part.get("required", ()):
            assert key in keys or part.keys().isdisjoint({"properties", "additionalProperties"}), path


@pytest.mark.parametrize("name", OWN)
def test_a_schema_accepts_its_own_examples_and_defaults(name: str) -> None:
    """What an editor offers is right."""
    schema = schemas.load(name)
    for path, part in parts(schema):
        offered = [*part.get("examples", ()), *([part["default"]] if "default" in part else [])]
        inner = Draft202012Validator(schema).evolve(schema=part)
        assert [value for value in offered if not inner.is_valid(value)] == [], path


@pytest.mark.parametrize("name", OWN)
def test_a_mapping_of_ours_is_closed(name: str) -> None:
    """Or says what its values are: a key that nobody reads is refused."""
    for path, part in parts(schemas.load(name)):
        if "properties" in part and name != "names":
            assert part.get("additionalProperties") is False, path


def editor(name: str) -> Draft202012Validator:
    """How an editor holds a document against a schema: references to other files by their address."""
    found = [
        (str(schemas.load(known)["$id"]), Resource.from_contents(schemas.load(known))) for known in schemas.names()
    ]
    return Draft202012Validator(schemas.load(name), registry=Registry().with_resources(found))


@pytest.mark.parametrize("name", ["blueprint", "names"])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_editors_find_nothing_in_the_examples(name: str, file: Path) -> None:
    """With and without the names of the catalogue."""
    errors = editor(name).iter_errors(load(file.read_text(encoding="utf-8")))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "kubernetes"), "1.31"),
        (("spec", "controller"), {"version": "v0.1.0"}),
        (("spec", "lifecycles"), [{"name": "x", "nodes": "timed"}]),
        (("spec", "lifecycles"), [{"name": "x", "pods": "heartbeat"}]),
        (("spec", "pools"), [{"name": "x", "count": 1, "machine": "p5.48xlarg"}]),
        (("spec", "pools"), [{"name": "x", "count": 1, "machine": {"cpu": 1}, "gpus": {"model": "h101"}}]),
        (("spec", "claims"), [{"name": "x", "requests": [{"deviceClassName": "a", "model": "h101"}]}]),
        (("spec", "workloads"), [{"name": "x", "kind": "jobb"}]),
        (("spec", "topology"), {"levels": [{"name": "x", "count": 1, "nodes": 1}], "schemes": ["topogrph"]}),
    ],
)
def test_editors_that_know_the_names_find_a_wrong_one(path: tuple[str, str], value: object) -> None:
    """And only those: without the catalogue's names nothing is wrong."""
    document = load((BLUEPRINTS / "quickstart.yaml").read_text(encoding="utf-8"))
    document[path[0]][path[1]] = value
    assert editor("blueprint").is_valid(document)
    assert not editor("names").is_valid(document)


def named_schemas(text: str) -> list[str]:
    """What the language servers of YAML are told of a document's schema."""
    return re.findall(r"^# yaml-language-server: \$schema=(.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_editors_are_told_where_the_schema_is(file: Path) -> None:
    """From where the example lies."""
    [named] = named_schemas(file.read_text(encoding="utf-8"))
    assert (file.parent / named).samefile(ROOT / "schemas" / "blueprint.schema.json")


def test_what_init_prints_names_no_schema_that_is_not_there(tmp_path: Path) -> None:
    """It is written to a folder that has none."""
    named = named_schemas(command("init", cwd=tmp_path).stdout.decode())
    assert [one for one in named if not one.startswith("https://")] == []


@pytest.mark.parametrize("name", ["blueprint", "names", "catalog/gpu", "kwok/stage"])
def test_the_command_prints_a_schema(tmp_path: Path, name: str) -> None:
    """As the file has it, and the blueprint's without a name."""
    done = command("schema", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (ROOT / "schemas" / f"{name}.schema.json").read_bytes()
    assert json.loads(done.stdout)


def test_the_command_prints_the_blueprints_schema(tmp_path: Path) -> None:
    assert command("schema", cwd=tmp_path).stdout == (ROOT / "schemas" / "blueprint.schema.json").read_bytes()


def test_the_command_knows_no_other(tmp_path: Path) -> None:
    """An unknown name is a problem with the choices."""
    done = command("schema", "blueprin", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b'unknown schema "blueprin". available: "' in done.stderr
    assert b'did you mean "blueprint"?' in done.stderr


KEYS = """
pools:
- {name: a, count: 2, machine: p5.48xlarge, gpus: {count: 1}}
- {name: b, count: 2, machine: {cpu: 8}, gpus: {driver: gpu.example.com, count: 2}}
- {name: c, count: 2, machine: m7i.24xlarge, devices: [{driver: nic.example.com, count: 2}]}
networkDevices: [{name: n, driver: fabric.example.com, count: 2, nodes: all}]
namespaces: [{name: one}, {name: two}]
deviceClasses: [{name: own, selectors: ["true"]}]
claims: [{name: k, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: w, kind: job}]
"""
TREE = "topology={levels: [{name: spine, count: 2}, {name: leaf, count: 2, nodes: 3}], schemes: [topograph]}"
OWN_KEYS = TREE.replace("topograph", "{keys: {leaf: example.com/x}}")
NVLINK = (TREE, "pools.a={name: a, count: 2, machine: gb200-nvl72-tray, gpuOperatorLabels: true}")
WITHIN = (TREE, "workloads.w.gang=true", "workloads.w.placement={within: leaf}")
TIMED = "lifecycles=[{name: n, nodes: heartbeat}, {name: p, pods: general}]"
TIMES = {"heartbeat": 0, **dict.fromkeys(("create", "init", "ready", "run", "delete"), 1)}
"""The index of a lifecycle in TIMED that takes each."""
TWO_LIVES = (
    "lifecycles=[{name: n, nodes: fast}, {name: o, nodes: heartbeat}, {name: p, pods: fast}, {name: q, pods: timed}]"
)
EXPOSED = ("pools.b.gpus.resource=example.com/gpu", "pools.b.expose=extended-resource")
PATCHES = "patches=[{target: {kind: Node}, merge: {metadata: {annotations: {x: y}}}}]"
JOBS = PATCHES.replace("Node", "Job")
TWO_JOBS = "workloads=[{name: w, kind: job}, {name: v, kind: job, namespace: two}]"
COUNTED = ("claims=[]", "pools.a.expose=extended-resource")
PROFILES = "table: {slices: 4, profiles: [{name: half, size: 2}, {name: quarter, size: 1}]}"
POLICY = (
    "workloads.w.backoffLimitPerIndex=1",
    "workloads.w.podFailurePolicy={rules: [{action: Count, onExitCodes: {operator: In, values: [1]}}]}",
)
OF_A_POLICY = "workloads.w.podFailurePolicy.rules[0]"
ON_CONDITIONS = "workloads.w.podFailurePolicy={rules: [{action: Count, onPodConditions: [{type: A}]}]}"
FAILING = ("workloads.w.count=9", "workloads.w.pods=9", "workloads.w.initContainers=[{name: i}]")
FAILING += ("workloads.w.backoffLimitPerIndex=1",)
OF_JOBS = (*FAILING, "workloads.w.failures=[{of: jobs, share: 50%, exitCode: 1}]")
OF_PODS = (*FAILING, "workloads.w.failures=[{of: pods, indexes: [1], exitCode: 1}]")
OF_A_FAILURE = "workloads.w.failures[0]"
DYNAMIC = f"pools.b.gpus.partitions={{mode: dynamic, {PROFILES}}}"
STATIC = f"pools.b.gpus.partitions={{mode: static, layout: {{half: 1}}, {PROFILES}}}"
RULE = "deviceTaintRules=[{name: r, pool: b, node: 0, key: example.com/x, effect: NoSchedule}]"
EVERYWHERE = "deviceTaintRules=[{name: r, driver: gpu.example.com, key: example.com/x, effect: NoSchedule}]"
FAULT = "faults=[{name: f, fault: xid-79, where: {pool: b, nodes: [0]}}]"
EIGHT = "pools.a.gpus.count=8"
FAULT_OF_ALL = FAULT.replace(", nodes: [0]", "")
ROLES = "workloads=[{name: w, kind: jobset, roles: [{name: one}]}]"
ARRIVING = "workloads=[{name: w, kind: job, count: 3, arrival: {every: 10s}}]"
RANGED = "workloads.w.arrival.every={min: 1s, max: 9s}"
TRACED = "workloads=[{name: w, kind: job, trace: [{arrival: 0, duration: 5, gpus: 0}]}]"
FILED = f"workloads=[{{name: w, kind: job, trace: {{file: {ROOT}/tests/trace.csv, columns: {{gpus: gpus}}}}}}]"
LEFT_OUT = ("conditions", "deviceTaint")
HAD = "quota: [{pool: b, gpus: 2}]"
QUEUES = f"queues={{system: kueue, list: [{{name: one, cohort: top, {HAD}}}]}}"
BORROWING = (QUEUES, "queues.list[0].borrow=[{pool: b, gpus: 1}]")
COHORTS = (QUEUES, "queues.cohorts=[{name: top}, {name: over}]")
PREEMPTING = (QUEUES, "queues.list[0].preemption={withinCohort: LowerPriority, withinQueue: LowerPriority}")
BY_RESOURCE = (QUEUES, "queues.list[0].quota=[{pool: b, gpus: 2, resources: {cpu: 1}}]")
LIMITED = (*BY_RESOURCE, "queues.list[0].borrow=[{pool: b, gpus: 1, resources: {cpu: 1}}]")
STEPS = "faults=[{name: f, fault: cordoned, where: {pool: b, nodes: [0]}, for: 1m, then: [{fault: xid-79, for: 1m}]}]"
AGAIN = "faults=[{name: f, fault: cordoned, where: {pool: b, nodes: [0]}, for: 1m, repeat: {every: 5m}}]"
JOINING = "lifecycles=[{name: n, nodes: slow-start, ready: {min: 1s, max: 2s}}, {name: p, pods: general}]"
FIRST = "claims.k.requests=[{firstAvailable: [{deviceClassName: gpu.nvidia.com}]}]"
CONSTRAINT = "claims.k.constraints=[{matchAttribute: gpu.nvidia.com/brand}]"
DISTINCT = CONSTRAINT.replace("match", "distinct")
OF_CLAIM = "claims.k.config=[{driver: gpu.nvidia.com, parameters: {x: y}}]"
OF_CLASS = OF_CLAIM.replace("claims.k", "deviceClasses.own")

# Parts of the language that stand at several places; their arguments begin at the place.
WITH_CAPACITY = "capacity={x: 8}"
BY_CAPACITY = "sharing={by: capacity, capacity: {x: {min: 2, default: 4, max: 6, step: 2}}}"
VALUES = "sharing={by: capacity, capacity: {x: {values: [1, 2]}}}"
SORTS = {
    "version": ("1.2.3", "1.2.4"),
    "each": ("[1, 2]", "[1, 3]"),
    "strings": ("[a]", "[a, b]"),
    "ints": ("[1]", "[1, 2]"),
    "bools": ("[true]", "[true, false]"),
    "versions": ("[1.2.3]", "[1.2.3, 1.2.4]"),
}
AMOUNTS = {"default": 6, "min": 4, "max": 8, "step": 1}
DEVICES: dict[str, tuple[str, ...]] = {
    "attributes": ("attributes={x: y}",),
    **{
        f"attributes.*.{sort}": (f"attributes={{x: {{{sort}: {old}}}}}", f"attributes.x.{sort}={new}")
        for sort, (old, new) in SORTS.items()
    },
    "capacity": ("capacity={memory: 1Gi}",),
    "sharing.by": (WITH_CAPACITY, BY_CAPACITY),
    "sharing.capacity": (WITH_CAPACITY, BY_CAPACITY, "sharing.capacity={x: {min: 1}}"),
    **{
        f"sharing.capacity.*.{key}": (WITH_CAPACITY, BY_CAPACITY, f"sharing.capacity.x.{key}={value}")
        for key, value in AMOUNTS.items()
    },
    "sharing.capacity.*.values": (WITH_CAPACITY, VALUES, "sharing.capacity.x.values=[1, 4]"),
}
TAINTS = "taints=[{nodes: [0], devices: [0], key: example.com/x, effect: NoSchedule}]"
MISSING = "missing=[{nodes: [0], devices: [0]}]"
OF_NODES: dict[str, tuple[str, ...]] = {
    "pcieRoots": ("pcieRoots=2",),
    "taints": (TAINTS,),
    "taints[].nodes": (TAINTS, "taints[0].nodes=[0-1]"),
    "taints[].devices": (TAINTS, "taints[0].devices=[0-1]"),
    "taints[].key": (TAINTS, "taints[0].key=example.com/y"),
    "taints[].value": (TAINTS, "taints[0].value=y"),
    "taints[].effect": (TAINTS, "taints[0].effect=NoExecute"),
    "missing": (MISSING,),
    "missing[].nodes": (MISSING, "missing[0].nodes=[0-1]"),
    "missing[].devices": (MISSING, "missing[0].devices=[1]"),
}
BY_DRIVER: dict[str, tuple[str, ...]] = {
    "sharing.by": ("sharing={by: mps}", "sharing.by=time-slicing"),
    "sharing.interval": ("sharing={by: time-slicing}", "sharing.interval=Long"),
    "sharing.activeThreadPercentage": ("sharing={by: mps}", "sharing.activeThreadPercentage=20"),
    "sharing.pinnedMemory": ("sharing={by: mps}", "sharing.pinnedMemory=5Gi"),
}
TOLERATIONS = "tolerations=[{key: example.com/x, operator: Equal, effect: NoExecute}]"
ASKS: dict[str, tuple[str, ...]] = {
    "name": ("name=r",),
    "deviceClassName": ("deviceClassName=own",),
    "allocationMode": ("allocationMode=All",),
    "count": ("deviceClassName=own", "count=2"),
    "model": ("model=h100-sxm5-80gb",),
    "profile": ("profile=1g.10gb",),
    "selectors": ("selectors=['false']",),
    "capacity": ("capacity={memory: 1Gi}",),
    "tolerations": (TOLERATIONS,),
    "tolerations[].key": (TOLERATIONS, "tolerations[0].key=example.com/y"),
    "tolerations[].operator": (TOLERATIONS, "tolerations[0].operator=Exists"),
    "tolerations[].value": (TOLERATIONS, "tolerations[0].value=y"),
    "tolerations[].effect": (TOLERATIONS, "tolerations[0].effect=NoSchedule"),
    "tolerations[].tolerationSeconds": (TOLERATIONS, "tolerations[0].tolerationSeconds=9"),
}


def at(key: str, place: str, part: dict[str, tuple[str, ...]], *before: str) -> dict[str, tuple[str, ...]]:
    """The lines of a part at one of its places: its key in the language, and where it is in the blueprint."""
    return {f"{key}.{below}": (*before, *(f"{place}.{one}" for one in sets)) for below, sets in part.items()}


def lengths(key: str, before: tuple[str, ...], path: str) -> dict[str, tuple[str, ...]]:
    """What a length can be drawn from, but for a range."""
    wide = f"{path}={{lognormal: 9s, sigma: 2}}"
    return {
        f"{key}.exponential": (*before, f"{path}={{exponential: 9s}}"),
        f"{key}.lognormal": (*before, f"{path}={{lognormal: 9s}}"),
        f"{key}.sigma": (*before, wide, f"{path}.sigma=3"),
        f"{key}.of": (*before, f"{path}={{of: [7s]}}"),
    }


USED: dict[str, tuple[str, ...]] = {
    "kubernetes": ("kubernetes='1.33'",),
    "seed": ("workloads.w.run={min: 1s, max: 99s}", "seed=2"),
    "namespaces": ("namespaces=[{name: one}]",),
    "namespaces[].name": ("namespaces[1].name=three",),
    "namespaces[].adminAccess": ("namespaces[1].adminAccess=true",),
    "namespaces[].labels": ("namespaces[1].labels={x: y}",),
    "namespaces[].annotations": ("namespaces[1].annotations={x: y}",),
    "controller.run": ("controller.run=outside",),
    "controller.version": ("controller.version=v0.7.0",),
    "controller.namespace": ("controller.namespace=own",),
    "controller.shards": ("controller.shards=2",),
    "controller.stages": ("controller.stages=crd",),
    "controller.nodeLeaseDuration": ("controller.nodeLeaseDuration=80s",),
    "lifecycles": ("lifecycles=[{name: x, nodes: fast}]",),
    "lifecycles[].name": (TIMED, "lifecycles[0].name=m"),
    "lifecycles[].nodes": (TIMED, "lifecycles[0].nodes=fast"),
    "lifecycles[].pods": (TIMED, "lifecycles[1].pods=timed"),
    **{f"lifecycles[].{time}": (TIMED, f"lifecycles[{index}].{time}=7s") for time, index in TIMES.items()},
    **{
        f"lifecycles[].{time}.{end}": (
            TIMED,
            f"lifecycles[{index}].{time}={{min: 2s, max: 9s}}",
            f"lifecycles[{index}].{time}.{end}=5s",
        )
        for time, index in TIMES.items()
        for end in ("min", "max")
    },
    "lifecycles[].readinessGates": (TIMED, "lifecycles[1].readinessGates=set"),
    "pools": ("pools=[{name: a, count: 1, machine: p5.48xlarge}]",),
    "pools[].name": ("pools[0].name=z",),
    "pools[].count": ("pools.a.count=3",),
    "pools[].nodeName": ("pools.a.nodeName='x-{index}'",),
    "pools[].machine": ("pools.a.machine=p4d.24xlarge",),
    "pools[].arch": ("pools.a.arch=arm64",),
    "pools[].capacity": ("pools.a.capacity={cpu: 1}",),
    "pools[].gpus.model": ("pools.a.gpus.model=h200-sxm5-141gb",),
    "pools[].gpus.count": ("pools.b.gpus.count=3",),
    "pools[].gpus.driver": ("pools.b.gpus.driver=other.example.com",),
    "pools[].gpus.deviceName": ("pools.b.gpus.deviceName='card-{index}'",),
    "pools[].gpus.resource": (*EXPOSED, "pools.b.gpus.resource=example.com/other"),
    **at("pools[].gpus", "pools.b.gpus", DEVICES | OF_NODES),
    **at("pools[].gpus", "pools.a.gpus", BY_DRIVER),
    "pools[].gpus.sharing.replicas": (
        *COUNTED,
        "pools.a.gpus.sharing={by: mps, replicas: 2}",
        "pools.a.gpus.sharing.replicas=3",
    ),
    "pools[].gpus.partitions.mode": (DYNAMIC, STATIC),
    "pools[].gpus.partitions.profiles": (DYNAMIC, "pools.b.gpus.partitions.profiles=[half]"),
    "pools[].gpus.partitions.layout": (STATIC, "pools.b.gpus.partitions.layout={half: 2}"),
    **at(
        "pools[].gpus.partitions.table",
        "pools.b.gpus.partitions.table",
        {
            "slices": ("slices=6",),
            "profiles": ("profiles=[{name: half, size: 2}]",),
            "profiles[].name": ("profiles[0].name=other",),
            "profiles[].size": ("profiles[0].size=3",),
            "profiles[].starts": ("profiles[0].starts=[1]",),
            "profiles[].capacity": ("profiles[0].capacity={memory: 1Gi}",),
        },
        DYNAMIC,
    ),
    "pools[].devices": ("pools.c.devices=[]",),
    "pools[].devices[].driver": ("pools.c.devices[0].driver=other.example.com",),
    "pools[].devices[].count": ("pools.c.devices[0].count=3",),
    "pools[].devices[].deviceName": ("pools.c.devices[0].deviceName='nic-{index}'",),
    **at("pools[].devices[]", "pools.c.devices[0]", DEVICES | OF_NODES),
    "pools[].expose": COUNTED,
    "pools[].addresses": ("pools.a.addresses=172.16.0.0/24",),
    "pools[].lifecycle": (TWO_LIVES, "pools.a.lifecycle=o"),
    "pools[].labels": ("pools.a.labels={x: y}",),
    "pools[].annotations": ("pools.a.annotations={x: y}",),
    "pools[].taints": ("pools.a.taints=[{key: x, effect: NoSchedule}]",),
    "pools[].taints[].key": ("pools.a.taints=[{key: x, effect: NoSchedule}]", "pools.a.taints[0].key=y"),
    "pools[].taints[].value": ("pools.a.taints=[{key: x, effect: NoSchedule}]", "pools.a.taints[0].value=y"),
    "pools[].taints[].effect": ("pools.a.taints=[{key: x, effect: NoSchedule}]", "pools.a.taints[0].effect=NoExecute"),
    "pools[].fakeTaint": ("pools.a.fakeTaint=false",),
    "pools[].detectors": ("pools.a.detectors=[npd]",),
    "pools[].gpuOperatorLabels": ("pools.a.gpuOperatorLabels=true",),
    "networkDevices": ("networkDevices=[]",),
    "networkDevices[].name": ("networkDevices[0].name=m",),
    "networkDevices[].driver": ("networkDevices.n.driver=other.example.com",),
    "networkDevices[].count": ("networkDevices.n.count=3",),
    "networkDevices[].deviceName": ("networkDevices.n.deviceName='link-{index}'",),
    "networkDevices[].nodes": ("networkDevices.n.nodes={pools: [a]}",),
    "networkDevices[].nodes.pools": ("networkDevices.n.nodes={pools: [a]}", "networkDevices.n.nodes.pools=[b]"),
    "networkDevices[].nodes.labels": ("networkDevices.n.nodes={pools: [a]}", "networkDevices.n.nodes.labels={x: y}"),
    **at("networkDevices[]", "networkDevices.n", DEVICES),
    "deviceTaintRules": (RULE,),
    "deviceTaintRules[].name": (RULE, "deviceTaintRules[0].name=s"),
    "deviceTaintRules[].driver": (RULE, "deviceTaintRules.r.driver=gpu.example.com"),
    "deviceTaintRules[].pool": (RULE, "deviceTaintRules.r.pool=a"),
    "deviceTaintRules[].node": (RULE, "deviceTaintRules.r.node=1"),
    "deviceTaintRules[].device": (EVERYWHERE, "deviceTaintRules.r.device=gpu-1"),
    "deviceTaintRules[].key": (RULE, "deviceTaintRules.r.key=example.com/y"),
    "deviceTaintRules[].value": (RULE, "deviceTaintRules.r.value=y"),
    "deviceTaintRules[].effect": (RULE, "deviceTaintRules.r.effect=NoExecute"),
    "faults": (FAULT,),
    "faults[].name": (FAULT, "faults[0].name=g"),
    "faults[].fault": (FAULT, "faults.f.fault=xid-48"),
    "faults[].where.pool": (FAULT, "faults.f.where.pool=a"),
    "faults[].where.place": (TREE, "pools.b.place={spread: leaf}", FAULT_OF_ALL, "faults.f.where.place=spine-0/leaf-0"),
    "faults[].where.nodes": (FAULT, "faults.f.where.nodes=[0-1]"),
    "faults[].where.gpus": (FAULT, "faults.f.where.gpus=[1]"),
    "faults[].start.after": (FAULT, "faults.f.start={after: 5m}"),
    "faults[].start.at": (FAULT, "faults.f.start={at: '2026-12-01T10:00:00Z'}"),
    "faults[].start.manual": (FAULT, "faults.f.start={manual: true}"),
    "faults[].for": (FAULT, "faults.f.for=30m"),
    **{f"faults[].effects.{effect}": (FAULT, f"faults.f.effects={{{effect}: false}}") for effect in LEFT_OUT},
    **{f"faults[].effects.{effect}": (FAULT, f"faults.f.effects={{{effect}: true}}") for effect in ("taint", "cordon")},
    "faults[].effects.labels": (
        FAULT,
        "faults.f.fault=maintenance",
        "faults.f.effects={labels: false}",
    ),
    "faults[].effects.allocatable": (
        *COUNTED,
        FAULT.replace("pool: b", "pool: a"),
        "faults.f.effects={allocatable: false}",
    ),
    "faults[].effects.deviceGone": (FAULT, "faults.f.effects={deviceGone: true}"),
    "faults[].effects.exit": (FAULT, "faults.f.start={manual: true}", "faults.f.effects={exit: true}"),
    "faults[].effects.event": (FAULT, "faults.f.start={manual: true}", "faults.f.effects={event: false}"),
    "faults[].repeat.every": (AGAIN, "faults.f.repeat.every=6m"),
    "faults[].repeat.times": (AGAIN, "faults.f.repeat.times=3"),
    "faults[].then": (STEPS, "faults.f.then=[{fault: xid-79, for: 1m}, {fault: xid-48}]"),
    "faults[].then[].fault": (STEPS, "faults.f.then[0].fault=xid-48"),
    "faults[].then[].for": (STEPS, "faults.f.then[0].for=2m"),
    **{
        f"faults[].then[].effects.{effect}": (STEPS, f"faults.f.then[0].effects={{{effect}: false}}")
        for effect in (*LEFT_OUT, "event")
    },
    **{
        f"faults[].then[].effects.{effect}": (STEPS, f"faults.f.then[0].effects={{{effect}: true}}")
        for effect in ("taint", "cordon", "deviceGone")
    },
    "faults[].then[].effects.exit": (STEPS, "faults.f.start={manual: true}", "faults.f.then[0].effects={exit: true}"),
    "faults[].then[].effects.labels": (
        STEPS,
        "faults.f.then[0].fault=maintenance",
        "faults.f.then[0].effects={labels: false}",
    ),
    "faults[].then[].effects.allocatable": (
        *COUNTED,
        STEPS.replace("pool: b", "pool: a"),
        "faults.f.then[0].effects={allocatable: false}",
    ),
    "deviceClasses": ("deviceClasses=[]",),
    "deviceClasses[].name": ("deviceClasses[0].name=other",),
    "deviceClasses[].selectors": ("deviceClasses.own.selectors=['false']",),
    "deviceClasses[].extendedResourceName": ("deviceClasses.own.extendedResourceName=example.com/x",),
    "deviceClasses[].config": (OF_CLASS,),
    "deviceClasses[].config[].driver": (OF_CLASS, "deviceClasses.own.config[0].driver=other.example.com"),
    "deviceClasses[].config[].parameters": (OF_CLASS, "deviceClasses.own.config[0].parameters.x=z"),
    "deviceClasses[].create": ("deviceClasses=[{name: own, create: false}]",),
    "claims": ("claims=[]",),
    "claims[].name": ("claims[0].name=l",),
    "claims[].namespace": ("claims.k.namespace=two",),
    "claims[].shared": ("claims.k.shared=true",),
    "claims[].requests": ("claims.k.requests=[{deviceClassName: own}]",),
    **at("claims[].requests[]", "claims.k.requests[0]", ASKS | BY_DRIVER),
    "claims[].requests[].adminAccess": ("namespaces[0].adminAccess=true", "claims.k.requests[0].adminAccess=true"),
    "claims[].requests[].firstAvailable": (FIRST, "claims.k.requests[0].firstAvailable=[{deviceClassName: own}]"),
    **at("claims[].requests[].firstAvailable[]", "claims.k.requests[0].firstAvailable[0]", ASKS, FIRST),
    "claims[].constraints": (CONSTRAINT,),
    "claims[].constraints[].requests": (CONSTRAINT, "claims.k.constraints[0].requests=[request-0]"),
    "claims[].constraints[].matchAttribute": (CONSTRAINT, "claims.k.constraints[0].matchAttribute=gpu.nvidia.com/uuid"),
    "claims[].constraints[].distinctAttribute": (
        DISTINCT,
        "claims.k.constraints[0].distinctAttribute=gpu.nvidia.com/uuid",
    ),
    "claims[].config": (OF_CLAIM,),
    "claims[].config[].requests": (OF_CLAIM, "claims.k.config[0].requests=[request-0]"),
    "claims[].config[].driver": (OF_CLAIM, "claims.k.config[0].driver=other.example.com"),
    "claims[].config[].parameters": (OF_CLAIM, "claims.k.config[0].parameters.x=z"),
    "workloads": ("workloads=[]",),
    "workloads[].name": ("workloads[0].name=v",),
    "workloads[].namespace": ("workloads.w.namespace=two",),
    "workloads[].count": ("workloads.w.count=2",),
    "workloads[].pods": ("workloads.w.pods=2",),
    "workloads[].parallelism": ("workloads.w.pods=3", "workloads.w.parallelism=2"),
    "workloads[].gang": ("workloads.w.gang=true",),
    "workloads[].pools": ("workloads.w.pools=[a]",),
    "workloads[].gpus": (*COUNTED, "workloads.w.gpus=1"),
    "workloads[].claims": ("workloads.w.claims=[k]",),
    "workloads[].container.name": ("workloads.w.container.name=c",),
    "workloads[].container.image": ("workloads.w.container.image=c",),
    "workloads[].container.command": ("workloads.w.container.command=[c]",),
    "workloads[].container.resources": ("workloads.w.container.resources={cpu: 1}",),
    "workloads[].initContainers": ("workloads.w.initContainers=[{name: i}]",),
    "workloads[].initContainers[].name": (
        "workloads.w.initContainers=[{name: i}]",
        "workloads.w.initContainers[0].name=j",
    ),
    "workloads[].initContainers[].image": (
        "workloads.w.initContainers=[{name: i}]",
        "workloads.w.initContainers.i.image=j",
    ),
    "workloads[].initContainers[].command": (
        "workloads.w.initContainers=[{name: i}]",
        "workloads.w.initContainers.i.command=[j]",
    ),
    "workloads[].initContainers[].resources": (
        "workloads.w.initContainers=[{name: i}]",
        "workloads.w.initContainers.i.resources={cpu: 1}",
    ),
    "pools[].numa.zones": ("pools.a.numa={zones: 2}",),
    "pools[].numa.policy": ("pools.a.numa={zones: 2}", "pools.a.numa.policy=none"),
    "pools[].numa.scope": ("pools.a.numa={zones: 2, policy: none}", "pools.a.numa.scope=pod"),
    "workloads[].roles": (ROLES,),
    "workloads[].roles[].name": (ROLES, "workloads.w.roles[0].name=two"),
    "workloads[].roles[].pods": (ROLES, "workloads.w.roles[0].pods=2"),
    "workloads[].roles[].pools": (ROLES, "workloads.w.roles[0].pools=[a]"),
    "workloads[].roles[].gpus": (*COUNTED, ROLES, "workloads.w.roles[0].gpus=1"),
    "workloads[].roles[].claims": (ROLES, "workloads.w.roles[0].claims=[k]"),
    "workloads[].roles[].container.image": (ROLES, "workloads.w.roles[0].container={image: c}"),
    "workloads[].roles[].container.command": (ROLES, "workloads.w.roles[0].container={command: [c]}"),
    "workloads[].roles[].container.resources": (ROLES, "workloads.w.roles[0].container={resources: {cpu: 1}}"),
    "workloads[].labels": ("workloads.w.labels={x: y}",),
    "workloads[].annotations": ("workloads.w.annotations={x: y}",),
    "workloads[].restartPolicy": ("workloads.w.restartPolicy=OnFailure",),
    "workloads[].suspend": ("workloads.w.suspend=true",),
    "workloads[].queue": (
        QUEUES,
        "workloads.w.queue=one",
        f"queues.list=[{{name: one, {HAD}}}, {{name: two, {HAD}}}]",
        "workloads.w.queue=two",
    ),
    "workloads[].priority": ("workloads.w.priority=1",),
    "workloads[].failures": OF_PODS,
    "workloads[].failures[].of": (*OF_JOBS, f"{OF_A_FAILURE}.of=pods"),
    "workloads[].failures[].share": (*OF_JOBS, f"{OF_A_FAILURE}.share=20%"),
    "workloads[].failures[].jobs": (*OF_PODS, f"{OF_A_FAILURE}.jobs=[2]"),
    "workloads[].failures[].indexes": (*OF_PODS, f"{OF_A_FAILURE}.indexes=[2]"),
    "workloads[].failures[].initContainer": (*OF_PODS, f"{OF_A_FAILURE}.initContainer=i"),
    "workloads[].failures[].after": (*OF_PODS, f"{OF_A_FAILURE}.after=2s"),
    "workloads[].failures[].exitCode": (*OF_PODS, f"{OF_A_FAILURE}.exitCode=2"),
    "workloads[].failures[].imagePullBackOff": (
        "workloads.w.failures=[{of: jobs, jobs: [0], imagePullBackOff: 5m}]",
        f"{OF_A_FAILURE}.imagePullBackOff=forever",
    ),
    "workloads[].failures[].reason": (*OF_PODS, f"{OF_A_FAILURE}.reason=OOMKilled"),
    "workloads[].failures[].message": (*OF_PODS, f"{OF_A_FAILURE}.message=x"),
    "workloads[].failures[].times": (*OF_PODS, f"{OF_A_FAILURE}.times=2"),
    "queues.system": (QUEUES, "queues.system=volcano"),
    "queues.list": (QUEUES,),
    "queues.list[].name": (QUEUES, "queues.list[0].name=other"),
    "queues.list[].cohort": (QUEUES, "queues.list[0].cohort=other"),
    "queues.list[].quota": (QUEUES, "queues.list[0].quota=[{pool: a, gpus: 1}]"),
    "queues.list[].quota[].pool": (QUEUES, "queues.list[0].quota[0].pool=a"),
    "queues.list[].quota[].gpus": (QUEUES, "queues.list[0].quota[0].gpus=1"),
    "queues.list[].quota[].resources": (*BY_RESOURCE, "queues.list[0].quota[0].resources={cpu: 2}"),
    "queues.list[].borrow": (QUEUES, "queues.list[0].borrow=true"),
    "queues.list[].borrow[].pool": (
        *BORROWING,
        "queues.list[0].quota=[{pool: b, gpus: 2}, {pool: a, gpus: 1}]",
        "queues.list[0].borrow[0].pool=a",
    ),
    "queues.list[].borrow[].gpus": (*BORROWING, "queues.list[0].borrow[0].gpus=2"),
    "queues.list[].borrow[].resources": (*LIMITED, "queues.list[0].borrow[0].resources={cpu: 2}"),
    "queues.list[].lend": (QUEUES, "queues.list[0].lend=false"),
    "queues.list[].weight": (QUEUES, "queues.list[0].weight=2"),
    "queues.list[].preemption.withinQueue": (*PREEMPTING, "queues.list[0].preemption.withinQueue=Never"),
    "queues.list[].preemption.withinCohort": (*PREEMPTING, "queues.list[0].preemption.withinCohort=Any"),
    "queues.cohorts": (QUEUES, "queues.cohorts=[{name: over}]"),
    "queues.cohorts[].name": (*COHORTS, "queues.cohorts[1].name=other"),
    "queues.cohorts[].parent": (*COHORTS, "queues.cohorts[0].parent=over"),
    "queues.cohorts[].weight": (*COHORTS, "queues.cohorts[0].weight=2"),
    "workloads[].backoffLimit": ("workloads.w.backoffLimit=0",),
    "workloads[].backoffLimitPerIndex": ("workloads.w.backoffLimitPerIndex=0",),
    "workloads[].maxFailedIndexes": ("workloads.w.backoffLimitPerIndex=0", "workloads.w.maxFailedIndexes=0"),
    "workloads[].podFailurePolicy.rules": POLICY,
    "workloads[].podFailurePolicy.rules[].action": (*POLICY, f"{OF_A_POLICY}.action=FailIndex"),
    "workloads[].podFailurePolicy.rules[].onExitCodes.containerName": (
        *POLICY,
        f"{OF_A_POLICY}.onExitCodes.containerName=main",
    ),
    "workloads[].podFailurePolicy.rules[].onExitCodes.operator": (*POLICY, f"{OF_A_POLICY}.onExitCodes.operator=NotIn"),
    "workloads[].podFailurePolicy.rules[].onExitCodes.values": (*POLICY, f"{OF_A_POLICY}.onExitCodes.values=[2]"),
    "workloads[].podFailurePolicy.rules[].onPodConditions": (ON_CONDITIONS,),
    "workloads[].podFailurePolicy.rules[].onPodConditions[].type": (
        ON_CONDITIONS,
        f"{OF_A_POLICY}.onPodConditions[0].type=B",
    ),
    "workloads[].podFailurePolicy.rules[].onPodConditions[].status": (
        ON_CONDITIONS,
        f"{OF_A_POLICY}.onPodConditions[0].status='False'",
    ),
    "workloads[].lifecycle": (TWO_LIVES, "workloads.w.lifecycle=q"),
    "workloads[].run": ("workloads.w.run=9s",),
    "workloads[].run.min": ("workloads.w.run={min: 1s, max: 2s}", "workloads.w.run.min=2s"),
    "workloads[].run.max": ("workloads.w.run={min: 1s, max: 2s}", "workloads.w.run.max=99s"),
    **lengths("workloads[].run", (), "workloads.w.run"),
    **lengths("workloads[].arrival.every", (ARRIVING,), "workloads.w.arrival.every"),
    "workloads[].arrival.every": (ARRIVING, "workloads.w.arrival.every=20s"),
    "workloads[].arrival.every.min": (ARRIVING, RANGED, "workloads.w.arrival.every.min=2s"),
    "workloads[].arrival.every.max": (ARRIVING, RANGED, "workloads.w.arrival.every.max=99m"),
    "workloads[].arrival.start": (ARRIVING, "workloads.w.arrival.start=9s"),
    "workloads[].trace": (TRACED,),
    "workloads[].trace[].arrival": (TRACED, "workloads.w.trace[0].arrival=9"),
    "workloads[].trace[].duration": (TRACED, "workloads.w.trace[0].duration=9"),
    "workloads[].trace[].gpus": (*COUNTED, TRACED, "workloads.w.trace[0].gpus=1"),
    "workloads[].trace[].pods": (TRACED, "workloads.w.trace[0].pods=2"),
    "workloads[].trace.file": (*COUNTED, EIGHT, FILED),
    "workloads[].trace.columns.arrival": (*COUNTED, EIGHT, FILED, "workloads.w.trace.columns.arrival=duration"),
    "workloads[].trace.columns.duration": (*COUNTED, EIGHT, FILED, "workloads.w.trace.columns.duration=gpus"),
    "workloads[].trace.columns.gpus": (*COUNTED, EIGHT, FILED, "workloads.w.trace.columns.gpus=pods"),
    "workloads[].trace.columns.pods": (*COUNTED, EIGHT, FILED, "workloads.w.trace.columns.pods=gpus"),
    "observability.prometheus": ("observability.prometheus=true",),
    "observability.grafana": ("observability={prometheus: true}", "observability.grafana=true"),
    "observability.labels": ("observability={prometheus: true}", "observability.labels={x: y}"),
    "patches": (PATCHES,),
    "patches[].target.kind": (PATCHES, "patches[0].target.kind=Job"),
    "patches[].target.name": (PATCHES, "patches[0].target.name=a-0"),
    "patches[].target.namespace": (TWO_JOBS, JOBS, "patches[0].target.namespace=two"),
    "patches[].target.labels": (PATCHES, "patches[0].target.labels={kwokgen.io/pool: a}"),
    "patches[].target.pool": (PATCHES, "patches[0].target.pool=a"),
    "topology.levels": (TREE, "topology.levels=[{name: rack, count: 4, nodes: 3}]"),
    "topology.levels[].name": (TREE, "topology.levels[1].name=rack"),
    "topology.levels[].count": (TREE, "topology.levels[1].count=1"),
    "topology.levels[].nodes": (TREE, "topology.levels[1].nodes=2"),
    "topology.levels[].except": (TREE, "topology.levels[1].except={spine-0/leaf-0: 1}"),
    "topology.levels[].nvlink": (*NVLINK, "topology.levels[1].nvlink=true"),
    "topology.schemes": (TREE, "topology.schemes=[kueue]"),
    "topology.schemes[].keys": (OWN_KEYS, "topology.schemes[0].keys={leaf: example.com/y}"),
    "pools[].place.spread": (TREE, "pools.a.place={spread: leaf}"),
    "pools[].place.pack": (TREE, "pools.b.place={pack: leaf}"),
    "pools[].place.under": (TREE, "pools.a.place={under: spine-1}"),
    "pools[].place.start": (TREE, "pools.a.place={start: 2}"),
    "workloads[].placement.within": (*WITHIN, "workloads.w.placement.within=spine"),
    "patches[].merge": (PATCHES, "patches[0].merge.metadata.annotations.x=z"),
}
"""For every key: `--set` arguments, the last of which sets it to something else than before."""
NOT_BY_DRIVER: dict[str, tuple[str, ...]] = {
    "sharing.interval": ("sharing={by: time-slicing, interval: Long}",),
    "sharing.activeThreadPercentage": ("sharing={by: mps, activeThreadPercentage: 20}",),
    "sharing.pinnedMemory": ("sharing={by: mps, pinnedMemory: 5Gi}",),
    "sharing.replicas": ("sharing={by: mps, replicas: 2}",),
}
REFUSED: dict[str, tuple[str, ...]] = {
    # There is one kind.
    "workloads[].kind": ("workloads.w.kind=other",),
    # Gangs of Kubernetes itself know no other.
    "workloads[].placement.required": (*WITHIN, "workloads.w.placement.required=false"),
    # It only limits a layout.
    # What follows has its meaning at another place of the same part.
    **at("pools[].devices[]", "pools.c.devices[0]", NOT_BY_DRIVER),
    **at("networkDevices[]", "networkDevices.n", NOT_BY_DRIVER),
    **{
        f"claims[].requests[].sharing.capacity{below}": (
            "claims.k.requests[0].sharing={by: capacity, capacity: {memory: " + written + "}}",
        )
        for below, written in (
            ("", "{min: 1Gi}"),
            (".*.default", "{default: 1Gi}"),
            (".*.min", "{min: 1Gi}"),
            (".*.max", "{min: 1Gi, max: 2Gi}"),
            (".*.step", "{min: 1Gi, step: 1Gi}"),
            (".*.values", "{values: [1Gi]}"),
        )
    },
    "claims[].requests[].sharing.replicas": (
        "claims.k.requests[0].sharing={by: mps}",
        "claims.k.requests[0].sharing.replicas=2",
    ),
    "deviceClasses[].config[].requests": (OF_CLASS, "deviceClasses.own.config[0].requests=[request-0]"),
}
"""Keys that change nothing: `--set` arguments, the last of which has them and is refused."""


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A part of the blueprint's schema, with what it refers to."""
    definitions = schemas.load("blueprint")["$defs"]
    return definitions[schema["$ref"].removeprefix("#/$defs/")] | schema if "$ref" in schema else schema


def keys(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key below a part, but those that do no more than to hold others, and the names that users choose."""
    part = resolved(schema)
    for key, below in part.get("properties", {}).items():
        whole = resolved(below)
        if whole.get("type") != "object" or "properties" not in whole:
            yield f"{path}{key}", whole
        yield from keys(below, f"{path}{key}.")
    if "items" in part:
        yield from keys(part["items"], f"{path.removesuffix('.')}[].")
    if isinstance(part.get("additionalProperties"), dict):
        yield from keys(part["additionalProperties"], f"{path}*.")


KNOWN = dict(keys(schemas.load("blueprint")["properties"]["spec"], ""))


def test_the_table_has_every_key() -> None:
    """A key that is new in the schema needs a line here."""
    assert USED.keys() | REFUSED.keys() == KNOWN.keys()
    assert USED.keys() & REFUSED.keys() == set()


@cache
def written(*sets: str) -> dict[str, bytes]:
    """The bundle of the cluster with these arguments; its own folder is nothing that changes it."""
    with TemporaryDirectory() as folder:
        return contents(rendered(Path(folder), KEYS, *sets).bundle())


@pytest.mark.slow
@pytest.mark.parametrize("key", USED)
def test_every_key_is_read(key: str) -> None:
    """The bundle with it is another than the one without it: nothing is accepted and ignored."""
    *before, change = USED[key]
    assert written(*before) != written(*before, change)


@pytest.mark.parametrize("key", REFUSED)
def test_a_key_that_could_change_nothing_is_refused(tmp_path: Path, key: str) -> None:
    """Not by the schema, which has the key, or has it for another place."""
    *before, change = REFUSED[key]
    assert written(*before)
    found = problems(lambda: rendered(tmp_path, KEYS, *before, change))
    assert "blueprint" not in {problem.code for problem in found}


def test_the_table_sets_the_keys_that_it_says() -> None:
    """Each last argument names the key, or what holds it, or what it holds."""
    for key, sets in (USED | REFUSED).items():
        named = re.sub(r"\[\d\]|\.(a|b|c|f|k|n|r|w|i|x|own)(?=\.)", "", sets[-1].partition("=")[0])
        plain = key.replace("[]", "").replace(".*", "")
        assert f"{plain}.".startswith(f"{named}.") or f"{named}.".startswith(f"{plain}."), key


CUT_MODEL = ("claims=[]", "pools.a.gpus.partitions={mode: static, layout: {1g.10gb: 1}}")
SLICED = (*COUNTED, "pools.a.gpus.sharing={by: time-slicing, replicas: 2}")
MULTIPLIED = (*COUNTED, "pools.a.gpus.sharing={by: mps, replicas: 2}")
MADE_BY_OTHERS = "deviceClasses=[{name: gpu.nvidia.com, create: false}]"
CONFIGURED = "deviceClasses=[{name: gpu.nvidia.com, config: [{driver: gpu.nvidia.com, parameters: {x: y}}]}]"
POLICY = "pools.b.gpus.sharing.capacity.x"
QUARTER = "pools.b.gpus.partitions.table.profiles[1]"
IDLE: dict[str, tuple[str, ...]] = {
    "operator labels of a driver of one's own": ("pools.b.gpuOperatorLabels=true",),
    "no operator labels of a pool without GPUs": ("pools.c.gpuOperatorLabels=true",),
    "GPUs of a pool without, exposed": ("pools.c.expose=extended-resource",),
    "leases of a controller of others": ("controller.run=existing", "controller.nodeLeaseDuration=80s"),
    "the namespace of a controller of others": ("controller.run=existing", "controller.namespace=own"),
    "the namespace of a controller outside": ("controller.run=outside", "controller.namespace=own"),
    "the number of controllers of others": ("controller.run=existing", "controller.shards=2"),
    "a count beside all devices": ("claims.k.requests[0].allocationMode=All", "claims.k.requests[0].count=2"),
    "selectors of a class that is not made": ("deviceClasses.own.create=false", "claims=[]"),
    "a time that the profile does not have": (TIMED, "lifecycles[0].run=7s"),
    "a capacity that the machine has": ("pools.a.capacity={cpu: 192}",),
    "an architecture that the machine has": ("pools.a.arch=amd64",),
    "a model that the machine has": ("pools.a.gpus={model: h100-sxm5-80gb}",),
    "profiles of partitions that are there": (STATIC, "pools.b.gpus.partitions.profiles=[half]"),
    "a layout of partitions on demand": (DYNAMIC, "pools.b.gpus.partitions.layout={half: 1}"),
    "capacity of GPUs that are cut for good": (STATIC, "pools.b.gpus.capacity={memory: 1Gi}"),
    "names of GPUs that are cut for good": (*CUT_MODEL, "pools.a.gpus.deviceName='card-{index}'"),
    "a table of a model's partitions": ("pools.a.gpus.partitions={mode: dynamic, " + PROFILES + "}",),
    "attributes of a number of GPUs": (*COUNTED, "pools.a.gpus.attributes={x: y}"),
    "taints of a number of GPUs": (*COUNTED, f"pools.a.gpus.{TAINTS}"),
    "PCIe roots of a number of GPUs": (*COUNTED, "pools.a.gpus.pcieRoots=1"),
    "time slices of a number of GPUs": (*SLICED, "pools.a.gpus.sharing.interval=Long"),
    "threads of a number of GPUs": (*MULTIPLIED, "pools.a.gpus.sharing.activeThreadPercentage=20"),
    "memory of a number of GPUs": (*MULTIPLIED, "pools.a.gpus.sharing.pinnedMemory=5Gi"),
    "replicas of DRA devices": ("pools.a.gpus.sharing={by: mps, replicas: 2}",),
    "an option of another way of sharing": ("pools.a.gpus.sharing={by: mps, interval: Long}",),
    "sharing of a class that is not made": (MADE_BY_OTHERS, "claims=[]", "pools.a.gpus.sharing={by: mps}"),
    "sharing of a class with parameters of its own": (CONFIGURED, "pools.a.gpus.sharing={by: mps}"),
    "bounds of listed amounts": ("pools.b.gpus.capacity={x: 8}", f"pools.b.gpus.{VALUES}", f"{POLICY}.min=1"),
    "a device of rules without its driver": (RULE, "deviceTaintRules.r.device=gpu-0"),
    "a count beside alternatives": (FIRST, "claims.k.requests[0].count=2"),
    "a value that only has to exist": (
        "claims.k.requests[0].tolerations=[{key: x, operator: Exists}]",
        "claims.k.requests[0].tolerations[0].value=y",
    ),
    "a time for a taint that puts no pod out": (
        "claims.k.requests[0].tolerations=[{operator: Exists, effect: NoSchedule}]",
        "claims.k.requests[0].tolerations[0].tolerationSeconds=9",
    ),
    "a label that admin access sets": (
        "namespaces[0].adminAccess=true",
        "namespaces[0].labels={resource.kubernetes.io/admin-access: 'false'}",
    ),
}


@pytest.mark.parametrize("sets", IDLE.values(), ids=IDLE)
def test_a_key_that_does_nothing_beside_others_is_said(tmp_path: Path, sets: tuple[str, ...]) -> None:
    """As a problem or as a warning: whoever wrote it meant something."""
    try:
        found = rendered(tmp_path, KEYS, *sets).warnings
    except KwokgenError as error:
        found = error.problems
    assert found


@pytest.mark.parametrize(
    "sets",
    [
        ("workloads.w.run={min: 1s, max: 99s}", "seed=2"),
        ("controller.shards=2",),
        ("pools.a.count=2",),
        ("pools.b.gpus.count=2",),
        ("pools.b.gpus.pcieRoots=2",),
        (f"pools.b.gpus.{TAINTS}", "pools.b.gpus.taints[0].nodes[0]=1"),
        ("pools.b.gpus.attributes={x: 1}", "pools.b.gpus.attributes.x=2"),
        ("pools.b.gpus.attributes={x: {each: [1, 2]}}", "pools.b.gpus.attributes.x.each[0]=2"),
        ("pools.b.gpus.attributes={x: {ints: [1]}}", "pools.b.gpus.attributes.x.ints[0]=2"),
        (STATIC, "pools.b.gpus.partitions.layout.half=2"),
        (DYNAMIC, "pools.b.gpus.partitions.table.slices=6"),
        (DYNAMIC, f"{QUARTER}.starts=[1]", f"{QUARTER}.starts[0]=2"),
        ("pools.c.devices[0].count=2",),
        ("networkDevices.n.count=2",),
        (RULE, "deviceTaintRules.r.node=1"),
        ("pools.a.gpus.count=2", "claims.k.requests[0].count=2"),
        ("claims.k.requests[0].sharing={by: mps}", "claims.k.requests[0].sharing.activeThreadPercentage=20"),
        (f"claims.k.requests[0].{TOLERATIONS}", "claims.k.requests[0].tolerations[0].tolerationSeconds=9"),
        ("workloads.w.count=2",),
        ("workloads.w.pods=2",),
    ],
    ids=lambda sets: sets[-1].partition("=")[0],
)
def test_a_whole_number_with_a_point_is_that_number(sets: tuple[str, ...]) -> None:
    """JSON Schema takes 2.0 for an integer, and so must everything behind it."""
    *before, change = sets
    found, expected = written(*before, f"{change}.0"), written(*before, change)
    assert [path for path in found | expected if found.get(path) != expected.get(path)] == []


def test_the_head_is_read() -> None:
    """The name is in every name that kwokgen invents; of version and kind there is one each."""
    head = schemas.load("blueprint")["properties"]
    assert [len(head[key]["enum"]) for key in ("apiVersion", "kind")] == [1, 1]
    assert head.keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert head["metadata"]["properties"].keys() == {"name"}
    with TemporaryDirectory() as folder:
        other = contents(rendered(Path(folder), KEYS, name="other").bundle())
    assert [path for path, text in written().items() if other.get(path) == text] == []


DEFAULTS: dict[str, tuple[str, ...]] = {
    "workloads[].arrival.start": (ARRIVING, "workloads.w.arrival.start=0s"),
    "seed": ("workloads.w.run={min: 1s, max: 99s}", "seed=1"),
    "namespaces[].adminAccess": ("namespaces[0].adminAccess=false",),
    "controller.run": ("controller.run=deployment",),
    "controller.version": ("controller.version=v0.8.0",),
    "controller.shards": ("controller.shards=auto",),
    "controller.nodeLeaseDuration": ("controller.nodeLeaseDuration=40s",),
    "pools[].expose": ("pools.a.expose=dra",),
    "pools[].taints": ("pools.a.taints=[]",),
    "pools[].fakeTaint": ("pools.a.fakeTaint=true",),
    "pools[].detectors": ("pools.a.detectors=[]",),
    "pools[].gpuOperatorLabels": ("pools.a.gpuOperatorLabels=false",),
    "networkDevices[].deviceName": ("networkDevices.n.deviceName='device-{index}'",),
    "deviceClasses[].create": ("deviceClasses.own.create=true",),
    "claims[].shared": ("claims.k.shared=false",),
    "claims[].requests[].adminAccess": ("claims.k.requests[0].adminAccess=false",),
    "claims[].requests[].allocationMode": ("claims.k.requests[0].allocationMode=ExactCount",),
    "claims[].requests[].firstAvailable[].allocationMode": (
        FIRST,
        "claims.k.requests[0].firstAvailable[0].allocationMode=ExactCount",
    ),
    "workloads[].count": ("workloads.w.count=1",),
    "workloads[].pods": ("workloads.w.pods=1",),
    "workloads[].roles[].pods": (ROLES, "workloads.w.roles[0].pods=1"),
    "pools[].numa.scope": ("pools.a.numa={zones: 2, policy: none}", "pools.a.numa.scope=container"),
    "workloads[].container.name": ("workloads.w.container.name=main",),
    "workloads[].container.image": ("workloads.w.container.image='registry.k8s.io/pause:3.10'",),
    "workloads[].initContainers": ("workloads.w.initContainers=[]",),
    "workloads[].initContainers[].image": (
        "workloads.w.initContainers=[{name: i}]",
        "workloads.w.initContainers.i.image='registry.k8s.io/pause:3.10'",
    ),
    "workloads[].restartPolicy": ("workloads.w.restartPolicy=Never",),
    "workloads[].suspend": ("workloads.w.suspend=false",),
    "workloads[].failures[].after": (*OF_PODS, f"{OF_A_FAILURE}.after=0s"),
    "workloads[].failures[].reason": (*OF_PODS, f"{OF_A_FAILURE}.reason=Error"),
    "workloads[].failures[].message": (*OF_PODS, f"{OF_A_FAILURE}.message=''"),
    "workloads[].podFailurePolicy.rules[].onPodConditions[].status": (
        ON_CONDITIONS,
        f"{OF_A_POLICY}.onPodConditions[0].status='True'",
    ),
    "workloads[].gang": ("workloads.w.gang=false",),
    "queues.system": ("queues={list: [{name: one}]}", "queues.system=default"),
    "queues.list[].borrow": (QUEUES, "queues.list[0].borrow=false"),
    "queues.list[].lend": (QUEUES, "queues.list[0].lend=true"),
    "queues.list[].preemption.withinQueue": (
        QUEUES,
        "queues.list[0].preemption={withinCohort: Any}",
        "queues.list[0].preemption.withinQueue=Never",
    ),
    "queues.list[].preemption.withinCohort": (
        QUEUES,
        "queues.list[0].preemption={withinQueue: LowerPriority}",
        "queues.list[0].preemption.withinCohort=Never",
    ),
    "queues.cohorts": (QUEUES, "queues.cohorts=[]"),
    "observability.prometheus": ("observability.prometheus=false",),
    "observability.grafana": ("observability.grafana=false",),
    "observability.labels": ("observability={prometheus: true}", "observability.labels={}"),
    "workloads[].placement.required": (*WITHIN, "workloads.w.placement.required=true"),
    "topology.levels[].nvlink": (*NVLINK, "topology.levels[1].nvlink=false"),
}
"""For every key with a default: `--set` arguments, the last of which sets it to that."""


@pytest.mark.parametrize("key", DEFAULTS)
def test_defaults_of_the_schema_are_those_that_are_used(key: str) -> None:
    """What an editor shows as the default of a key is what its absence means."""
    *before, default = DEFAULTS[key]
    assert load(default.partition("=")[2]) == KNOWN[key]["default"]
    assert written(*before) == written(*before, default)


def test_the_defaults_are_all_of_them() -> None:
    assert DEFAULTS.keys() == {key for key, part in KNOWN.items() if "default" in part}
