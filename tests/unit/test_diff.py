"""What a render would change: objects by name, fields by path, and what only a new object can have otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kwokgen import tree
from kwokgen.bundle import Bundle, File
from kwokgen.diff import Change, Field, changes, ordered
from kwokgen.ownership import owned
from kwokgen.pipeline import Rendered
from kwokgen.sink import to_folder
from tests.unit.rendering import blueprint, command, documents, in_folder, objects, rendered

SPEC = """
    pools:
    - {name: a, count: 11, machine: p5.48xlarge}
    - {name: b, count: 2, machine: p4d.24xlarge}
    claims:
    - {name: own, requests: [{deviceClassName: gpu.nvidia.com}]}
    - {name: all, shared: true, requests: [{deviceClassName: gpu.nvidia.com}]}
    workloads: [{name: w, kind: job, count: 2, pods: 4, claims: [own], run: 10s}]
    """
NOT_FOR_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def _found(done: Rendered, folder: Path) -> list[Change]:
    """What a render into the folder would change, README and Kustomization apart."""
    bundle = done.bundle()
    found = ordered(changes(bundle, {path: file.read_bytes for path, file in owned(bundle, folder).items()}))
    return [change for change in found if change.kind != "file"]


def _between(folder: Path, old: str, new: str, *sets: str) -> list[Change]:
    """The changes from one spec to another."""
    to_folder(rendered(folder, old).bundle(), folder / "out")
    return _found(rendered(folder, new, *sets), folder / "out")


def _nodes(found: list[Change]) -> list[Change]:
    return [change for change in found if change.kind == "Node"]


def _names(found: list[Change], action: str) -> list[str]:
    return [f"{change.kind} {change.name}" for change in found if change.action == action]


def test_unchanged_is_silent(tmp_path: Path) -> None:
    """Exit 0 and no word, and nothing is written."""
    (tmp_path / "t.yaml").write_text(blueprint(SPEC), encoding="utf-8")
    assert command("render", "t.yaml", "-o", "out", cwd=tmp_path).returncode == 0
    before = in_folder(tmp_path)
    done = command("diff", "t.yaml", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert in_folder(tmp_path) == before


def test_a_label_names_the_objects_that_change(tmp_path: Path) -> None:
    """Two nodes of pool b, by their numbers, and exit 1; nothing is written."""
    (tmp_path / "t.yaml").write_text(blueprint(SPEC), encoding="utf-8")
    assert command("render", "t.yaml", "-o", "out", cwd=tmp_path).returncode == 0
    before = in_folder(tmp_path)
    done = command("diff", "t.yaml", "out", "--set", "pools.b.labels={team: x}", cwd=tmp_path)
    assert done.stdout.decode().splitlines() == [
        "~ Node b-0",
        '    metadata.labels.team: (none) → "x"',
        "~ Node b-1",
        '    metadata.labels.team: (none) → "x"',
        "0 to add, 0 to remove, 2 to change",
    ]
    assert (done.returncode, done.stderr) == (1, b"")
    assert in_folder(tmp_path) == before


def test_json_says_the_same(tmp_path: Path) -> None:
    """Every change as data, its fields with both values."""
    (tmp_path / "t.yaml").write_text(blueprint(SPEC), encoding="utf-8")
    to_folder(rendered(tmp_path, SPEC).bundle(), tmp_path / "out")
    sets = ("--set", "workloads.w.count=1", "--set", "workloads.w.run=20s")
    done = command("diff", "t.yaml", "out", "--format", "json", *sets, cwd=tmp_path)
    assert done.returncode == 1
    path = 'spec.template.metadata.annotations."kwokgen.io/run-seconds"'
    job = {"kind": "Job", "namespace": "t"}
    assert [change for change in json.loads(done.stdout) if change["kind"] != "file"] == [
        {
            **job,
            "action": "change",
            "name": "w-0",
            "recreate": True,
            "fields": [{"path": path, "old": "10", "new": "20"}],
        },
        {**job, "action": "remove", "name": "w-1", "recreate": False, "fields": []},
    ]


def test_a_label_of_one_object(tmp_path: Path) -> None:
    """A patch of one name changes that one only."""
    patch = "patches: [{target: {kind: Node, name: a-9}, merge: {metadata: {labels: {team: x}}}}]"
    assert _between(tmp_path, SPEC, f"{SPEC.rstrip()}\n    {patch}\n") == [
        Change("change", "Node", "", "a-9", (Field("metadata.labels.team", None, "x"),))
    ]


def test_added_and_removed_objects(tmp_path: Path) -> None:
    """In the order of people: a-9 before a-10."""
    found = _between(tmp_path, SPEC, SPEC, "pools.a.count=9", "pools.b.count=3", "workloads.w.count=3")
    assert _names(found, "add") == ["Job w-2", "Node b-2", "ResourceSlice b-2-gpu.nvidia.com"]
    assert _names(found, "remove") == [
        *("Node a-9", "Node a-10"),
        *("ResourceSlice a-9-gpu.nvidia.com", "ResourceSlice a-10-gpu.nvidia.com"),
    ]
    assert _names(found, "change") == []


def test_objects_in_another_file_are_the_same(tmp_path: Path) -> None:
    """The node too many for one file moves all into two others, and is alone in what is said."""
    pool = "pools: [{name: a, count: %d, machine: {cpu: 1}, gpus: {driver: gpu.example.com, count: 1}}]"
    found = _between(tmp_path, pool % 2500, pool % 2501)
    assert _names(found, "add") == ["Node a-2500", "ResourceSlice a-2500-gpu.example.com"]
    assert len(found) == 2


def test_a_pool_of_another_name_keeps_its_nodes(tmp_path: Path) -> None:
    """Nodes whose names stay are changed, though they stand in a file of another name."""
    pool = 'pools: [{name: %s, count: 2, nodeName: "n-{index}", machine: {cpu: 1}}]'
    changed = (Field('metadata.labels."kwokgen.io/pool"', "a", "b"),)
    found = _between(tmp_path, pool % "a", pool % "b")
    assert _nodes(found) == [Change("change", "Node", "", f"n-{index}", changed) for index in range(2)]


def test_the_same_line_in_another_place(tmp_path: Path) -> None:
    """A label of one pool and an annotation of another may be the same line of the same number."""
    pools = """
        pools:
        - {name: a, count: 1, machine: {cpu: 1}, labels: {l: "0", m: "0", n: "0", team: %s}}
        - {name: b, count: 1, machine: {cpu: 1}, annotations: {team: %s}}
        """
    found = _between(tmp_path, pools % ("x", "x"), pools % ("y", "y"))
    assert [(change.name, [field.path for field in change.fields]) for change in found] == [
        ("a-0", ["metadata.labels.team"]),
        ("b-0", ["metadata.annotations.team"]),
    ]


def test_each_object_has_its_own_values(tmp_path: Path) -> None:
    """Objects that change in the same way are said with their own names in the values."""
    patch = "patches: [{target: {kind: Node}, merge: {metadata: {annotations: {team: x}}}}]"
    pool = 'pools: [{name: a, count: 12, nodeName: "%s-{index}", machine: {cpu: 1}}]'
    to_folder(rendered(tmp_path, pool % "n").bundle(), tmp_path / "out")
    file = tmp_path / "out" / "40-nodes-a.yaml"
    file.write_text(file.read_text("utf-8").replace("kwok://n-", "other://n-"), encoding="utf-8")
    found = _found(rendered(tmp_path, f"{pool % 'n'}\n{patch}"), tmp_path / "out")
    assert [(change.name, change.fields) for change in found] == [
        (
            f"n-{index}",
            (
                Field("metadata.annotations.team", None, "x"),
                Field("spec.providerID", f"other://n-{index}", f"kwok://n-{index}"),
            ),
        )
        for index in range(12)
    ]


@pytest.mark.parametrize(
    ("assigned", "expected"),
    [
        ("workloads.w.run=20s", ["Job w-0", "Job w-1"]),
        ("claims.own.requests=[{deviceClassName: gpu.nvidia.com, count: 2}]", ["ResourceClaimTemplate own"]),
        ("claims.all.requests=[{deviceClassName: gpu.nvidia.com, count: 2}]", ["ResourceClaim all"]),
    ],
)
def test_what_only_a_new_object_can_have(tmp_path: Path, assigned: str, expected: list[str]) -> None:
    """`recreate` in the answer, and in its count."""
    (tmp_path / "t.yaml").write_text(blueprint(SPEC), encoding="utf-8")
    to_folder(rendered(tmp_path, SPEC).bundle(), tmp_path / "out")
    done = command("diff", "t.yaml", "out", "--set", assigned, cwd=tmp_path)
    lines = done.stdout.decode().splitlines()
    assert [line.replace(" t/", " ") for line in lines if line.startswith("~")] == [
        f"~ {name} (recreate: an update cannot change this)" for name in expected
    ]
    count = len(expected)
    assert lines[-1] == f"0 to add, 0 to remove, {count} to change ({count} of them to recreate)"
    assert done.returncode == 1


def test_a_pool_of_a_new_taint_makes_jobs_of_every_pool_anew(tmp_path: Path) -> None:
    """Such a job tolerates it from then on, and its pods' template cannot change; one of named pools is as it was."""
    spec = "pools: [{name: a, count: 1, machine: {cpu: 8}}%s]\nworkloads: [{name: w, kind: job}, {name: v, kind: job, pools: [a]}]"
    new = ", {name: b, count: 1, machine: {cpu: 8}, taints: [{key: example.com/x, effect: NoSchedule}]}"
    found = _between(tmp_path, spec % "", spec % new)
    assert [(one.name, one.recreate) for one in found if one.kind == "Job"] == [("w-0", True)]
    [job] = [one for one in found if one.kind == "Job"]
    assert [field.path for field in job.fields] == ["spec.template.spec.tolerations[1]"]


