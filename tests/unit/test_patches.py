"""Patches of the blueprint: which objects they mean, what they change, and what they may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kwokgen.mergepatch import merged
from kwokgen.pipeline import Rendered
from tests.unit.rendering import Key, blueprint, documents, load, objects, problems, rendered

CLUSTER = """
pools:
- {name: a, count: 12, machine: p5.48xlarge, gpus: {count: 1}}
- {name: b, count: 2, machine: m7i.24xlarge}
- {name: c, count: 2, machine: {cpu: 1}, gpus: {driver: gpu.example.com, count: 1}}
namespaces: [{name: one}, {name: two}]
claims: [{name: k, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: w, kind: job, count: 3}, {name: v, kind: job, namespace: two}]
"""
FIRST = len(blueprint(CLUSTER).splitlines()) + 2
"""The line of the first patch."""
NOTE = "{metadata: {annotations: {note: here}}}"


def cluster(folder: Path, *patches: str) -> Rendered:
    """The cluster with these patches."""
    return rendered(folder, CLUSTER + "patches:\n" + "".join(f"- {patch}\n" for patch in patches))


def nodes(folder: Path, *patches: str) -> dict[str, dict[str, Any]]:
    """The nodes of the cluster with these patches, by name."""
    return {name: node for (_, _, name), node in documents(cluster(folder, *patches), "Node").items()}


def wrong(folder: Path, *patches: str) -> list[tuple[str, str]]:
    """Place and message of what is wrong with these patches."""
    found = problems(lambda: cluster(folder, *patches))
    assert {problem.code for problem in found} <= {"patch", "refused"}
    return [(f"{problem.pos.line}:{problem.pos.column}", problem.message) for problem in found]


def place(patch: str, part: str) -> str:
    """Where a part of the first patch stands."""
    return f"{FIRST}:{len('  - ') + patch.index(part) + 1}"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[Key, bytes]:
    """The objects of the cluster without any patch."""
    return objects(rendered(tmp_path_factory.mktemp("plain"), CLUSTER))


NODES = [*(f"a-{index}" for index in range(12)), "b-0", "b-1", "c-0", "c-1"]
TARGETS: dict[str, tuple[str, list[str]]] = {
    "a kind": ("kind: Node", NODES),
    "one name": ("kind: Node, name: a-1", ["a-1"]),
    "names that begin": ("kind: Node, name: a-1*", ["a-1", "a-10", "a-11"]),
    "names that end": ("kind: Node, name: '*-1'", ["a-1", "b-1", "c-1"]),
    "any one character": ("kind: Node, name: a-1?", ["a-10", "a-11"]),
    "every name": ("kind: Node, name: '*'", NODES),
    "a pool": ("kind: Node, pool: b", ["b-0", "b-1"]),
    "a pool and a name": ("kind: Node, pool: a, name: '*-0'", ["a-0"]),
    "a label": ("kind: Node, labels: {kwokgen.io/pool: c}", ["c-0", "c-1"]),
    "a label of many values": ("kind: Node, labels: {kwokgen.io/shard: '1'}", ["a-1", "b-1", "c-1"]),
    "a label that is the name": ("kind: Node, labels: {kubernetes.io/hostname: a-3}", ["a-3"]),
    "two labels": ("kind: Node, labels: {kwokgen.io/shard: '1', kwokgen.io/pool: b}", ["b-1"]),
    "a namespace": ("kind: Job, namespace: two", ["v-0"]),
    "a name in a namespace": ("kind: Job, namespace: one, name: '*-0'", ["w-0"]),
    "slices of a pool": ("kind: ResourceSlice, pool: c", ["c-0-gpu.example.com", "c-1-gpu.example.com"]),
    "a slice": ("kind: ResourceSlice, name: c-1-*", ["c-1-gpu.example.com"]),
    "a controller": ("kind: Deployment", ["kwok-t"]),
    "an object without namespace": ("kind: Namespace, name: two", ["two"]),
    "a claim": ("kind: ResourceClaimTemplate", ["k"]),
}


@pytest.mark.parametrize(("target", "expected"), TARGETS.values(), ids=TARGETS)
def test_a_patch_changes_the_objects_that_meet_all_of_its_target(
    tmp_path: Path, plain: dict[Key, bytes], target: str, expected: list[str]
) -> None:
    """And nothing else of them; every other object is as it was, and stands where it stood."""
    found = objects(cluster(tmp_path, f"{{target: {{{target}}}, merge: {NOTE}}}"))
    assert list(found) == list(plain)
    changed = {key: load(text) for key, text in found.items() if text != plain[key]}
    assert [name for _, _, name in changed] == expected
    for key, thing in changed.items():
        assert thing == merged(load(plain[key]), load(NOTE))


def test_one_of_several_slices_of_a_node(tmp_path: Path) -> None:
    """They are written together, and each is an object of its own."""
    spec = "pools: [{name: c, count: 2, machine: {cpu: 1}, gpus: {driver: g.example.com, count: 129}}]\n"
    spec += f"patches: [{{target: {{kind: ResourceSlice, name: '*-1'}}, merge: {NOTE}}}]"
    found = objects(rendered(tmp_path, spec), "ResourceSlice")
    assert {name: b"note: here" in text for (_, _, name), text in found.items()} == {
        "c-0-g.example.com": False,
        "c-0-g.example.com-1": True,
        "c-1-g.example.com": False,
        "c-1-g.example.com-1": True,
    }


MERGES: dict[str, tuple[Any, Any, Any]] = {
    "a key": ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    "a value": ({"a": 1}, {"a": 2}, {"a": 2}),
    "a key below": ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
    "a null": ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
    "a null below": ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
    "a null of nothing": ({"a": 1}, {"b": None}, {"a": 1}),
    "a null in something new": ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    "a list": ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    "a list with a null": ({}, {"a": [None]}, {"a": [None]}),
    "a mapping over a list": ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    "a mapping over a word": ({"a": "x"}, {"a": {"b": None}}, {"a": {}}),
    "a word over a mapping": ({"a": {"b": 1}}, {"a": "x"}, {"a": "x"}),
    "nothing": ({"a": 1}, {}, {"a": 1}),
}


@pytest.mark.parametrize(("value", "patch", "expected"), MERGES.values(), ids=MERGES)
def test_a_merge_is_that_of_rfc_7386(value: Any, patch: Any, expected: Any) -> None:
    """The examples of its appendix and more; neither the value nor the patch is changed."""
    before = repr((value, patch))
    assert merged(value, patch) == expected
    assert repr((value, patch)) == before


def test_patches_are_applied_in_order(tmp_path: Path) -> None:
    """Each sees what the one before it made: its value, its label, and that it took something away."""
    found = nodes(
        tmp_path,
        "{target: {kind: Node}, merge: {metadata: {annotations: {note: first}}}}",
        "{target: {kind: Node, pool: b}, merge: {metadata: {annotations: {note: second}, labels: {mark: x}}}}",
        "{target: {kind: Node, labels: {mark: x}, name: b-1}, merge: {metadata: {annotations: {note: null}}}}",
    )
    notes = {name: found[name]["metadata"]["annotations"].get("note") for name in ("a-0", "b-0", "b-1")}
    assert notes == {"a-0": "first", "b-0": "second", "b-1": None}


def test_what_a_patch_replaces_is_replaced_whole(tmp_path: Path) -> None:
    """A list has no items by name, and null takes a key away."""
    found = nodes(
        tmp_path,
        "{target: {kind: Node, name: a-0}, merge: {spec: {podCIDRs: [10.1.0.0/24], podCIDR: 10.1.0.0/24}}}",
        "{target: {kind: Node, name: a-1}, merge: {spec: {providerID: null, unschedulable: true}}}",
        "{target: {kind: Node, name: a-0}, merge: {spec: {podCIDRs: [10.2.0.0/24], podCIDR: 10.2.0.0/24}}}",
    )
    taints = found["a-2"]["spec"]["taints"]
    cidr = "10.2.0.0/24"
    assert found["a-0"]["spec"] == {"providerID": "kwok://a-0", "taints": taints, "podCIDR": cidr, "podCIDRs": [cidr]}
    assert found["a-1"]["spec"] == {"taints": taints, "unschedulable": True}


def test_a_patched_value_is_written_as_it_is_meant(tmp_path: Path) -> None:
    """A text that looks like kwokgen's own slots is a text, whatever YAML may make of it."""
    nasty = ["kwokgenslot0q0x", "{index}", "yes", "1e3", "- a", "a: b", "$(NAME)", "é\n"]
    merge = {"metadata": {"annotations": {f"n{number}": text for number, text in enumerate(nasty)}}}
    found = nodes(tmp_path, f"{{target: {{kind: Node, name: a-7}}, merge: {merge!r}}}".replace("\\n", "\n\n"))
    written = found["a-7"]["metadata"]["annotations"]
    assert [written[f"n{number}"] for number, _ in enumerate(nasty)] == nasty


