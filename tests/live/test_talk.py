"""Five demonstrations of fault injection: https://www.sgpjbg.com/baogao/627278.html shows them by Stages of one's own.

A condition, an eviction by a taint, a pod that fails with words of its own, an XID that empties a node, and the jobs that
start anew after each.
"""

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from kwokgen.pipeline import render
from kwokgen.timeline import timeline
from testbed import programs, removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.rendering import written
from tests.live.test_bundles import errors_of_kwok
from tests.live.test_failures import ended, of
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]

SECONDS = 60
SHOWN = 24
"""Conditions of the node on the slide: the kubelet's five, and nineteen checks."""
DGX = "machine: dgx-a100, expose: extended-resource"
SPEC = f"""
lifecycles: [{{name: nodes, nodes: heartbeat-lease}}, {{name: pods, pods: timed, create: 0s, run: 10s}}]
pools:
- {{name: shown, count: 1, {DGX}, detectors: [dgx-node-health]}}
- {{name: tainted, count: 2, {DGX}, detectors: [nvsentinel]}}
- {{name: drained, count: 2, {DGX}, detectors: [nvsentinel]}}
workloads:
- {{name: evicted, kind: job, suspend: true, pools: [tainted], gpus: 8, run: 20s}}
- name: failed
  kind: job
  pools: [shown]
  backoffLimit: 0
  failures: [{{of: jobs, share: 100%, after: 2s, exitCode: 137, reason: OOMKilled, message: "rank 3 # killed: {{}}"}}]
- {{name: left, kind: job, suspend: true, pools: [shown], run: 20s, restartPolicy: OnFailure}}
- {{name: drained, kind: job, suspend: true, pods: 2, pools: [drained], gpus: 4, run: 30s}}
faults:
- {{name: hot, fault: thermal-throttle, where: {{pool: shown}}, start: {{manual: true}}}}
- {{name: page, fault: xid-31, where: {{pool: shown}}, start: {{manual: true}}, effects: {{exit: true}}}}
- {{name: evicting, fault: xid-48, where: {{pool: tainted}}, start: {{manual: true}}, effects: {{taint: NoExecute}}}}
- {{name: lost, fault: xid-79, where: {{pool: drained}}, start: {{manual: true}}, effects: {{taint: true, cordon: true, exit: true}}}}
"""


