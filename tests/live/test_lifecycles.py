"""Lives of pods on real KWOK: each step in its order and at its time, and what becomes of pods that do not end by themselves."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from kwokgen.model.labels import INSTANCE
from testbed import removing, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import bundle, written
from tests.live.test_bundles import errors_of_kwok
from tests.live.test_playing import GRACE, own, restart
from tests.live.watching import phases, until

__all__ = ["own"]
pytestmark = [pytest.mark.live, pytest.mark.newest]
Pod = dict[str, Any]
LATE = 6
"""Seconds that a busy machine may take more."""
PLAYED_TWICE = "may specify no more than one IP for each IP family"
"""What the API server says when KWOK plays a create again, with another address, since somebody wrote in between."""
WATCHED = 40
JOBS = "80-workloads.yaml"
POLICY = "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"
SPEC = """
lifecycles:
- {name: n, nodes: fast}
- {name: t, pods: timed, create: 3s, run: 4s, delete: 3s}
- {name: f, pods: fast, readinessGates: set}
- {name: g, pods: general, create: 2s, init: 2s, ready: 3s, run: {min: 5s, max: 9s}}
pools: [{name: a, count: 2, machine: {cpu: 4, memory: 64Gi, pods: 110}}]
workloads:
- {name: timed, kind: job, pods: 2, initContainers: [{name: i}]}
- {name: fast, kind: job, pods: 2, lifecycle: f, initContainers: [{name: i}]}
- {name: general, kind: job, pods: 2, lifecycle: g, initContainers: [{name: i}]}
- {name: bare, kind: job, pods: 2, lifecycle: g}
- {name: pulling, kind: job, pods: 2, failures: [{of: pods, indexes: [1], imagePullBackOff: 14s, message: no such tag}]}
- {name: unpulled, kind: job, failures: [{of: jobs, jobs: [0], imagePullBackOff: forever}]}
- {name: pulled, kind: job, lifecycle: g, initContainers: [{name: i}], failures: [{of: jobs, jobs: [0], imagePullBackOff: 3s}]}
- {name: early, kind: job, lifecycle: g, backoffLimit: 0, failures: [{of: jobs, jobs: [0], after: 1s, exitCode: 3}]}
"""
BEGINNING, END = ["Pending - - -"], ["Succeeded {0} terminated False"]
STARTED = [*BEGINNING, "Running {0} running True", *END]
GENERAL = [
    *BEGINNING,
    "Pending waiting waiting False",
    "Pending running waiting False",
    "Pending terminated waiting False",
    "Running terminated running False",
    "Running terminated running True",
    "Succeeded terminated terminated False",
]
WAYS = {
    "timed": [way.format("terminated") for way in STARTED],
    "fast": [way.format("terminated") for way in STARTED],
    "general": GENERAL,
    "pulled": GENERAL,
    "early": [*BEGINNING, "Pending - waiting False", "Running - running False", "Failed - terminated False"],
    "bare": [
        *BEGINNING,
        "Pending - waiting False",
        "Running - running False",
        "Running - running True",
        "Succeeded - terminated False",
    ],
    "unpulled": [*BEGINNING, "Pending - waiting False"],
}
"""By workload, phase, states of the init and of the main container, and Ready, as they follow each other."""
REASONS = ["ErrImagePull", "ImagePullBackOff", "ContainerCreating", "Running"]


def test_each_step_comes_in_order_and_at_its_time(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Seen by a watch; somebody who writes to the pods all the time puts nothing off, and nothing fires twice."""
    folder = written("lives", cluster.minor, tmp_path / "b", SPEC)
    with ThreadPoolExecutor() as pool, applied(folder, take=without_jobs) as live:
        watching = pool.submit(watched, cluster, live.name)
        time.sleep(1)
        cluster.kubectl("apply", "-f", str(folder / JOBS))
        touch(cluster, live, WATCHED - 15)
        done = ("timed-0", "fast-0", "general-0", "bare-0", "pulling-0", "pulled-0")
        until(
            lambda: all(running.progress(cluster, live).jobs[f"{live.name}/{job}"] == "Complete" for job in done),
            60,
            "jobs",
        )
        seen = watching.result()
        for name, way in WAYS.items():
            for pod in of(seen, name):
                assert ways(pod) == way, name
                assert (name == "unpulled") == ("podIP" not in pod[-1]["status"]), name
        assert waited(of(seen, "pulling")) == [REASONS, ["Running"]]
        for name, steps in TIMES.items():
            for pod in of(seen, name):
                assert wrong_times(pod[-1], steps) == [], name
        assert len({took(pod[-1], "began", "ended") for pod in of(seen, "general") + of(seen, "bare")}) > 1
        assert [line for line in errors_of_kwok(cluster, live) if PLAYED_TWICE not in line] == []
        assert_still(cluster, live)