FIXED: dict[str, tuple[str, str, str]] = {
    "name": ("Node", "{metadata: {name: x}}", "metadata.name"),
    "namespace": ("Job", "{metadata: {namespace: x}}", "metadata.namespace"),
    "namespace that is not there": ("Node", "{metadata: {namespace: x}}", "metadata.namespace"),
    "kind": ("Node", "{kind: Pod}", "kind"),
    "apiVersion": ("Node", "{apiVersion: v2}", "apiVersion"),
    "whose it is": (
        "Job",
        "{metadata: {labels: {app.kubernetes.io/instance: x}}}",
        "metadata.labels.app.kubernetes.io/instance",
    ),
    "by whom": (
        "Job",
        "{metadata: {labels: {app.kubernetes.io/managed-by: null}}}",
        "metadata.labels.app.kubernetes.io/managed-by",
    ),
    "pool": ("Node", "{metadata: {labels: {kwokgen.io/pool: x}}}", "metadata.labels.kwokgen.io/pool"),
    "shard": ("Node", "{metadata: {labels: {kwokgen.io/shard: x}}}", "metadata.labels.kwokgen.io/shard"),
    "hostname": ("Node", "{metadata: {labels: {kubernetes.io/hostname: x}}}", "metadata.labels.kubernetes.io/hostname"),
    "taints": ("Node", "{spec: {taints: []}}", "spec.taints"),
    "conditions": ("Node", "{status: {conditions: null}}", "status.conditions"),
    "addresses": ("Node", "{status: {addresses: []}}", "status.addresses"),
    "pool of a slice": (
        "ResourceSlice",
        "{metadata: {labels: {kwokgen.io/pool: x}}}",
        "metadata.labels.kwokgen.io/pool",
    ),
    "driver of a slice": ("ResourceSlice", "{spec: {driver: x.com}}", "spec.driver"),
    "node of a slice": ("ResourceSlice", "{spec: {nodeName: null}}", "spec.nodeName"),
    "generation of a slice": ("ResourceSlice", "{spec: {pool: {generation: 2}}}", "spec.pool"),
}


