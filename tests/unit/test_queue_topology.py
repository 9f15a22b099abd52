"""Topologies of queue systems: their labels are the nodes', and their places the blueprint's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokgen.needs import requirements
from tests.unit.rendering import Key, objects, rendered

SPEC = """
topology:
  schemes: [{keys: {hall: example.com/hall, rack: example.com/rack}}]
  levels: [{name: hall, count: 2}, {name: row, count: [3, 1]}, {name: rack, count: [2, 1, 1, 2], nodes: 4}]
pools:
- {name: a, count: 14, machine: {cpu: 8}}
- {name: b, count: 5, machine: {cpu: 8}}
queues: {system: SYSTEM, list: [{name: q, quota: [{pool: a, resources: {cpu: 8}}, {pool: b, resources: {cpu: 8}}]}]}
workloads:
- {name: w, kind: job, pods: 2, gang: true, container: {resources: {cpu: 1}}}
"""
PLACED = ("workloads.w.placement={within: rack}",)


def made(folder: Path, system: str, *sets: str) -> dict[Key, dict[str, Any]]:
    """Every object of the blueprint under a system."""
    done = rendered(folder, SPEC.replace("SYSTEM", system), *sets)
    return {key: yaml.safe_load(text) for key, text in objects(done).items()}


def of(done: dict[Key, dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {name: document for (found, _, name), document in done.items() if found == kind}


@pytest.mark.parametrize("system", ["kueue", "kai"])
def test_a_topology_names_labels_of_every_node_from_the_widest_on(system: str, tmp_path: Path) -> None:
    """A level that no scheme has a label for is none of it; last is the node itself."""
    done = made(tmp_path, system)
    (topology,) = of(done, "Topology").values()
    keys = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert keys == ["example.com/hall", "example.com/rack", "kubernetes.io/hostname"]
    nodes = of(done, "Node").values()
    assert len(nodes) == 19
    assert all(keys[index] in node["metadata"]["labels"] for node in nodes for index in range(3))


def test_flavors_name_the_topology_all_or_none(tmp_path: Path) -> None:
    """Kueue keeps jobs without a placement away from flavors that name one, as long as another of the queue does not."""
    named = [made(tmp_path, "kueue", *sets) for sets in ((), PLACED)]
    flavors = [[each["spec"].get("topologyName") for each in of(done, "ResourceFlavor").values()] for done in named]
    assert flavors == [[None, None], ["t", "t"]]


def test_a_gang_that_kueue_has_placed_needs_no_constraint_of_the_scheduler(tmp_path: Path) -> None:
    done = rendered(tmp_path, SPEC.replace("SYSTEM", "kueue"), *PLACED)
    assert "TopologyAwareWorkloadScheduling" not in requirements(done.cluster).gates
    group = yaml.safe_load(objects(done)["PodGroup", "t", "w-0"])
    assert "schedulingConstraints" not in group["spec"]


def test_hypernodes_hold_every_node_once_and_each_other(tmp_path: Path) -> None:
    done = made(tmp_path, "volcano")
    hyper, nodes = of(done, "HyperNode"), of(done, "Node")
    assert {name: each["spec"]["tier"] for name, each in hyper.items() if "rack" not in name} == {
        **dict.fromkeys(("t-hall-0", "t-hall-1"), 3),
        **dict.fromkeys(("t-hall-0-row-0", "t-hall-0-row-1", "t-hall-0-row-2", "t-hall-1-row-0"), 2),
    }
    held = [name for each in hyper.values() for name in members(each, nodes)]
    tops = {name for name, each in hyper.items() if each["spec"]["tier"] == 3}
    assert sorted(held) == sorted([*nodes, *(hyper.keys() - tops)])


def members(hyper: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> list[str]:
    """The names of the nodes, or the HyperNodes, in one."""
    done: list[str] = []
    for member in hyper["spec"]["members"]:
        if member["type"] == "HyperNode":
            done.append(member["selector"]["exactMatch"]["name"])
        else:
            wanted = member["selector"]["labelMatch"]["matchLabels"].items()
            done += [name for name, node in nodes.items() if wanted <= node["metadata"]["labels"].items()]
    return done


def test_a_hypernode_of_many_nodes_is_as_large_as_one_of_few(tmp_path: Path) -> None:
    few, many = (of(made(tmp_path, "volcano", *_halves(count)), "HyperNode") for count in (8, 2000))
    assert few == many


def _halves(count: int) -> tuple[str, ...]:
    """So many nodes in one rack."""
    counts = (f"topology.levels.{level}.count=1" for level in ("hall", "row", "rack"))
    return (*counts, f"topology.levels.rack.nodes={count}", *(f"pools.{pool}.count={count // 2}" for pool in "ab"))