def without_jobs(cluster: Cluster, taken: Bundle) -> None:
    for file in sorted(taken.folder.glob("*.yaml")):
        if file.name != JOBS:
            cluster.kubectl("apply", "-f", str(file))


def watched(cluster: Cluster, namespace: str) -> dict[str, list[Pod]]:
    """By name, every state of the pods of a namespace in so many seconds."""
    arguments = ("-n", namespace, "--watch", "-o", "json", f"--request-timeout={WATCHED}s")
    text = cluster.kubectl("get", "pods", *arguments, check=False).stdout
    found: dict[str, list[Pod]] = {}
    for pod in documents(text):
        found.setdefault(pod["metadata"]["name"], []).append(pod)
    return found


def documents(text: str) -> Iterator[Pod]:
    decoder, place = json.JSONDecoder(), 0
    while place < len(text.rstrip()):
        pod, place = decoder.raw_decode(text, place)
        place += len(text[place:]) - len(text[place:].lstrip())
        yield pod


def touch(cluster: Cluster, live: Bundle, seconds: int) -> None:
    """Writes to every pod about once a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        cluster.kubectl(
            "annotate", "pods", "--all", "--overwrite", "-n", live.name, f"now={time.monotonic()}", check=False
        )
        time.sleep(0.5)


def of(seen: dict[str, list[Pod]], workload: str) -> list[list[Pod]]:
    """The pods of a workload by their index."""
    return [pods for name, pods in sorted(seen.items()) if name.startswith(f"{workload}-0-")]


def ways(pods: list[Pod]) -> list[str]:
    """What a pod was, one after another."""
    return [
        way for way, _ in groupby(f"{one['status']['phase']} {inits(one)} {main(one)} {ready(one)}" for one in pods)
    ]


def inits(pod: Pod) -> str:
    return next((state for one in pod["status"].get("initContainerStatuses", ()) for state in one["state"]), "-")


def main(pod: Pod) -> str:
    return next((state for one in pod["status"].get("containerStatuses", ()) for state in one["state"]), "-")


def ready(pod: Pod) -> str:
    return conditions(pod).get("Ready", {"status": "-"})["status"]


def conditions(pod: Pod) -> dict[str, dict[str, Any]]:
    return {one["type"]: one for one in pod["status"].get("conditions", ())}


def waited(pods: list[list[Pod]]) -> list[list[str]]:
    """By pod, latest index first, why its container waits, until it runs."""
    return [[reason for reason, _ in groupby(filter(None, map(why, each)))] for each in reversed(pods)]


def why(pod: Pod) -> str:
    if pod["status"]["phase"] != "Pending":
        return "Running"
    states = [one["state"] for one in pod["status"].get("containerStatuses", ())]
    return str(states[0]["waiting"]["reason"]) if states else ""


TIMES: dict[str, list[tuple[str, str, int, int]]] = {
    "timed": [("scheduled", "started", 3, 3), ("began", "ended", 4, 4)],
    "fast": [("scheduled", "started", 0, 0), ("began", "ended", 0, 0)],
    "general": [
        ("scheduled", "started", 2, 2),
        ("started", "init began", 2, 2),
        ("init began", "init ended", 2, 2),
        ("initialized", "began", 2, 2),
        ("began", "ended", 5, 9),
    ],
    "bare": [("scheduled", "started", 2, 2), ("initialized", "began", 2, 2), ("began", "ended", 5, 9)],
}
"""By workload, from what to what it takes at least and at most so many seconds."""


def moment(pod: Pod, what: str) -> datetime:
    """When something was, in whole seconds."""
    status = pod["status"]
    init, main = (
        [one["state"].get("terminated", {}) for one in status.get(key, ())]
        for key in ("initContainerStatuses", "containerStatuses")
    )
    found = {
        "scheduled": conditions(pod)["PodScheduled"]["lastTransitionTime"],
        "started": status["startTime"],
        "initialized": conditions(pod)["Initialized"]["lastTransitionTime"],
        **({"init began": init[0].get("startedAt"), "init ended": init[0].get("finishedAt")} if init else {}),
        "began": main[0].get("startedAt"),
        "ended": main[0].get("finishedAt"),
    }
    return datetime.fromisoformat(found[what])


def took(pod: Pod, first: str, last: str) -> float:
    return (moment(pod, last) - moment(pod, first)).total_seconds()


def wrong_times(pod: Pod, steps: list[tuple[str, str, int, int]]) -> list[str]:
    """A moment of which only the whole second is known may have been a second later."""
    found = ((first, last, took(pod, first, last), least, most) for first, last, least, most in steps)
    return [
        f"{first} to {last}: {real} s" for first, last, real, least, most in found if not least <= real <= most + LATE
    ]


def assert_still(cluster: Cluster, live: Bundle) -> None:
    """Three times as long as the longest step, nothing writes to a pod that has ended, or whose image is not there."""
    before = versions(cluster, live)
    time.sleep(30)
    assert versions(cluster, live) == before


def versions(cluster: Cluster, live: Bundle) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in cluster.get("pods", "-n", live.name)}


ENDS = f"""
lifecycles:
- {{name: n, nodes: fast}}
- {{name: t, pods: timed, create: 0s, run: 10m, delete: 3s}}
- {{name: s, pods: timed, create: 0s, readinessGates: set}}
pools: [{{name: a, count: 1, machine: {{cpu: 4, memory: 64Gi, pods: 110}}}}]
workloads:
- {{name: evicted, kind: job, backoffLimit: 0, {POLICY}}}
- {{name: preempted, kind: job, backoffLimit: 0, {POLICY}, container: {{resources: {{cpu: 3}}}}}}
"""
PODS = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: plain, namespace: ends}
  spec: &spec
    nodeSelector: {kwokgen.io/pool: a}
    tolerations: [{operator: Exists}]
    containers: [{name: c, image: x}]
- {apiVersion: v1, kind: Pod, metadata: {name: short, namespace: ends, annotations: {kwokgen.io/run-seconds: "2"}}, spec: *spec}
- {apiVersion: v1, kind: Pod, metadata: {name: kept, namespace: ends, finalizers: [example.com/mine]}, spec: *spec}
- {apiVersion: v1, kind: Pod, metadata: {name: hurried, namespace: ends}, spec: *spec}
- {apiVersion: v1, kind: Pod, metadata: {name: gated, namespace: ends}, spec: {<<: *spec, readinessGates: [{conditionType: example.com/a}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: set, namespace: ends, labels: {kwokgen.io/lifecycle: s}}, spec: {<<: *spec, readinessGates: [{conditionType: example.com/a}]}}
"""
HIGH = """
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: ends}
spec:
  priorityClassName: system-node-critical
  nodeSelector: {kwokgen.io/pool: a}
  tolerations: [{operator: Exists}]
  containers: [{name: c, image: x, resources: {requests: {cpu: 3}}}]
"""


