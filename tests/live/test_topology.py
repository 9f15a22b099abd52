"""Gangs within a place of the topology, by the scheduler itself, and the labels by which it finds places.

Racks with room for 7 and 7 pods hold a gang of 8 back; one place more in the second, and all 8 run there.
"""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kwokgen.problem import KwokgenError
from testbed import removing
from testbed.cluster import Cluster
from tests.live.rendering import bundle, written
from tests.live.test_bundles import errors_of_kwok, not_unchanged
from tests.live.test_dra import SECONDS, Step, settled, start, states, taken
from tests.live.watching import until

pytestmark = pytest.mark.live
WITHOUT = {"1.33", "1.34", "1.35"}
"""The minors whose gangs know no topology, or that have none."""

RACKS = """
lifecycles: [{name: fast, nodes: fast}, {name: normal, pods: timed}]
topology:
  schemes: [topograph, {keys: {rack: example.com/rack}}]
  levels: [{name: rack, count: 2, nodes: [7, 8]}]
pools:
- {name: gpu, count: COUNT, machine: {cpu: 4, memory: 8Gi}, gpus: {model: l40s, count: 1}, expose: extended-resource, place: {start: 0}}
workloads:
- {name: train, kind: job, pods: 8, gpus: 1, gang: true, placement: {within: rack}, run: 1h, suspend: true}
"""


def racks(cluster: Cluster, workload: str) -> Counter[str]:
    """How many running pods of a workload each rack has."""
    label = "fabric.topograph.run/tier-0"
    of = {node["metadata"]["name"]: node["metadata"]["labels"].get(label) for node in cluster.get("nodes")}
    pods = cluster.get("pods", "--all-namespaces", "--field-selector=status.phase=Running")
    named = (pod for pod in pods if pod["metadata"]["name"].startswith(f"{workload}-"))
    return Counter(of[pod["spec"]["nodeName"]] for pod in named)


def running(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] == "Running"


def test_a_gang_waits_for_a_rack_that_holds_it(gated: Cluster, tmp_path: Path) -> None:
    """14 places in two racks are too few for 8 pods in one; the check says so before, and the 15th lets all of them run."""
    if gated.minor in WITHOUT:
        with pytest.raises(KwokgenError, match="topology constraints of gangs"):
            written("racks", gated.minor, tmp_path / "b", RACKS.replace("COUNT", "15"))
        return
    with pytest.raises(KwokgenError, match="8 pods at once fit no rack: the most is 7, in rack-0"):
        written("racks", gated.minor, tmp_path / "a", RACKS.replace("COUNT", "14"))
    folder = written("racks", gated.minor, tmp_path / "b", RACKS.replace("COUNT", "15"))
    taken(gated, folder)
    with removing.applied(gated, folder) as live:
        assert not_unchanged(gated, folder) == []
        labels = {
            node["metadata"]["name"]: node["metadata"]["labels"]["example.com/rack"] for node in gated.get("nodes")
        }
        assert labels == {f"gpu-{index}": "rack-0" if index < 7 else "rack-1" for index in range(15)}
        gated.kubectl("cordon", "gpu-14")
        start(gated, "train")
        until(lambda: states(gated, "train")["Pending"] == 8, SECONDS, "the scheduler has tried the gang")
        time.sleep(5)
        assert states(gated, "train") == {"Pending": 8}
        gated.kubectl("uncordon", "gpu-14")
        settled(gated, Step("train", 8))
        assert racks(gated, "train") == {"rack-1": 8}
        assert errors_of_kwok(gated, live) == []


def test_gangs_of_the_example_are_one_to_a_leaf(gated: Cluster, tmp_path: Path) -> None:
    """Five leaves hold one each, the sixth has a node too few."""
    if gated.minor in WITHOUT:
        return
    folder = bundle("topology-aware", gated.minor, tmp_path / "b", "workloads.train.run=1h")
    taken(gated, folder)
    with removing.applied(gated, folder) as live:
        until(lambda: racks(gated, "train").total() == 80, SECONDS, "five gangs run")
        time.sleep(3)
        assert sorted(racks(gated, "train").values()) == [16] * 5
        pods = gated.get("pods", "--all-namespaces", "-l", "batch.kubernetes.io/job-name")
        waiting = Counter(pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] for pod in pods if not running(pod))
        assert list(waiting.values()) == [16]
        assert errors_of_kwok(gated, live) == []