def test_completions_of_a_job_without_indexes(tmp_path: Path) -> None:
    """They are what they were made with, also if they are its parallelism."""
    spec = (
        f"{SPEC.rstrip()}\n    patches: [{{target: {{kind: Job}}, merge: {{spec: {{completionMode: NonIndexed}}}}}}]\n"
    )
    assert [change.recreate for change in _between(tmp_path, spec, spec, "workloads.w.pods=5")] == [True, True]


def test_completions_of_two_workloads(tmp_path: Path) -> None:
    """The same line changes, and what stands beside it says whether it can."""
    pool = "pools: [{name: a, count: 2, machine: {cpu: 1}}]\n"
    spec = pool + "workloads: [{name: v, kind: job, pods: %d, parallelism: 2}, {name: w, kind: job, pods: %d}]"
    patch = "\npatches: [{target: {kind: Job, name: w-0}, merge: {spec: {parallelism: 5}}}]"
    found = _between(tmp_path, spec % (4, 4) + patch, spec % (5, 5))
    assert [(change.name, len(change.fields), change.recreate) for change in found] == [
        ("v-0", 1, True),
        ("w-0", 1, False),
    ]


def _edited(folder: Path, path: str, old: str, new: str) -> None:
    file = folder / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "old", "new", "field", "recreate"),
    [
        ("50-slices-a.yaml", 'nodeName: "a-0"', "nodeName: x", "spec.nodeName", True),
        ("50-slices-a.yaml", "driver: gpu.nvidia.com", "driver: x", "spec.driver", True),
        ("50-slices-a.yaml", 'pool:\n    name: "a-0"', "pool:\n    name: x", "spec.pool.name", True),
        ("50-slices-a.yaml", "generation: 1", "generation: 2", "spec.pool.generation", False),
        ("50-slices-a.yaml", "string: gpu", "string: x", "spec.devices[0].attributes.type.string", False),
        ("40-nodes-a.yaml", 'providerID: "kwok://a-0"', "providerID: x", "spec.providerID", True),
        ("40-nodes-a.yaml", "type: kwok", "type: x", "metadata.labels.type", False),
        ("40-nodes-a.yaml", 'cpu: "192"', 'cpu: "1"', "status.capacity.cpu", False),
        ("40-nodes-a.yaml", 'address: "10.', 'address: "11.', "status.addresses[0].address", True),
        ("40-nodes-a.yaml", "osImage: KWOK", "osImage: x", "status.nodeInfo.osImage", True),
        ("40-nodes-a.yaml", "  nodeInfo:", "  phase: Pending\n  nodeInfo:", "status.phase", True),
        ("80-workloads.yaml", "completionMode: Indexed", "completionMode: x", "spec.completionMode", True),
        ("80-workloads.yaml", "restartPolicy: Never", "restartPolicy: x", "spec.template.spec.restartPolicy", True),
        ("80-workloads.yaml", "parallelism: 4", "parallelism: 2", "spec.parallelism", False),
        ("80-workloads.yaml", "  completions:", "  suspend: true\n  completions:", "spec.suspend", False),
        ("80-workloads.yaml", "  completions:", "  backoffLimit: 1\n  completions:", "spec.backoffLimit", False),
        (
            "80-workloads.yaml",
            "  completions:",
            "  backoffLimitPerIndex: 1\n  completions:",
            "spec.backoffLimitPerIndex",
            True,
        ),
        ("80-workloads.yaml", "  completions:", "  managedBy: x.io/y\n  completions:", "spec.managedBy", True),
        (
            "80-workloads.yaml",
            "  completions:",
            "  podFailurePolicy: {}\n  completions:",
            "spec.podFailurePolicy",
            True,
        ),
        ("80-workloads.yaml", "  completions:", "  successPolicy: {}\n  completions:", "spec.successPolicy", True),
        ("10-kwok.yaml", "replicas: 1", "replicas: 0", "spec.replicas", False),
    ],
)
def test_fields_that_an_update_can_change_or_not(
    tmp_path: Path, path: str, old: str, new: str, field: str, recreate: bool
) -> None:
    """A bundle that was changed by hand, one object of it: what validation of the API server calls immutable."""
    done = rendered(tmp_path, SPEC)
    to_folder(done.bundle(), tmp_path / "out")
    _edited(tmp_path / "out", path, old, new)
    assert [([one.path for one in change.fields], change.recreate) for change in _found(done, tmp_path / "out")] == [
        ([field], recreate)
    ]


