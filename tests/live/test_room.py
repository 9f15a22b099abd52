"""What kwokgen says fits no node is Pending for ever, and what has just as much as it asks for runs: no false alarm."""

import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwokgen.problem import KwokgenError
from testbed import removing
from testbed.cluster import Cluster
from tests.live.conftest import minor_of
from tests.live.rendering import written
from tests.live.test_dra import Step, settled, start
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]
LATER = 60
"""Seconds after the last event of the scheduler at which a pod that waits is still not scheduled."""
SPEC = """
lifecycles: [{name: fast, nodes: fast}, {name: normal, pods: timed}]
topology: {schemes: [topograph], levels: [{name: rack, count: 2, nodes: 8}]}
pools:
- {name: gpu, count: 2, machine: {cpu: 8, memory: 16Gi, pods: 20}, gpus: {model: l40s, count: 8}, expose: extended-resource, place: {spread: rack}}
- {name: cpu, count: 2, machine: {cpu: 16, memory: 8Gi, pods: 6}, place: {spread: rack}}
- {name: dra, count: 1, machine: {cpu: 8, memory: 8Gi, pods: 20}, gpus: {model: l40s, count: 8}, place: {start: 0}}
- {name: shut, count: 1, machine: {cpu: 8, memory: 8Gi, pods: 20}, place: {start: 0}}
- {name: ajar, count: 2, machine: {cpu: 8, memory: 8Gi, pods: 20}, place: {start: 0}}
- name: spoilt
  count: 1
  machine: {cpu: 8, memory: 8Gi, pods: 20}
  gpus: {model: l40s, count: 8, taints: [{key: example.com/spoilt, effect: NoSchedule, devices: [0-6]}]}
  place: {start: 0}
faults:
- {name: old, fault: maintenance, where: {pool: shut}}
- {name: older, fault: maintenance, where: {pool: ajar, nodes: [1]}}
claims:
- {name: one, requests: [{deviceClassName: gpu.nvidia.com}]}
- {name: two, requests: [{deviceClassName: gpu.nvidia.com, count: 2}]}
- {name: three, requests: [{deviceClassName: gpu.nvidia.com, count: 3}]}
- {name: five, requests: [{deviceClassName: gpu.nvidia.com, count: 5}]}
- {name: six, requests: [{deviceClassName: gpu.nvidia.com, count: 6}]}
- {name: eight, requests: [{deviceClassName: gpu.nvidia.com, count: 8}]}
NINE
workloads:
"""
NINE = "- {name: nine, requests: [{deviceClassName: gpu.nvidia.com, count: 9}]}"


class Case(NamedTuple):
    """The words of a workload that are too much and those that just fit, what kwokgen says, and what the scheduler does."""

    above: str
    fits: str
    refused: str
    reason: str


CASES = {
    "gpus": Case("gpus: 9", "gpus: 8", "asks for 9 nvidia.com/gpu", "Insufficient nvidia.com/gpu"),
    "cores": Case(
        "pools: [cpu], container: {resources: {cpu: 17}}",
        "pools: [cpu], container: {resources: {cpu: 16}}",
        "asks for 17 cpu",
        "Insufficient cpu",
    ),
    "memory": Case(
        "pools: [cpu], container: {resources: {memory: 9Gi}}",
        "pools: [cpu], container: {resources: {memory: 8Gi}}",
        "asks for 9Gi memory",
        "Insufficient memory",
    ),
    "early": Case(
        "pools: [cpu], initContainers: [{name: i, resources: {cpu: 17}}]",
        "pools: [cpu], initContainers: [{name: i, resources: {cpu: 16}}]",
        "asks for 17 cpu",
        "Insufficient cpu",
    ),
    "both": Case(
        "gpus: 1, container: {resources: {cpu: 9}}",
        "gpus: 1, container: {resources: {cpu: 8}}",
        "no node has all that a pod asks for",
        "Insufficient nvidia.com/gpu",
    ),
    "devices": Case(
        "claims: [three, six]", "claims: [three, five]", "asks for 9 gpu.nvidia.com", "cannot allocate all claims"
    ),
    "claim": Case("claims: [nine]", "claims: [eight]", "asks for 9 devices", "cannot allocate all claims"),
    "taints": Case(
        "pools: [spoilt], claims: [two]",
        "pools: [spoilt], claims: [one]",
        'no node of "spoilt" has more than 1 without a taint',
        "cannot allocate all claims",
    ),
    "gang": Case("pods: 17, gang: true, gpus: 1", "pods: 16, gang: true, gpus: 1", "a gang of 17 pods", ""),
    "crowd": Case("pods: 13, gang: true, pools: [cpu]", "pods: 12, gang: true, pools: [cpu]", "a gang of 13 pods", ""),
    "rack": Case(
        "pods: 9, gang: true, gpus: 1, placement: {within: rack}",
        "pods: 8, gang: true, gpus: 1, placement: {within: rack}",
        "9 pods at once fit no rack",
        "",
    ),
    "shut": Case("pools: [shut]", "pools: [ajar]", "born with a fault", "were unschedulable"),
}


