"""Plain pods: objects that nobody makes anew, and their groups under a real Kueue."""

import time
from pathlib import Path

import pytest

from testbed import running
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import written
from tests.live.test_bundles import errors_of_kwok, not_unchanged
from tests.live.test_changing import told
from tests.live.watching import phases, until

pytestmark = [pytest.mark.live, pytest.mark.newest]

SECONDS = 60
SETTLED = 4
"""Seconds in which nobody else is let in: Kueue looks several times a second."""
POOLS = """
pools: [{name: gpu, count: 2, machine: p5.48xlarge, expose: extended-resource, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]
lifecycles: [{name: n, nodes: fast}, {name: p, pods: timed, create: 0s, run: 5s}]
"""
PLAIN = f"""{POOLS}
workloads:
- {{name: one, kind: pods, count: 3, gpus: 1, run: 4s, priority: 1, initContainers: [{{name: first}}]}}
- {{name: group, kind: pods, count: 2, pods: 2, gpus: 1, run: 4s, failures: [{{of: jobs, jobs: [1], after: 1s, exitCode: 3}}]}}
"""
"""All fit on one node: while the other is not ready yet, none is preempted."""
QUEUED = f"""{POOLS}
queues: {{system: kueue, list: [{{name: team, quota: [{{pool: gpu, gpus: 4}}]}}]}}
workloads:
- {{name: group, kind: pods, count: 3, pods: 2, gpus: 2, run: 8s, failures: [{{of: jobs, jobs: [0], after: 6s, exitCode: 1}}]}}
- {{name: one, kind: pods, gpus: 1, run: 4s}}
"""


def test_they_run_and_end_as_their_run_says(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """A second apply changes none of them, running or ended; replaced, they run again, and another render takes them away."""
    folder = written("p", cluster.minor, tmp_path / "p", PLAIN)
    with applied(folder) as live:
        assert not_unchanged(cluster, folder) == []
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        assert phases(cluster, live, "one") == {"Succeeded": 3}
        assert phases(cluster, live, "group") == {"Succeeded": 2, "Failed": 2}
        assert not_unchanged(cluster, folder) == []
        cluster.kubectl(*told(folder, "kubectl replace --force"))
        until(lambda: phases(cluster, live, "one") == {"Running": 3}, SECONDS, "they run again")
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        spec = f"{POOLS}\nworkloads: [{{name: other, kind: job, gpus: 1, run: 2s}}]"
        cluster.kubectl(*told(written("p", cluster.minor, folder, spec), "kubectl apply -f . --prune"))
        until(lambda: phases(cluster, live, "") == {"Succeeded": 1}, SECONDS, "a render without them takes them away")
        assert errors_of_kwok(cluster, live) == []


def test_groups_wait_for_their_queue_as_one(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Of three groups of 4 GPUs and a pod of one, a quota of 4 lets in one group at a time; one whose pods fail gives it back."""
    with applied(written("q", cluster.minor, tmp_path / "q", QUEUED)) as live:
        seen: set[tuple[int, int]] = set()

        def done() -> bool:
            pods = cluster.get("pods", "-n", live.name)
            held = [
                pod for pod in pods if pod["spec"].get("nodeName") and pod["status"]["phase"] in {"Pending", "Running"}
            ]
            seen.add((len({pod["metadata"]["name"].rpartition("-")[0] for pod in held}), len(held)))
            return all(pod["status"]["phase"] in {"Failed", "Succeeded"} for pod in pods)

        until(done, 2 * SECONDS, "all have run")
        assert phases(cluster, live, "group") == {"Succeeded": 4, "Failed": 2}
        assert max(jobs for jobs, _ in seen) == 1
        assert (1, 2) in seen
        assert [load["metadata"]["name"] for load in cluster.get("workloads.kueue.x-k8s.io", "-n", live.name)] != []
        assert errors_of_kwok(cluster, live) == []


SERVERS = f"""{POOLS}
queues: {{system: kueue, list: [{{name: team, quota: [{{pool: gpu, gpus: 10}}]}}]}}
workloads: [{{name: serve, kind: deployment, pods: 3, gpus: 4}}]
"""


def test_servers_wait_for_their_queue_one_by_one(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Of three of 4 GPUs with a quota of 10, two run; nothing is left out of a second apply."""
    folder = written("s", cluster.minor, tmp_path / "s", SERVERS)
    with applied(folder) as live:
        until(lambda: phases(cluster, live, "serve") == {"Running": 2, "Pending": 1}, SECONDS, "two servers run")
        time.sleep(SETTLED)
        assert phases(cluster, live, "serve") == {"Running": 2, "Pending": 1}
        assert not_unchanged(cluster, folder) == []
        assert errors_of_kwok(cluster, live) == []