@pytest.mark.parametrize(("parallelism", "recreate"), [("", False), ("parallelism: 2, ", True)])
def test_completions_change_together_with_parallelism(tmp_path: Path, parallelism: str, recreate: bool) -> None:
    """The API server lets an indexed job grow if its completions are its parallelism afterwards."""
    spec = SPEC.replace("pods: 4, ", f"pods: 4, {parallelism}")
    found = _between(tmp_path, spec, spec, "workloads.w.pods=5")
    assert [(change.name, change.recreate) for change in found] == [("w-0", recreate), ("w-1", recreate)]


@pytest.mark.parametrize(("minor", "recreate"), [("1.35", True), ("1.36", True), ("1.37", False)])
def test_the_size_of_a_gang(tmp_path: Path, minor: str, recreate: bool) -> None:
    """An update can change it from 1.37 on."""
    spec = """
    pools: [{name: a, count: 2, machine: {cpu: 1}}]
    workloads: [{name: w, kind: job, pods: 4, parallelism: 4, gang: true}]
    """
    here = f'kubernetes="{minor}"'
    to_folder(rendered(tmp_path, spec, here).bundle(), tmp_path / "out")
    job, gang = _found(rendered(tmp_path, spec, here, "workloads.w.parallelism=2"), tmp_path / "out")
    assert (gang.kind, gang.recreate) == ("Workload" if minor == "1.35" else "PodGroup", recreate)
    assert (job.kind, job.recreate) == ("Job", False)