@pytest.mark.parametrize(("kind", "merge", "path"), FIXED.values(), ids=FIXED)
def test_what_makes_an_object_itself_cannot_be_changed(tmp_path: Path, kind: str, merge: str, path: str) -> None:
    """Neither replaced nor removed; the place is that of the key."""
    patch = f"{{target: {{kind: {kind}}}, merge: {merge}}}"
    where = patch.rindex(f"{path.rpartition('labels.')[2] if 'labels' in path else path.rpartition('.')[2]}: ")
    expected = f"{FIRST}:{len('  - ') + where + 1}"
    assert wrong(tmp_path, patch) == [(expected, f"a patch cannot change {path} of a {kind}")]


@pytest.mark.parametrize("merge", ["{metadata: null}", "{metadata: {labels: x}}", "{metadata: {labels: null}}"])
def test_what_holds_it_cannot_be_removed_either(tmp_path: Path, merge: str) -> None:
    """At what takes it away."""
    patch = f"{{target: {{kind: Node}}, merge: {merge}}}"
    found = wrong(tmp_path, patch)
    assert {at for at, _ in found} == {place(patch, "null" if "null" in merge else "x")}
    assert {said.startswith("a patch cannot change metadata.") for _, said in found} == {True}


NOTHING, SAME = "the patch matches no object", "the patch changes nothing"
BAD: dict[str, tuple[str, str, str, str]] = {
    "no object of the kind": ("kind: Pod", NOTE, "{kind", NOTHING),
    "a kind in lower case": ("kind: node", NOTE, "{kind", NOTHING),
    "no object of the name": ("kind: Node, name: d-*", NOTE, "{kind", NOTHING),
    "no object in the namespace": ("kind: Node, namespace: one", NOTE, "{kind", NOTHING),
    "no object with the label": ("kind: Node, labels: {type: real}", NOTE, "{kind", NOTHING),
    "no object of the pool": ("kind: Job, pool: a", NOTE, "{kind", NOTHING),
    "what is so already": ("kind: Node", "{metadata: {labels: {type: kwok}}}", "{metadata", SAME),
    "a null of nothing": ("kind: Node", "{metadata: {labels: {no: null}}}", "{metadata", SAME),
    "an empty mapping": ("kind: Node", "{spec: {}}", "{spec", SAME),
    "an unknown field": ("kind: Node", "{spec: {taint: []}}", "taint", ': spec.taint: unknown field "taint"'),
    "a wrong type": ("kind: Node", "{spec: {unschedulable: 1}}", "1}", ": spec.unschedulable: must be"),
    "a bad label": ("kind: Node", "{metadata: {labels: {x: '-'}}}", "'-'", ": metadata.labels.x: "),
}


