"""Placements under a real Kueue, in numbers: in one leaf, in one spine where no leaf has room, or waiting."""

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokgen.problem import KwokgenError
from testbed import removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.rendering import written
from tests.live.test_bundles import documents, errors_of_kwok
from tests.live.test_queues import (
    GPUS,
    JOBS,
    SECONDS,
    all_but_jobs,
    completes,
    conditions,
    names_of,
    pods_of,
    settles,
    stays,
    submit,
)
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]

LEAF, SPINE = "fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"
SPEC = f"""
lifecycles: [{{name: n, nodes: fast}}, {{name: p, pods: timed, create: 0s, run: 600s}}]
topology:
  schemes: [topograph]
  levels: [{{name: spine, count: 2}}, {{name: leaf, count: 2, nodes: 2}}]
pools:
- {{name: gpu, count: 8, {GPUS}, expose: extended-resource, taints: [{{key: example.com/gpu, effect: NoSchedule}}]}}
queues: {{system: kueue, list: [{{name: all, quota: [{{pool: gpu, gpus: 64}}]}}]}}
workloads:
- {{name: near, kind: job, pods: 6, gpus: 4, placement: {{within: leaf, required: false}}, run: 10s}}
- {{name: anywhere, kind: job, run: 60s, container: {{resources: {{cpu: 62}}}}}}
- {{name: train, kind: job, count: 4, pods: PODS, gpus: 4, placement: {{within: leaf}}, run: 30s, container: {{resources: {{cpu: 2, memory: 1Gi}}}}}}
"""
"""Each of four leaves has 16 GPUs, which are four pods of a job."""


@pytest.fixture(scope="module")
def placed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """A queue with room for all, whose jobs each test brings itself."""
    folder = written("tas", cluster.minor, tmp_path_factory.mktemp("tas") / "tas", SPEC.replace("PODS", "4"))
    with removing.applied(cluster, folder, take=all_but_jobs) as live:
        yield live
        assert errors_of_kwok(cluster, live) == []


def places(cluster: Cluster, live: Bundle, job: str, key: str) -> Counter[str]:
    """How many pods of a job each place has."""
    of = {node["metadata"]["name"]: node["metadata"]["labels"].get(key) for node in cluster.get("nodes")}
    return Counter(of[pod["spec"]["nodeName"]] for pod in pods_of(cluster, live, job) if "nodeName" in pod["spec"])


def test_what_no_leaf_has_room_for_is_in_one_spine_if_that_will_do(cluster: Cluster, placed: Bundle) -> None:
    """24 GPUs are more than a leaf has, and less than a spine."""
    submit(cluster, placed, "near")
    until(lambda: places(cluster, placed, "near", SPINE).total() == 6, SECONDS, "six pods bound")
    assert len(places(cluster, placed, "near", SPINE)) == 1
    assert sorted(places(cluster, placed, "near", LEAF).values()) == [2, 4]
    completes(cluster, placed, "near", 1)


def test_a_job_is_in_one_leaf_or_waits(cluster: Cluster, placed: Bundle) -> None:
    """A pod leaves one node CPUs for one more, its leaf for three: of four jobs of four pods three have a leaf each."""
    submit(cluster, placed, "anywhere")
    settles(cluster, placed, "anywhere", 1)
    submit(cluster, placed, "train")
    settles(cluster, placed, "train", 3)
    until(lambda: places(cluster, placed, "train", LEAF).total() == 12, SECONDS, "twelve pods bound")
    let = {name.rsplit("-", 2)[0] for name in names_of(cluster, placed, "train")}
    by_job = {job: places(cluster, placed, job, LEAF) for job in let}
    assert [[*each.values()] for each in by_job.values()] == [[4], [4], [4]]
    assert len({leaf for each in by_job.values() for leaf in each}) == 3
    (waiting,) = {f"train-{index}" for index in range(4)} - let
    said = conditions(cluster, placed, waiting)["QuotaReserved"]["message"]
    assert 'topology "tas" allows to fit only 3 out of 4 pod(s)' in said
    completes(cluster, placed, "train", 4)


def test_more_than_any_leaf_is_refused_and_waits_for_ever_where_it_is_forced(
    cluster: Cluster, placed: Bundle, tmp_path: Path
) -> None:
    with pytest.raises(KwokgenError, match="5 pods at once fit no leaf: the most is 4, in spine-0/leaf-0"):
        written("tas", cluster.minor, tmp_path / "tas", SPEC.replace("PODS", "5"))
    completes(cluster, placed, "anywhere", 1)
    job = a_job(placed, "train-0", "forced-0")
    job["spec"] |= {"completions": 5, "parallelism": 5}
    assert 'topology "tas" allows to fit only 4 out of 5 pod(s)' in refusal(cluster, placed, job)


def a_job(live: Bundle, name: str, called: str) -> dict[str, Any]:
    """A job of the bundle by another name."""
    (found,) = [copy.deepcopy(each) for each in documents(live.folder, JOBS) if each["metadata"]["name"] == name]
    found["metadata"]["name"] = called
    return found


def refusal(cluster: Cluster, live: Bundle, job: dict[str, Any]) -> str:
    """Why Kueue does not let a job in, which it does not for a while."""
    name = job["metadata"]["name"]
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(job))
    until(lambda: looked_at(cluster, live, name), SECONDS, "Kueue has looked at it")
    stays(cluster, live, name.removesuffix("-0"), 0)
    assert pods_of(cluster, live, name) == []
    said: str = conditions(cluster, live, name)["QuotaReserved"]["message"]
    return said


def looked_at(cluster: Cluster, live: Bundle, job: str) -> bool:
    workloads = cluster.get("workloads.kueue.x-k8s.io", "-n", live.name)
    found = (each for each in workloads if each["metadata"]["ownerReferences"][0]["name"] == job)
    return any(each.get("status", {}).get("conditions") for each in found)
