"""Every value of a driver's entry replaced: the entry may be so, or there is a problem in its file; nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokgen import tree
from kwokgen.catalog import KINDS, Catalog, builtin_node
from kwokgen.catalog.rules import check
from kwokgen.model.place import Place
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import KwokgenError, Problem
from tests.unit.rendering import ROOT, blueprint, contents, documents, problems

NAME = "gpu.nvidia.com"
DRIVER = yaml.safe_load((ROOT / "kwokgen" / "catalog" / "drivers" / f"{NAME}.yaml").read_text(encoding="utf-8"))
DRIVER |= {key: dict(list(DRIVER[key].items())[:2]) for key in ("labels", "attributes")}
WRONG: tuple[Any, ...] = (None, "x", 1, [], {"x": "x"})
EVERY_PART = """
pools:
- {name: a, count: 1, gpuOperatorLabels: true, machine: p4d.24xlarge, gpus: {count: 2}, place: {start: 0}}
- {name: b, count: 1, gpuOperatorLabels: true, machine: p4d.24xlarge, gpus: {count: 1, partitions: {mode: dynamic, profiles: [1g.5gb]}}, place: {start: 0}}
- {name: c, count: 1, gpuOperatorLabels: true, machine: p4d.24xlarge, gpus: {count: 1, partitions: {mode: static, layout: {1g.5gb: 2}}}, place: {start: 0}}
- {name: d, count: 1, gpuOperatorLabels: true, machine: p4d.24xlarge, expose: extended-resource, gpus: {sharing: {by: mps, replicas: 2}}, place: {start: 0}}
- {name: e, count: 1, gpuOperatorLabels: true, machine: p4d.24xlarge, expose: extended-resource, gpus: {sharing: {by: time-slicing, replicas: 2}}, place: {start: 0}}
claims:
- {name: one, requests: [{deviceClassName: gpu.nvidia.com, model: a100-sxm4-40gb}]}
- {name: part, requests: [{deviceClassName: mig.nvidia.com, profile: 1g.5gb}]}
- {name: turns, requests: [{deviceClassName: gpu.nvidia.com, sharing: {by: time-slicing, interval: Long}}]}
- name: side
  requests:
  - {deviceClassName: gpu.nvidia.com, sharing: {by: mps, activeThreadPercentage: 20, pinnedMemory: 5Gi}}