@pytest.mark.parametrize(("target", "merge", "at", "message"), BAD.values(), ids=BAD)
def test_patches_that_are_refused(tmp_path: Path, target: str, merge: str, at: str, message: str) -> None:
    """At the target that means nothing, at the merge that does nothing, at the value that the API server refuses."""
    patch = f"{{target: {{{target}}}, merge: {merge}}}"
    found = wrong(tmp_path, patch)
    assert {message in said for _, said in found} == {True}
    assert {where for where, _ in found} == {place(patch, at)}


def test_every_bad_patch_is_said_in_one_run(tmp_path: Path) -> None:
    """Those after it are applied nevertheless, so that they have no mistakes that are not theirs."""
    found = wrong(
        tmp_path,
        f"{{target: {{kind: Nod}}, merge: {NOTE}}}",
        "{target: {kind: Node}, merge: {metadata: {name: x}}}",
        "{target: {kind: Node}, merge: {metadata: {labels: {mark: x}}}}",
        "{target: {kind: Node, labels: {mark: x}}, merge: {metadata: {labels: {mark: x}}}}",
    )
    assert [int(at.split(":", maxsplit=1)[0]) - FIRST for at, _ in found] == [0, 1, 3]


def test_one_node_of_many_stays_cheap(tmp_path: Path) -> None:
    """A name makes runs of their own, not a shape a node."""
    spec = "pools: [{name: a, count: 5000, machine: {cpu: 1}}]\npatches:\n"
    spec += f"- {{target: {{kind: Node, name: a-?999}}, merge: {NOTE}}}\n"
    done = rendered(tmp_path, spec)
    [series] = [one for one in done.series if one.pool == "a" and one.file.startswith("40-")]
    assert [(run.first, run.last) for run in series.runs][:3] == [(0, 1998), (1999, 1999), (2000, 2998)]
    assert (len(series.runs), len({id(run.shape) for run in series.runs})) == (8, 2)
    found = objects(done, "Node")
    assert len(found) == 5_000
    assert [name for (_, _, name), text in found.items() if b"note: here" in text] == [f"a-{i}999" for i in range(1, 5)]
