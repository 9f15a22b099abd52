"""Kinds of workloads under the controllers of their releases: what they make of the objects runs, completes and goes."""

import re
import shlex
import time
from collections import Counter
from pathlib import Path

import pytest

from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import bundle, written
from tests.live.test_bundles import errors_of_kwok, not_unchanged, pods_of
from tests.live.test_changing import told
from tests.live.watching import phases, until

pytestmark = [pytest.mark.live, pytest.mark.newest]

SECONDS, SETTLED = 60, 4
"""How long something may take, and in which time nobody else is let in: Kueue looks several times a second."""


@pytest.fixture(autouse=True)
def built(pytestconfig: pytest.Config) -> None:
    """Only where there is time for it."""
    if not pytestconfig.getoption("--matrix"):
        pytest.skip("three more controllers to build: make test-matrix")


CLUSTER = """
pools: [{name: gpu, count: 4, machine: p5.48xlarge, expose: extended-resource, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]
lifecycles: [{name: n, nodes: fast}, {name: p, pods: timed, create: 0s, run: 6s}]
"""
KINDS = f"""{CLUSTER}
workloads:
- {{name: sets, kind: jobset, count: 2, gpus: 2, roles: [{{name: driver, gpus: 0}}, {{name: trainers, pods: 2}}]}}
- {{name: wraps, kind: appwrapper, count: 2, pods: 3, gpus: 2}}
- {{name: serves, kind: leaderworkerset, count: 2, gpus: 1, roles: [{{name: leader, gpus: 0}}, {{name: worker, pods: 2}}]}}
"""
FAILING = f"""{CLUSTER}
workloads:
- {{name: sets, kind: jobset, backoffLimit: 0, failures: [{{of: jobs, share: 100%, after: 1s, exitCode: 1}}]}}
- name: wraps
  kind: appwrapper
  annotations: {{workload.codeflare.dev.appwrapper/retryLimit: "0"}}
  backoffLimit: 0
  failures: [{{of: jobs, share: 100%, after: 1s, exitCode: 1}}]
"""
QUEUED = f"""{CLUSTER}
queues: {{system: kueue, list: [{{name: team, quota: [{{pool: gpu, gpus: 5}}]}}]}}
workloads:
- {{name: sets, kind: jobset, count: 2, gpus: 2, roles: [{{name: driver, gpus: 1}}, {{name: trainers, pods: 2}}]}}
- {{name: serves, kind: leaderworkerset, count: 2, gpus: 2, priority: 1, roles: [{{name: leader, gpus: 0}}, {{name: worker, pods: 2}}]}}
"""
"""A JobSet asks for 5 GPUs, a LeaderWorkerSet for 4."""
WORKLOADS = "80-workloads.yaml"


def test_they_complete_and_go(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """The README's own lines wait for them; what is run again, and deleted while it runs, takes its Jobs and pods along."""
    folder = written("w", cluster.minor, tmp_path / "w", KINDS)
    with applied(folder) as live:
        lines = waits(live)
        assert [line[2] for line in lines] == ["node", "jobset", "appwrapper", "leaderworkerset"]
        for line in lines:
            cluster.kubectl(*line)
        names = [f"w/{name}-{number}" for name in ("sets", "wraps", "serves") for number in range(2)]
        assert running.progress(cluster, live).jobs == dict.fromkeys(names, "Complete")
        assert phases(cluster, live) == {"Succeeded": 12, "Running": 6}
        assert indexes(cluster) == ["0", "0", "1", "1", "2", "2"]
        assert not_unchanged(cluster, folder) == []
        before = uids(cluster)
        cluster.kubectl(*told(folder, "kubectl replace --force"))
        until(lambda: len(uids(cluster) - before) == 18, SECONDS, "all pods are made anew")
        cluster.kubectl("delete", "-f", str(folder / WORKLOADS))
        until(lambda: not cluster.get("jobs,statefulsets,pods", "-n", "w"), SECONDS, "all is gone")
        assert errors_of_kwok(cluster, live) == []


def waits(live: Bundle) -> list[list[str]]:
    """What the README says after `kubectl`, of its lines that wait for nodes and jobs."""
    lines = re.findall(r"^kubectl (wait .*)$", (live.folder / "README.md").read_text(), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def uids(cluster: Cluster) -> set[str]:
    return {pod["metadata"]["uid"] for pod in cluster.get("pods", "-n", "w")}


def indexes(cluster: Cluster) -> list[str]:
    """Of the pods that LeaderWorkerSets have made, which its webhook tells them; leaders are 0."""
    key = "leaderworkerset.sigs.k8s.io/worker-index"
    return sorted(pod["metadata"]["labels"][key] for pod in cluster.get("pods", "-n", "w", "-l", key))


def test_those_that_fail_are_finished(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    with applied(written("f", cluster.minor, tmp_path / "f", FAILING)) as live:
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        assert running.progress(cluster, live).jobs == {"f/sets-0": "Failed", "f/wraps-0": "Failed"}


def test_they_wait_for_their_queue(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Of those that run on the first lets nobody in beside it; as each is deleted, the next runs."""
    with applied(written("w", cluster.minor, tmp_path / "w", QUEUED)) as live:
        for _ in range(2):
            until(lambda: phases(cluster, live, "serves")["Running"] == 3, SECONDS, "one LeaderWorkerSet runs")
            time.sleep(SETTLED)
            assert (phases(cluster, live, "serves")["Running"], phases(cluster, live, "sets")["Running"]) == (3, 0)
            let_in = next(
                name for name in (f"serves-{number}" for number in range(2)) if phases(cluster, live, name)["Running"]
            )
            cluster.kubectl("delete", "leaderworkerset", let_in, "-n", "w")
            until(lambda gone=let_in: not phases(cluster, live, gone)["Running"], SECONDS, "its pods have gone")
        running.wait(cluster, live, jobs=True, limit=2 * SECONDS)
        assert phases(cluster, live) == {"Succeeded": 6}
        assert errors_of_kwok(cluster, live) == []


def test_a_driver_has_nodes_of_its_own(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """The example of roles."""
    with applied(bundle("roles", cluster.minor, tmp_path / "b")) as live:
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        where = Counter(
            (pod["metadata"]["name"].split("-")[2], pod["spec"]["nodeName"][:3]) for pod in pods_of(cluster, live)
        )
        assert where == {("driver", "cpu"): 2, ("trainers", "h10"): 4}


def test_the_stress_of_appwrappers(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Its example with fewer and shorter jobs."""
    sets = ("workloads.job.count=20", "lifecycles.mcad.create=1s", "lifecycles.mcad.run=2s")
    with applied(bundle("appwrapper-stress", cluster.minor, tmp_path / "b", *sets)) as live:
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        assert list(running.progress(cluster, live).jobs.values()) == ["Complete"] * 20
        assert [pod["status"]["phase"] for pod in pods_of(cluster, live)] == ["Succeeded"] * 20
