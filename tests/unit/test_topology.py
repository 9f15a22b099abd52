"""The topology: places are arithmetic, they do not move, and labels tell them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from kwokgen.blueprint.schemes import hash_of
from kwokgen.blueprint.seats import dealt
from kwokgen.model.topology import Topology
from tests.unit.rendering import documents, rendered

TREE = """
    topology:
      schemes: [{keys: {leaf: leaf, spine: spine}}]
      levels: [{name: spine, count: 2}, {name: leaf, count: [2, 3], nodes: 4, except: {spine-1/leaf-0: 1}}]
    pools:
"""


def topology(folder: Path, pools: str) -> Topology:
    """The tree with pools in it."""
    found = rendered(folder, TREE + pools).cluster.topology
    assert found
    return found


def leaves(folder: Path, pools: str, name: str = "a") -> list[str]:
    """The leaf of each node of a pool, by the labels of its nodes."""
    made = documents(rendered(folder, TREE + pools))
    nodes = [node["metadata"] for (kind, _, _), node in made.items() if kind == "Node"]
    return [node["labels"]["leaf"] for node in nodes if node["labels"]["kwokgen.io/pool"] == name]


def short(*numbers: str) -> list[str]:
    """`0.1` is the label of spine-0/leaf-1."""
    return ["spine-{}-leaf-{}".format(*number.split(".")) for number in numbers]


@pytest.mark.parametrize(
    ("count", "place", "expected"),
    [
        (6, "{pack: leaf}", ["0.0"] * 4 + ["0.1"] * 2),
        (6, "{spread: leaf}", ["0.0", "0.1", "1.0", "1.1", "1.2", "0.0"]),
        (9, "{spread: leaf}", ["0.0", "0.1", "1.0", "1.1", "1.2", "0.0", "0.1", "1.1", "1.2"]),
        (5, "{spread: spine}", ["0.0", "1.0", "0.0", "1.1", "0.0"]),
        (3, "{under: spine-1}", ["1.0", "1.1", "1.1"]),
        (3, "{under: spine-1, spread: leaf, start: 1}", ["1.1", "1.2", "1.1"]),
        (5, "{start: 3}", ["1.1"] * 4 + ["1.2"]),
        (2, "{start: 1, pack: spine}", ["1.0", "1.1"]),
    ],
)
def test_nodes_stand_where_the_blueprint_says(tmp_path: Path, count: int, place: str, expected: list[str]) -> None:
    """Leaves that hold less are passed over when they are full."""
    pools = f"    - {{name: a, count: {count}, machine: {{cpu: 1}}, place: {place}}}\n"
    assert leaves(tmp_path, pools) == short(*expected)


@pytest.mark.parametrize("place", ["{start: 3}", "{spread: leaf}", "{under: spine-1, start: 1}"])
def test_a_place_does_not_move_when_other_pools_grow(tmp_path: Path, place: str) -> None:
    """Neither when the pool itself does."""
    pools = "    - {{name: other, count: {}, machine: {{cpu: 1}}, place: {{start: 0}}}}\n    - {{name: a, count: {}, machine: {{cpu: 1}}, place: {}}}\n"
    small = leaves(tmp_path, pools.format(1, 3, place))
    assert leaves(tmp_path, pools.format(3, 4, place))[:3] == small


def test_pools_fill_what_is_free(tmp_path: Path) -> None:
    """Without a place, a pool goes on where those before it end; packed, it begins with a leaf of its own."""
    first = "    - {name: first, count: 2, machine: {cpu: 1}}\n"
    assert leaves(tmp_path, first + "    - {name: a, count: 3, machine: {cpu: 1}}\n") == short("0.0", "0.0", "0.1")
    packed = "    - {name: a, count: 3, machine: {cpu: 1}, place: {pack: leaf}}\n"
    assert leaves(tmp_path, first + packed) == short("0.1", "0.1", "0.1")


@pytest.mark.parametrize("place", ["{pack: leaf}", "{spread: leaf}", "{spread: spine}"])
def test_nodes_of_a_place_are_counted_and_found(tmp_path: Path, place: str) -> None:
    """What is reckoned from stretches is what each node's own leaf says."""
    tree = topology(tmp_path, f"    - {{name: a, count: 16, machine: {{cpu: 1}}, place: {place}}}\n")
    seats = tree.seats["a"]
    each = [seats.leaf(index) for index in range(16)]
    assert seats.held() == Counter(each)
    for level in tree.levels:
        for number, name in enumerate(level.places):
            there = [index for index, leaf in enumerate(each) if level.of[leaf] == number]
            ranges = tree.ranges(name).get("a", ())
            assert [index for first, last in ranges for index in range(first, last + 1)] == there
            assert tree.held(level, "a").get(name, 0) == len(there)
            assert all(before[1] + 1 < after[0] for before, after in pairwise(ranges))


def test_a_place_that_is_not_there_has_no_nodes(tmp_path: Path) -> None:
    """It is a mistake of the caller."""
    with pytest.raises(KeyError):
        topology(tmp_path, "    - {name: a, count: 1, machine: {cpu: 1}}\n").ranges("spine-2")


def test_each_node_is_dealt_one_place() -> None:
    """No leaf has more than it has room for, and equal leaves are one stretch."""
    queues = [[(0, 2), (1, 0), (2, 5)], [(3, 4)]]
    seats = dealt(queues, 11)
    assert [seats.leaf(index) for index in range(11)] == [0, 3, 0, 3, 2, 3, 2, 3, 2, 2, 2]
    assert len(dealt([[(leaf, 18)] for leaf in range(1000)], 18_000).firsts) == 1


@pytest.mark.parametrize(
    ("text", "expected"), [("", "xcbf29ce484222325"), ("a", "xaf63dc4c8601ec8c"), ("foobar", "x85944171f73967e8")]
)
def test_the_hash_of_topograph_is_fnv_64a(text: str, expected: str) -> None:
    """The vectors of http://www.isthe.com/chongo/src/fnv/test_fnv.c."""
    assert hash_of(text) == expected


def test_domains_of_nvlink_are_racks_in_order(tmp_path: Path) -> None:
    """18 trays have one clique, of another pool there is another; with GPUs of another model there is none."""
    tray = "count: 19, machine: gb200-nvl72-tray, gpuOperatorLabels: true"
    spec = f"pools:\n- {{name: a, {tray}}}\n- {{name: b, {tray}}}\n- {{name: c, {tray}, gpus: {{model: l40s}}}}\n"
    made = documents(rendered(tmp_path, spec))
    nodes = [node["metadata"]["labels"] for (kind, _, _), node in made.items() if kind == "Node"]
    cliques = Counter(node.get("nvidia.com/gpu.clique") for node in nodes)
    assert sorted(cliques.values()) == [1, 1, 18, 18, 19]
    assert cliques[None] == 19


def test_network_devices_are_for_the_nodes_of_a_place(tmp_path: Path) -> None:
    """Labels of the topology choose among nodes as any others do, and one that no node has is noted."""
    spec = "    - {name: a, count: 5, machine: {cpu: 1}}\n    networkDevices:\n"
    spec += "    - {name: n, driver: fabric.example.com, count: 1, nodes: {labels: {leaf: spine-0-leaf-1}}}\n"
    assert rendered(tmp_path, TREE + spec).warnings == ()
    assert len(rendered(tmp_path, TREE + spec.replace("leaf-1}", "leaf-2}")).warnings) == 1