faults:
- {name: gone, fault: node-gone, where: {pool: a}, start: {after: 1h}}
topology: {schemes: [kueue], levels: [{name: rack, count: 1, nodes: 5}]}
"""


def replaced(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """A value with each part in turn replaced by each of `WRONG`, and with the path of the part."""
    yield from ((path, other) for other in WRONG if path)
    steps: Any = value if isinstance(value, dict) else range(min(1, len(value))) if isinstance(value, list) else ()
    for step in steps:
        for where, below in replaced(value[step], (*path, step)):
            whole = dict(value) if isinstance(value, dict) else list(value)
            whole[step] = below
            yield where, whole


def written(folder: Path, kind: str, name: str, entry: str) -> Catalog:
    """A catalogue of one entry."""
    file = folder / "own" / kind / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(entry, encoding="utf-8")
    return Catalog.of([str(folder / "own")])


def found(file: Path, catalog: Catalog) -> tuple[Problem, ...]:
    """What is wrong with a blueprint of a catalogue."""
    try:
        return render(str(file), catalog=catalog).warnings
    except KwokgenError as error:
        return error.problems


@pytest.mark.slow
@pytest.mark.parametrize("key", DRIVER)
def test_a_value_of_another_type_is_right_or_has_a_problem(tmp_path: Path, key: str) -> None:
    """Null, a text, a number, a truth, lists and mappings, in place of each value: no traceback, no `None` in a text."""
    file = tmp_path / "t.yaml"
    file.write_text(blueprint(EVERY_PART), encoding="utf-8")
    for path, value in replaced(DRIVER[key], (key,)):
        entry = DRIVER | {key: value}
        for problem in found(file, written(tmp_path, "drivers", NAME, json.dumps(entry))):
            assert "None" not in problem.message, (path, problem)


GPU = {"extends": "a100-sxm4-40gb"}
ENTRIES: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...], str]] = {
    "a model's attribute of another domain": (
        *("drivers", NAME, {"extends": NAME, "modelAttribute": "example.com/model"}),
        *(("modelAttribute",), '"example.com/model" does not fit "modelAttribute"'),
    ),
    "a model's attribute that is no string": (
        *("gpus", "a100-sxm4-40gb", GPU | {"attributes": {"productName": 7}}),
        *(("attributes", "productName"), f'"productName" tells the model of devices of {NAME}, and is no string'),
    ),
    "a number as the most of a word": (
        *("drivers", NAME, {"extends": NAME, "sharing": {"time-slicing": {"options": {"interval": {"most": 7}}}}}),
        *(("sharing", "time-slicing", "options", "interval", "!most"), 'unknown key "most"'),
    ),
    "words for a number": (
        *(
            "drivers",
            NAME,
            {"extends": NAME, "sharing": {"mps": {"options": {"activeThreadPercentage": {"values": []}}}}},
        ),
        *(("sharing", "mps", "options", "activeThreadPercentage", "!values"), 'unknown key "values"'),
    ),
    "an option that blueprints do not have": (
        *("drivers", NAME, {"extends": NAME, "sharing": {"mps": {"options": {"priority": {"path": ["a"]}}}}}),
        *(("sharing", "mps", "options", "!priority"), 'unknown key "priority"'),
    ),
    "a uuid that each partition has as well": (
        *("drivers", NAME, {"extends": NAME, "partitions": {"attributes": {"uuid": "mine"}}}),
        *(("partitions", "attributes", "!uuid"), '"prefix" says the attribute "uuid" of each partition as well'),
    ),
    "a profile that each partition has as well": (
        *("drivers", NAME, {"extends": NAME, "partitions": {"attributes": {"profile": "mine"}}}),
        *(("partitions", "attributes", "!profile"), '"profile" says the attribute "profile" of each partition as well'),
    ),
    "keys and a pattern of a scheme": (
        *("topologies", "kueue", {"extends": "kueue", "pattern": "example.com/tier-{tier}"}),
        *(("pattern",), '"keys" and "pattern" both say the keys of the levels'),
    ),
    "a node that is gone and cordoned": (
        *("faults", "node-gone", {"extends": "node-gone", "effects": {"cordon": True}}),
        *(("effects", "!cordon"), 'a node that is gone has no "cordon"'),
    ),
    "a GPU that is gone with its node": (
        *("faults", "node-gone", {"extends": "node-gone", "of": "gpu"}),
        *(("of",), "a node is gone, not a GPU of it"),
    ),
    "a gate that the minor does not know": (
        *("kubernetes", "1.37", {"extends": "1.37", "features": {"partitions": {"gates": ["DRAPartitions"]}}}),
        *(("features", "partitions", "gates", 0), 'unknown gate "DRAPartitions"'),
    ),
}


@pytest.mark.parametrize(("kind", "name", "entry", "path", "message"), ENTRIES.values(), ids=ENTRIES)
def test_a_mistake_of_a_value_stands_in_its_file(
    tmp_path: Path, kind: str, name: str, entry: dict[str, Any], path: tuple[str, ...], message: str
) -> None:
    """At the value, or at the key that should not be there, which is marked with an exclamation."""
    file, text = tmp_path / "t.yaml", json.dumps(entry)
    file.write_text(blueprint(EVERY_PART), encoding="utf-8")
    catalog = written(tmp_path, kind, name, text)
    own = tmp_path / "own" / kind / f"{name}.yaml"
    at = Place(tree.parse(text, str(own)))
    *above, last = path
    key = isinstance(last, str) and last.startswith("!")
    pos = at.key(*above, str(last)[1:]) if key else at.pos(*path)
    found = [
        problem for problem in problems(lambda: render(str(file), catalog=catalog)) if problem.pos.file == str(own)
    ]
    assert [(problem.pos, problem.message[: len(message)]) for problem in found] == [(pos, message)]


def test_an_option_that_a_driver_has_not(tmp_path: Path) -> None:
    """Is refused where the blueprint asks for it."""
    file = tmp_path / "t.yaml"
    file.write_text(blueprint(EVERY_PART), encoding="utf-8")
    ways = DRIVER["sharing"]
    short = ways | {"mps": ways["mps"] | {"options": {}}}
    catalog = written(tmp_path, "drivers", NAME, json.dumps(DRIVER | {"sharing": short}))
    found = problems(lambda: render(str(file), catalog=catalog))
    assert {(problem.pos.file, problem.message) for problem in found} == {
        (str(file), f'mps of {NAME} has no "activeThreadPercentage". available: none'),
        (str(file), f'mps of {NAME} has no "pinnedMemory". available: none'),
    }


def test_a_label_of_nothing(tmp_path: Path) -> None:
    """Sharing adds to a label of the model; of a model without it there is nothing to add to."""
    text = (ROOT / "kwokgen" / "catalog" / "gpus" / "a100-sxm4-40gb.yaml").read_text(encoding="utf-8")
    entry = yaml.safe_load(text)
    entry["labels"] = {key: value for key, value in entry["labels"].items() if key != "nvidia.com/gpu.product"}
    file = tmp_path / "t.yaml"
    file.write_text(blueprint(EVERY_PART), encoding="utf-8")
    catalog = written(tmp_path, "gpus", "a100-sxm4-40gb", json.dumps(entry))
    found = problems(lambda: render(str(file), catalog=catalog))
    assert {(problem.pos.file, problem.message) for problem in found} == {
        (
            str(tmp_path / "own" / "gpus" / "a100-sxm4-40gb.yaml"),
            '"a100-sxm4-40gb" has no label nvidia.com/gpu.product, of which its sharing makes another',
        )
    }


def test_partitions_have_their_uuid_where_the_driver_has_it(tmp_path: Path) -> None:
    """Whatever it is called."""
    spec = "pools: [{name: a, count: 1, machine: p4d.24xlarge, gpus: {count: 1, partitions: {mode: static, layout: {1g.5gb: 1}}}}]"
    (tmp_path / "t.yaml").write_text(blueprint(spec), encoding="utf-8")
    entry = {"extends": NAME, "uuid": {"attribute": "id"}}
    done = render(str(tmp_path / "t.yaml"), catalog=written(tmp_path, "drivers", NAME, json.dumps(entry)))
    [one] = documents(done, "ResourceSlice").values()
    [part] = one["spec"]["devices"]
    assert part["attributes"]["id"]["string"].startswith("MIG-")
    assert "uuid" not in part["attributes"]


@pytest.mark.parametrize("word", ["name", "namespace", "labels", "pod"])
def test_a_template_without_what_makes_it_one_of_the_bundle(tmp_path: Path, word: str) -> None:
    """The pods would run anywhere, or the object would be nobody's."""
    text = (ROOT / "kwokgen" / "catalog" / "workloads" / "job.yaml").read_text(encoding="utf-8")
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: own}]"
    (tmp_path / "t.yaml").write_text(blueprint(spec), encoding="utf-8")
    line = text[: text.index("template: |")].count("\n") + 1
    catalog = written(tmp_path, "workloads", "own", text.replace(f"[[ {word} ]]", "{}"))
    [found] = problems(lambda: render(str(tmp_path / "t.yaml"), catalog=catalog))
    assert found.message == f"the template fails: it has no [[ {word} ]]"
    assert (found.pos.file, found.pos.line) == (str(tmp_path / "own" / "workloads" / "own.yaml"), line)