def test_files_beside_the_objects(tmp_path: Path) -> None:
    """README, Kustomization and the controller's configuration are said as files."""
    outside = "controller: {run: outside}\npools: [{name: a, count: 1, machine: {cpu: 1}}]"
    to_folder(rendered(tmp_path, outside).bundle(), tmp_path / "out")
    bundle = rendered(tmp_path, outside, "pools.a.count=1000").bundle()
    found = changes(bundle, {path: file.read_bytes for path, file in owned(bundle, tmp_path / "out").items()})
    files = {(change.action, change.name) for change in found if change.kind == "file"}
    assert {("change", "README.md"), ("remove", "Kustomization")} <= files


def test_a_file_that_somebody_broke(tmp_path: Path) -> None:
    """It is ours by its first line, and what a render puts in its place is said."""
    done = rendered(tmp_path, SPEC)
    to_folder(done.bundle(), tmp_path / "out")
    (tmp_path / "out" / "40-nodes-b.yaml").write_bytes(b"# kwokgen bundle: t\n---\n\xff: [\n")
    assert _names(_found(done, tmp_path / "out"), "add") == ["Node b-0", "Node b-1"]


def test_an_empty_folder_needs_everything(tmp_path: Path) -> None:
    """A render would add all objects, each under its own kind, namespace and name."""
    (tmp_path / "out").mkdir()
    done = rendered(tmp_path, SPEC)
    expected = {
        (document["kind"], document["metadata"].get("namespace", ""), document["metadata"]["name"])
        for document in documents(done).values()
    }
    found = _found(done, tmp_path / "out")
    assert {change.action for change in found} == {"add"}
    assert {(change.kind, change.namespace, change.name) for change in found} == expected


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A blueprint, and what is no bundle of it."""
    (tmp_path / "t.yaml").write_text(blueprint(SPEC), encoding="utf-8")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "mine.yaml").write_text("kind: ConfigMap\n", encoding="utf-8")
    to_folder(_other(tmp_path), tmp_path / "other")
    return tmp_path


def _other(folder: Path) -> Bundle:
    return rendered(folder, SPEC, name="other").bundle()


@NOT_FOR_ROOT
def test_a_folder_that_may_only_be_read(folders: Path) -> None:
    """It is compared like any other."""
    (folders / "out").mkdir(mode=0o555)
    done = command("diff", "t.yaml", "out", cwd=folders)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"+ Node a-0\n" in done.stdout


@pytest.mark.parametrize("target", ["missing", "t.yaml", "other", "foreign"])
def test_a_folder_that_is_no_bundle_of_this_blueprint(folders: Path, target: str) -> None:
    """A problem that names it, as a render would say: there is nothing to compare with."""
    done = command("diff", "t.yaml", target, cwd=folders)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith(target)
    assert "[folder]" in done.stderr.decode()


def test_many_objects_that_change_in_two_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label and a capacity, with lines between them that differ from node to node: few nodes are parsed for all."""
    parsed = []
    parse = tree.parse
    monkeypatch.setattr(tree, "parse", lambda text, file: parsed.append(text) or parse(text, file))
    pool = "pools: [{name: a, count: 200, machine: {cpu: %d}, labels: {step: %s}}]"
    found = _nodes(_between(tmp_path, pool % (1, "x"), pool % (2, "y")))
    paths = ["metadata.labels.step", "status.capacity.cpu", "status.allocatable.cpu"]
    assert [[field.path for field in change.fields] for change in found] == [paths] * 200
    assert len(parsed) < 100