def test_pods_that_are_put_out_end_as_with_a_kubelet(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Deleted, evicted and preempted ones are Failed first, within their grace period; others' finalizers and gates stay theirs."""
    with applied(written("ends", cluster.minor, tmp_path / "b", ENDS)) as live:
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(_plain(PODS)))
        until(
            lambda: (
                {pod["status"]["phase"] for pod in cluster.get("pods", "-n", live.name)} <= {"Running", "Succeeded"}
            ),
            20,
            "pods run",
        )
        until(
            lambda: one(cluster, "short")["status"]["phase"] == "Succeeded", 15, "a plain pod with a run time succeeds"
        )
        assert one(cluster, "plain")["status"]["phase"] == "Running"
        assert_gates(cluster)
        assert_deleted(cluster)
        assert_disrupted(cluster)
        assert errors_of_kwok(cluster, live) == []


def _plain(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(text)


def one(cluster: Cluster, name: str) -> Pod:
    [found] = cluster.get("pod", name, "-n", "ends")
    return found


def assert_gates(cluster: Cluster) -> None:
    """Ready follows the condition of who sets it; with `set` nobody has to."""
    assert ready(one(cluster, "set")) == conditions(one(cluster, "set"))["example.com/a"]["status"] == "True"
    assert "example.com/a" not in conditions(one(cluster, "gated"))
    for status, expected in (("False", "False"), ("True", "True"), ("Unknown", "False"), ("True", "True")):
        patch = {"status": {"conditions": [{"type": "example.com/a", "status": status}]}}
        cluster.kubectl("patch", "pod", "gated", "-n", "ends", "--subresource=status", "-p", json.dumps(patch))
        until(lambda expected=expected: ready(one(cluster, "gated")) == expected, 10, f"Ready with the gate {status}")


def assert_deleted(cluster: Cluster) -> None:
    """After `delete`, or the grace period where that is shorter; a finalizer of others keeps the pod."""
    start = time.monotonic()
    cluster.kubectl("delete", "pod", "kept", "-n", "ends", "--wait=false")
    cluster.kubectl("delete", "pod", "hurried", "-n", "ends", "--grace-period=1", "--wait=true")
    assert time.monotonic() - start < 3 + LATE
    until(lambda: one(cluster, "kept")["status"]["phase"] == "Failed", 3 + LATE, "deleted and Failed")
    assert time.monotonic() - start > 2
    [container] = one(cluster, "kept")["status"]["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 143
    time.sleep(2)
    version = one(cluster, "kept")["metadata"]["resourceVersion"]
    time.sleep(5)
    assert one(cluster, "kept")["metadata"]["resourceVersion"] == version
    assert one(cluster, "kept")["metadata"]["finalizers"] == ["example.com/mine"]
    cluster.kubectl("patch", "pod", "kept", "-n", "ends", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    until(lambda: "kept" not in names(cluster), 5, "gone without its finalizer")


def assert_disrupted(cluster: Cluster) -> None:
    """A job that ignores disruptions waits until such a pod is Failed, and makes another; it has not failed."""
    [victim] = [name for name in names(cluster) if name.startswith("evicted-")]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": victim, "namespace": "ends"}}
    path = f"/api/v1/namespaces/ends/pods/{victim}/eviction"
    cluster.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    cluster.kubectl("apply", "-f", "-", stdin=HIGH)
    [low] = [name for name in names(cluster) if name.startswith("preempted-")]
    until(lambda: one(cluster, "high")["status"]["phase"] == "Running", 3 + 2 * LATE, "the pod that preempts runs")
    until(lambda: not {victim, low} & names(cluster), 20, "both are gone")
    again = {"evicted", "preempted"}
    until(lambda: {name.partition("-")[0] for name in names(cluster)} >= again, 30, "both are made anew")
    assert [job["status"].get("failed", 0) for job in cluster.get("jobs", "-n", "ends")] == [0, 0]


def names(cluster: Cluster) -> set[str]:
    return {pod["metadata"]["name"] for pod in cluster.get("pods", "-n", "ends")}


OF_LOST = "batch.kubernetes.io/job-name=lost-0"
LOST = """
controller: {nodeLeaseDuration: 8s}
lifecycles: [{name: n, nodes: heartbeat-lease}, {name: t, pods: timed, create: 0s, run: 25s}]
pools: [{name: a, count: 5, machine: {cpu: 4, memory: 64Gi, pods: 110}}]
workloads: [{name: short, kind: job, pods: 2}, {name: lost, kind: job, pods: 2, run: 10m}]
"""


def test_pods_of_lost_nodes(own: Cluster, tmp_path: Path) -> None:
    """A controller that starts anew puts no deadline off; pods of dead nodes hang until these are back, and are made anew."""
    folder = written("lost", own.minor, tmp_path / "b", LOST)
    impatient(folder / JOBS)
    with removing.applied(own, folder) as live:
        until(lambda: phases(own, live) == {"Running": 4}, 30, "four pods run")
        begun = time.monotonic()
        stop(own, live)
        time.sleep(5)
        restart(own, live, live.controllers[0].name)
        # What KWOK reads before it knows of a lease that it has just taken, it forgets: a known limit, and what to do.
        time.sleep(8 + LATE)
        own.kubectl("annotate", "pods", "--all", "-n", live.name, "taken=over")
        until(lambda: running.progress(own, live).jobs["lost/short-0"] == "Complete", 25 + LATE, "the short job")
        assert time.monotonic() - begun > 15
        node = next(pod["spec"]["nodeName"] for pod in own.get("pods", "-n", live.name, "-l", OF_LOST))
        # KWOK knows its nodes by the label: without it nobody renews the lease, as if the kubelet were gone.
        own.kubectl("label", "node", node, f"{INSTANCE}-")
        until(lambda: hanging(own, live), GRACE + 40, "a pod hangs on a dead node")
        own.kubectl("label", "node", node, f"{INSTANCE}=lost")
        until(lambda: not hanging(own, live), 8 + LATE + 10, "none hangs when the node is back")
        until(lambda: phases(own, live)["Running"] == 2, 30, "two run again")
        assert errors_of_kwok(own, live) == []


def impatient(file: Path) -> None:
    """Pods that tolerate a dead node for a second instead of five minutes."""
    toleration = "{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}"
    text, times = re.subn(r"( +)tolerations:\n", rf"\g<0>\1- {toleration}\n", file.read_text())
    assert times == 2
    file.write_text(text)


def stop(cluster: Cluster, live: Bundle) -> None:
    [process] = [process for process in cluster.running if process.name == live.controllers[0].name]
    cluster.end(process)


def hanging(cluster: Cluster, live: Bundle) -> int:
    """Pods that are to be deleted and still say that they run."""
    pods = cluster.get("pods", "-n", live.name)
    return sum("deletionTimestamp" in pod["metadata"] and pod["status"]["phase"] == "Running" for pod in pods)


def test_the_life_of_mcads_pods_is_two_numbers(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Its example with a few jobs: ten seconds to be created, ten to run."""
    folder = bundle("mcad-stress", cluster.minor, tmp_path / "b", "workloads.job.count=3")
    with applied(folder) as live:
        running.wait(cluster, live, jobs=True, limit=60)
        pods = cluster.get("pods", "-n", live.name)
        assert len(pods) == 3
        for pod in pods:
            assert wrong_times(pod, [("scheduled", "started", 10, 10), ("began", "ended", 10, 10)]) == []