SERVICE = """\
  - apiVersion: v1
    kind: Service
    metadata: {name: [[ name ]], namespace: [[ namespace ]], labels: [[ labels ]]}
    spec: {clusterIP: None}
"""
STRAYS = {
    "[[ labels ]]": (
        {"labels: [[ labels ]]}": "labels: {a: b}}"},
        "not all of its documents have [[ labels ]] as their labels",
    ),
    "[[ namespace ]]": (
        {"[[ namespace ]]": "default"},
        "not all of its documents have [[ namespace ]] as their namespace",
    ),
    "a name": ({"name: [[ name ]]": "generateName: a-"}, "what it makes is no object: without a name"),
    "spec": ({"    spec: {clusterIP: None}\n": ""}, "what it makes is no object: without spec"),
}


@pytest.mark.parametrize("word", STRAYS)
def test_a_template_of_several_documents_of_which_one_is_nobodys(tmp_path: Path, word: str) -> None:
    """What is deleted, pruned and found by the bundle's labels is all of it."""
    replaced, message = STRAYS[word]
    service = SERVICE
    for old, new in replaced.items():
        service = service.replace(old, new)
    [found] = problems(lambda: several(tmp_path, service))
    assert found.message == f"the template fails: {message}"


def test_a_template_of_several_documents_stands_in_two_files(tmp_path: Path) -> None:
    """The last is the job; what it needs is there before, and is not made again with it."""
    files = contents(several(tmp_path, SERVICE).bundle())
    assert b"kind: Service" in files["15-for-workloads.yaml"]
    assert b"kind: Service" not in files["80-workloads.yaml"]
    assert files["80-workloads.yaml"].count(b"kind: Job") == files["15-for-workloads.yaml"].count(b"kind: Service") == 2


def test_a_copy_of_a_builtin_template_of_several_documents_is_as_good(tmp_path: Path) -> None:
    text = (ROOT / "kwokgen" / "catalog" / "workloads" / "trainjob.yaml").read_text(encoding="utf-8")
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: KIND, pods: 2}]"
    catalog = written(tmp_path, "workloads", "own", text)
    made = []
    for kind in ("trainjob", "own"):
        (tmp_path / "t.yaml").write_text(blueprint(spec.replace("KIND", kind)), encoding="utf-8")
        made.append(contents(render(str(tmp_path / "t.yaml"), catalog=catalog).bundle())["80-workloads.yaml"])
    assert made[0] == made[1]


def several(folder: Path, service: str) -> Rendered:
    """Two jobs of a kind of one's own, each with a Service before it."""
    text = (ROOT / "kwokgen" / "catalog" / "workloads" / "job.yaml").read_text(encoding="utf-8")
    head, job = text.split("template: |\n")
    first, *lines = job.splitlines()
    listed = "\n".join([f"  - {first.strip()}", *(f"  {line}" for line in lines)])
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: own, count: 2}]"
    (folder / "t.yaml").write_text(blueprint(spec), encoding="utf-8")
    catalog = written(folder, "workloads", "own", f"{head}template: |\n{service}{listed}\n")
    return render(str(folder / "t.yaml"), catalog=catalog)


@pytest.mark.parametrize("kind", KINDS)
def test_entries_of_the_catalogue_keep_its_rules(kind: str) -> None:
    """Those that ship are not checked again when they are read."""
    nodes = [Catalog().whole(kind, builtin_node(kind, name)) for name in Catalog().names(kind)]
    assert [problem for node in nodes for problem in check(kind, node.plain(), Place(node))] == []
