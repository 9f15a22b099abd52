"""Roles of one job under a real Kueue, all in one place: what it assigns to each, with nobody who makes their pods."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed import programs, removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.definitions import established
from tests.live.rendering import written
from tests.live.test_kinds import DEFINITIONS
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]

SECONDS = 60
KIND = "pytorchjob"
WORKLOADS = "workloads.kueue.x-k8s.io"
LEAF = "fabric.topograph.run/tier-0"
GROUP = "kueue.x-k8s.io/podset-group-name"
SPEC = f"""
lifecycles: [{{name: n, nodes: fast}}, {{name: p, pods: timed, create: 0s, run: 600s}}]
topology: {{schemes: [topograph], levels: [{{name: leaf, count: 2, nodes: [1, 4]}}]}}
pools: [{{name: gpu, count: 5, machine: p5.48xlarge, expose: extended-resource}}]
queues: {{system: kueue, list: [{{name: all, quota: [{{pool: gpu, gpus: 40}}]}}]}}
workloads: [{{name: near, kind: {KIND}, pods: 4, gpus: 8, placement: {{within: leaf}}}}]
"""
"""A Master and three Workers, a node each: one leaf has one node, where a pod alone would go, the other has four."""


@pytest.fixture
def applied(cluster: Cluster, tmp_path: Path) -> Iterator[Bundle]:
    module, path = DEFINITIONS[KIND][0]
    definition = str(programs.module_dir("kueue", module) / path)
    cluster.kubectl("apply", "--server-side", "-f", definition)
    established(cluster.kubectl)
    try:
        with removing.applied(cluster, written("near", cluster.minor, tmp_path / "near", SPEC)) as live:
            yield live
    finally:
        cluster.kubectl("delete", "-f", definition)


def test_a_master_is_in_the_place_of_its_workers(cluster: Cluster, applied: Bundle) -> None:
    """As their group only: without it the Master is where one pod leaves the least room."""
    near = places(cluster, applied, "near-0")
    assert len(near["master"]) == 1
    assert near["master"] == near["worker"]
    (job,) = cluster.get(KIND, "-n", applied.name)
    cluster.kubectl("delete", KIND, "near-0", "-n", applied.name)
    for replicas in job["spec"]["pytorchReplicaSpecs"].values():
        del replicas["template"]["metadata"]["annotations"][GROUP]
    meta = {"name": "apart-0", "namespace": applied.name, "labels": job["metadata"]["labels"]}
    runs = {**job["spec"]["runPolicy"], "suspend": True}
    alone = {**job, "metadata": meta, "spec": {**job["spec"], "runPolicy": runs}}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(alone))
    far = places(cluster, applied, "apart-0")
    assert far["master"] != far["worker"] == near["worker"]


def places(cluster: Cluster, live: Bundle, job: str) -> dict[str, set[str]]:
    """The leaves of a job's pods by their role, once Kueue has let it in."""
    found: list[Any] = []

    def assigned() -> bool:
        found[:] = [load for load in cluster.get(WORKLOADS, "-n", live.name) if owner(load) == job]
        return any("admission" in load.get("status", {}) for load in found)

    until(assigned, SECONDS, f"{job} is let in")
    of = {node["metadata"]["name"]: node["metadata"]["labels"][LEAF] for node in cluster.get("nodes")}
    sets = found[0]["status"]["admission"]["podSetAssignments"]
    return {each["name"]: {of[name] for name in nodes(each["topologyAssignment"])} for each in sets}


def owner(load: Any) -> str:
    name: str = load["metadata"]["ownerReferences"][0]["name"]
    return name


def nodes(assignment: Any) -> Iterator[str]:
    """Those of a TopologyAssignment, whose narrowest level is the node."""
    for part in assignment["slices"]:
        names = part["valuesPerLevel"][-1]
        if "universal" in names:
            yield names["universal"]
        else:
            each = names["individual"]
            yield from (f"{each.get('prefix', '')}{root}{each.get('suffix', '')}" for root in each["roots"])