SHAPES = """
    pools: [{name: "%s", count: 12, nodeName: "%s{index}", machine: {cpu: 1}}]
    """


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  taints:\n", "  taints:\n  - key: x\n    value: z\n    effect: NoSchedule\n"),
        ("    type: kwok\n", '    type: kwok\n    own: "NAME"\n    "of NAME": x\n    bare: NAME\n    tail: "NAME0"\n'),
        ("    type: kwok\n", '    type: kwok\n    json: "{\\"a\\": \\"NAME\\"}"\n    dot: "\\x2e"\n'),
        ("  annotations:\n", "  finalizers:\n  - NAME\n  annotations:\n"),
        ("  annotations:\n", "  annotations:\n    text: |\n      of\n\n      NAME\n"),
        ("  labels:\n", "  list: [NAME, 1]\n  labels: # mine\n"),
        ('    cpu: "1"\n', "    cpu: 1\n    count: 0\n"),
        ("  - type: Hostname\n", ""),
        ("  - type: Hostname\n", "  - - type: Hostname\n"),
        ("  capacity:\n", "  capacity:\n  - a: b\n"),
        ("status:\n", "  x: [\nstatus:\n"),
    ],
)
@pytest.mark.parametrize("prefix", ["n-", "", "kwok-x"])
def test_what_is_understood_of_one_object_is_so_of_all(tmp_path: Path, prefix: str, old: str, new: str) -> None:
    """Whatever somebody writes into the objects of a bundle: each is said as if it were the only one."""
    text = objects(rendered(tmp_path, SHAPES % ("a", prefix)), "Node")
    bundle = Bundle("t", (File("40-nodes-a.yaml", lambda: iter([b"".join(b"---\n" + one for one in text.values())])),))
    edited = {
        key: b"---\n" + one.replace(old.encode(), new.replace("NAME", key[2]).encode(), 1) for key, one in text.items()
    }
    assert all(old.encode() in one for one in text.values())
    found = {change.name: change for change in changes(bundle, {"40-nodes-a.yaml": lambda: b"".join(edited.values())})}
    assert found.keys() >= {key[2] for key in text}
    for key, one in edited.items():
        alone = Bundle("t", (File("40-nodes-a.yaml", lambda key=key: iter([b"---\n" + text[key]])),))
        assert found[key[2]] in list(changes(alone, {"40-nodes-a.yaml": lambda one=one: one}))
