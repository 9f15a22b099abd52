"""NodeResourceTopologies under their own definition, and under the scheduler that reads them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed import programs, removing, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.credentials import CERTIFICATE, KEY
from testbed.definitions import established
from tests.live.likeness import unlike
from tests.live.rendering import bundle, written
from tests.live.test_bundles import not_unchanged, pods_of, ran_its_time
from tests.live.watching import phases, until

pytestmark = [pytest.mark.live, pytest.mark.newest]

MODULE = "scheduler-plugins"
DEFINITION = ("github.com/k8stopologyawareschedwg/noderesourcetopology-api", "manifests/crd.yaml")
SCHEDULER = "numa-scheduler"
SECONDS = 60
SPEC = f"""
lifecycles: [{{name: n, nodes: fast}}, {{name: p, pods: timed, create: 0s, run: 600s}}]
pools:
- {{name: gpu, count: 1, machine: p5.48xlarge, expose: extended-resource, numa: {{zones: 2, policy: single-numa-node}}}}
- {{name: free, count: 1, machine: p5.48xlarge, expose: extended-resource, numa: {{zones: 2, policy: single-numa-node}}}}
- {{name: rack, count: 1, machine: gb200-nvl72-tray, numa: {{policy: restricted, scope: pod}}}}
workloads:
- {{name: four, kind: job, pods: 2, gpus: 4, pools: [gpu]}}
- {{name: five, kind: job, gpus: 5, pools: [free]}}
patches: [{{target: {{kind: Job}}, merge: {{spec: {{template: {{spec: {{schedulerName: {SCHEDULER}}}}}}}}}}}]
"""


@pytest.fixture
def defined(cluster: Cluster) -> Iterator[None]:
    """The definition, while a test needs it."""
    file = str(programs.module_dir(MODULE, DEFINITION[0]) / DEFINITION[1])
    cluster.kubectl("apply", "--server-side", "-f", file)
    established(cluster.kubectl)
    yield
    cluster.kubectl("delete", "-f", file)


def test_our_schema_says_nothing_else_than_the_definition() -> None:
    file = programs.module_dir(MODULE, DEFINITION[0]) / DEFINITION[1]
    assert unlike("scheduler-plugins/noderesourcetopology", file, "v1alpha2") == []


@pytest.mark.usefixtures("defined")
def test_each_is_what_its_definition_says(cluster: Cluster, tmp_path: Path) -> None:
    """Strictly, once and again."""
    folder = written("numa", cluster.minor, tmp_path / "b", SPEC)
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    said = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(folder / "45-numa-rack.yaml"))
    assert said.stderr == ""
    with removing.applied(cluster, folder):
        assert not_unchanged(cluster, folder) == []
        found = cluster.get("noderesourcetopologies")
        assert [each["metadata"]["name"] for each in found] == ["free-0", "gpu-0", "rack-0"]


@pytest.mark.usefixtures("defined")
def test_a_pod_that_fits_no_numa_node_waits(cluster: Cluster, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Each has four GPUs: two pods of four fill a node, one of five waits, though its node has eight that nobody has."""
    if not pytestconfig.getoption("--matrix"):
        pytest.skip("one more scheduler to build: make test-matrix")
    folder = written("numa", cluster.minor, tmp_path / "b", SPEC)
    with scheduling(cluster), removing.applied(cluster, folder) as live:
        until(lambda: phases(cluster, live, "four-0") == {"Running": 2}, SECONDS, "pods of four GPUs run")
        until(
            lambda: "cannot align container" in why(cluster, live, "five"),
            SECONDS,
            "the scheduler refuses the pod of five",
        )
        assert phases(cluster, live, "five-0") == {"Pending": 1}


def test_pods_wait_for_devices_of_one_numa_node(cluster: Cluster, tmp_path: Path) -> None:
    """As the example says: four take three GPUs each, and the two of the fifth are of several."""
    with removing.applied(cluster, bundle("numa", cluster.minor, tmp_path / "numa")) as live:
        until(lambda: phases(cluster, live, "large")["Running"] == 4, SECONDS, "all of the large pods run")
        assert phases(cluster, live, "small")["Running"] == 0
        running.wait(cluster, live, jobs=True, limit=SECONDS)
        pods = pods_of(cluster, live)
        assert len(pods) == 5
        assert all(map(ran_its_time, pods))
        assert not_unchanged(cluster, live.folder) == []


@contextmanager
def scheduling(cluster: Cluster) -> Iterator[None]:
    """The scheduler of scheduler-plugins beside Kubernetes' own, under a name of its own."""
    port, file = cluster.reserve(), cluster.folder / f"{SCHEDULER}.json"
    enabled = {"enabled": [{"name": "NodeResourceTopologyMatch"}]}
    profile = {"schedulerName": SCHEDULER, "plugins": {"filter": enabled, "score": enabled}}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False}, "clientConnection": {"kubeconfig": str(cluster.kubeconfig)},
        "profiles": [profile],
    }  # fmt: skip
    file.write_text(json.dumps(config))
    command = [
        str(programs.path(MODULE, "scheduler")), f"--config={file}",
        "--bind-address=127.0.0.1", f"--secure-port={port}", "--authorization-always-allow-paths=/healthz",
        f"--tls-cert-file={cluster.folder / CERTIFICATE}", f"--tls-private-key-file={cluster.folder / KEY}",
    ]  # fmt: skip
    process = cluster.program(SCHEDULER, command, port=port, ready=[f"https://127.0.0.1:{port}/healthz"])
    try:
        yield
    finally:
        cluster.end(process)


def why(cluster: Cluster, live: Bundle, workload: str) -> str:
    """What the scheduler says of a job's pods."""
    pods = cluster.get("pods", "-n", live.name, "-l", f"job-name={workload}-0")
    return " ".join(each.get("message", "") for pod in pods for each in pod["status"].get("conditions", ()))