def cases(minor: str) -> dict[str, Case]:
    """Gangs from the minor on that has places for them: before, one that waits keeps what it has found from the others."""
    gangs = "gang-topology" in minor_of(minor).features
    return {name: case for name, case in CASES.items() if gangs or "gang" not in case.fits}


def spec(minor: str, part: str, *, nine: bool = False) -> str:
    """The cluster with a workload for each case."""
    lines = (f"- {{name: {name}, kind: job, run: 1h, {getattr(case, part)}}}\n" for name, case in cases(minor).items())
    return SPEC.replace("NINE", NINE if nine else "") + "".join(lines)


def pods_of(case: Case) -> int:
    """How many pods are too many."""
    found = re.match(r"pods: (\d+)", case.above)
    return int(found[1]) if found else 1


def conditions(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["type"]: one for one in pod["status"].get("conditions", ())}


def test_what_fits_no_node_waits_for_ever(gated: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them at once: none takes anything from another."""
    with pytest.raises(KwokgenError) as refused:
        written("above", gated.minor, tmp_path / "a", spec(gated.minor, "above", nine=True))
    said = "\n".join(problem.message for problem in refused.value.problems)
    here = cases(gated.minor)
    assert [name for name, case in here.items() if case.refused not in said] == []
    monkeypatch.setattr("kwokgen.checks.check", lambda _, **__: ())
    folder = written("above", gated.minor, tmp_path / "b", spec(gated.minor, "above", nine=True))
    with removing.applied(gated, folder):
        until(lambda: len(pods(gated, "above")) == sum(map(pods_of, here.values())), 60, "all pods are there")
        until(lambda: all("PodScheduled" in conditions(pod) for pod in pods(gated, "above")), 60, "each was looked at")
        time.sleep(LATER)
        for pod in pods(gated, "above"):
            name = pod["metadata"]["name"].split("-")[0]
            scheduled = conditions(pod)["PodScheduled"]
            assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable"), pod["metadata"]["name"]
            assert CASES[name].reason in scheduled["message"], name


def test_what_just_fits_runs(gated: Cluster, tmp_path: Path) -> None:
    """One after another, each on nodes where nothing else runs."""
    folder = written(
        "fits", gated.minor, tmp_path / "b", spec(gated.minor, "fits").replace("run: 1h", "run: 1h, suspend: true")
    )
    with removing.applied(gated, folder) as live:
        for job in gated.get("jobs", "-n", live.name):
            name = job["metadata"]["name"]
            start(gated, name.removesuffix("-0"))
            settled(gated, Step(name.removesuffix("-0"), job["spec"]["parallelism"]))
            gated.kubectl("delete", "job", name, "-n", live.name)
            until(lambda: not pods(gated, live.name), 60, "they are gone")


def pods(cluster: Cluster, namespace: str) -> list[dict[str, Any]]:
    return cluster.get("pods", "-n", namespace)