@pytest.fixture(scope="module")
def live(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """Each demonstration has nodes and a job of its own."""
    folder = written("talk", cluster.minor, tmp_path_factory.mktemp("talk") / "b", SPEC)
    with removing.applied(cluster, folder) as live:
        yield live
        assert errors_of_kwok(cluster, live) == []


def node(cluster: Cluster, name: str) -> dict[str, Any]:
    (found,) = cluster.get("nodes", f"--field-selector=metadata.name={name}")
    return found


def condition(cluster: Cluster, name: str, sort: str) -> tuple[str, str]:
    (found,) = (each for each in node(cluster, name)["status"]["conditions"] if each["type"] == sort)
    return found["status"], found["reason"]


def pods(cluster: Cluster, job: str) -> list[dict[str, Any]]:
    """Those of a job that run."""
    found = cluster.get("pods", "-n", "talk", "-l", f"batch.kubernetes.io/job-name={job}")
    return [
        each for each in found if each["status"]["phase"] == "Running" and "deletionTimestamp" not in each["metadata"]
    ]


def outcome(cluster: Cluster, name: str) -> tuple[str, int] | None:
    """Why a job has ended, and how many of its pods succeeded; None while it goes on."""
    (job,) = cluster.get("jobs", "-n", "talk", f"--field-selector=metadata.name={name}")
    status = job["status"]
    why = [each["reason"] for each in status.get("conditions", ()) if each["type"] in {"Complete", "Failed"}]
    return (why[0], status.get("succeeded", 0)) if why else None


def switch(cluster: Cluster, name: str, fault: str, to: str) -> None:
    cluster.kubectl("label", "node", name, f"kwokgen.io/fault-{fault}={to}", "--overwrite")


def begun(cluster: Cluster, job: str, number: int) -> str:
    """The node on which all pods of a job run, now that it may."""
    cluster.kubectl("patch", "job", job, "-n", "talk", "-p", '{"spec": {"suspend": false}}')
    until(lambda: len(pods(cluster, job)) == number, SECONDS, f"{job} runs")
    (name,) = {each["spec"]["nodeName"] for each in pods(cluster, job)}
    return name


def test_a_condition_turns_and_comes_back(cluster: Cluster, live: Bundle) -> None:
    """The node has all conditions of the slide; one says trouble while its label is on, and the others never do."""
    before = node(cluster, "shown-0")["status"]["conditions"]
    assert len(before) == SHOWN
    assert condition(cluster, "shown-0", "GpuHWSlowDown")[0] == "False"
    switch(cluster, "shown-0", "hot", "on")
    until(lambda: condition(cluster, "shown-0", "GpuHWSlowDown")[0] == "True", SECONDS, "the GPU is slow")
    turned = [each["type"] for each in node(cluster, "shown-0")["status"]["conditions"] if each not in before]
    switch(cluster, "shown-0", "hot", "off")
    until(lambda: condition(cluster, "shown-0", "GpuHWSlowDown")[0] == "False", SECONDS, "the GPU is well")
    assert "GpuHWSlowDown" in turned
    assert {condition(cluster, "shown-0", each["type"])[0] for each in before} == {each["status"] for each in before}


def test_a_taint_evicts_and_the_job_goes_on_elsebegun(cluster: Cluster, live: Bundle) -> None:
    """NoExecute puts the pod out at once, as a disruption; the other node takes the one that the job makes for it."""
    first = begun(cluster, "evicted-0", 1)
    switch(cluster, first, "evicting", "on")
    (second,) = {"tainted-0", "tainted-1"} - {first}
    until(
        lambda: [each["spec"]["nodeName"] for each in pods(cluster, "evicted-0")] == [second], SECONDS, "it has moved"
    )
    until(lambda: outcome(cluster, "evicted-0"), SECONDS, "the job has ended")
    assert outcome(cluster, "evicted-0") == ("CompletionsReached", 1)
    events = cluster.get("events", "-n", "talk", "--field-selector=reason=TaintManagerEviction")
    assert [each["involvedObject"]["name"].rsplit("-", 1)[0] for each in events] == ["evicted-0-0"]
    switch(cluster, first, "evicting", "off")
    until(lambda: len(node(cluster, first)["spec"]["taints"]) == 1, SECONDS, "the taint is gone")


def test_a_pod_fails_with_its_words(cluster: Cluster, live: Bundle) -> None:
    """Exit code, reason and message, with characters that break a template that does not quote them."""
    until(lambda: outcome(cluster, "failed-0"), SECONDS, "the job has ended")
    assert outcome(cluster, "failed-0") == ("BackoffLimitExceeded", 0)
    said = ended(cluster.get("pods", "-n", "talk"), "failed-0", 0)
    assert said == {"exitCode": 137, "reason": "OOMKilled", "message": "rank 3 # killed: {}"}


def test_an_xid_empties_a_node_and_its_job_starts_anew(cluster: Cluster, live: Bundle) -> None:
    """By the printed commands: the GPU is lost, one pod ends with it, a drain moves the other, and the job completes."""
    second = "drained-1"
    cluster.kubectl("cordon", second)
    first = begun(cluster, "drained-0", 2)
    cluster.kubectl("uncordon", second)
    switch(cluster, first, "lost", "on")
    until(lambda: condition(cluster, first, "SysLogsXIDError")[0] == "True", SECONDS, "the XID is told")
    assert node(cluster, first)["spec"]["unschedulable"]
    assert node(cluster, first)["status"]["allocatable"]["nvidia.com/gpu"] == "7"
    lost = pods(cluster, "drained-0")[0]["metadata"]["name"]
    cluster.kubectl("label", "pod", lost, "-n", "talk", "kwokgen.io/fault-lost=on")
    until(lambda: of_name(cluster, lost)["status"]["phase"] == "Failed", SECONDS, "its pod has ended")
    (container,) = of_name(cluster, lost)["status"]["containerStatuses"]
    assert (container["state"]["terminated"]["exitCode"], container["state"]["terminated"]["reason"]) == (1, "Error")
    cluster.kubectl("drain", first, "--ignore-daemonsets", "--force", "--timeout=30s")
    assert [each for each in pods(cluster, "drained-0") if each["spec"]["nodeName"] == first] == []
    until(lambda: outcome(cluster, "drained-0"), 2 * SECONDS, "the job has ended")
    assert outcome(cluster, "drained-0") == ("CompletionsReached", 2)
    assert {each["spec"]["nodeName"] for each in succeeded(cluster, "drained-0")} == {second}
    switch(cluster, first, "lost", "off")
    until(lambda: not node(cluster, first)["spec"].get("unschedulable"), SECONDS, "the node is open again")


def of_name(cluster: Cluster, name: str) -> dict[str, Any]:
    (found,) = cluster.get("pods", "-n", "talk", f"--field-selector=metadata.name={name}")
    return found


def succeeded(cluster: Cluster, job: str) -> list[dict[str, Any]]:
    found = [*of(cluster.get("pods", "-n", "talk"), job, 0), *of(cluster.get("pods", "-n", "talk"), job, 1)]
    return [each for each in found if each["status"]["phase"] == "Succeeded"]


def test_the_printed_command_ends_pods(cluster: Cluster, live: Bundle) -> None:
    """A shell runs it as it is printed; a container that its pod restarts runs on, having been restarted once."""
    begun(cluster, "left-0", 1)
    file = live.folder.with_name("b.yaml")
    found = {each.fault: each.command for each in timeline(render(str(file)).cluster) if each.what == ("pods exit 1",)}
    switch(cluster, "shown-0", "page", "on")
    path = f"{programs.path(f'kubernetes-{cluster.minor}', 'kubectl').parent}:/usr/bin:/bin"
    env = {"PATH": path, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(cluster.folder)}
    subprocess.run(["sh", "-c", found["page"]], check=True, env=env)
    until(lambda: restarts(cluster, "left-0") == [1], SECONDS, "it has been restarted")
    until(lambda: outcome(cluster, "left-0"), SECONDS, "the job has ended")
    assert outcome(cluster, "left-0") == ("CompletionsReached", 1)
    assert restarts(cluster, "left-0") == [1]


def restarts(cluster: Cluster, job: str) -> list[int]:
    found = of(cluster.get("pods", "-n", "talk"), job)
    return [each["restartCount"] for pod in found for each in pod["status"]["containerStatuses"]]
