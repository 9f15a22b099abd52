"""Queues under a real Kueue: what is let in at once in numbers, what waits, borrows, makes way, and completes."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from testbed import removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.rendering import written
from tests.live.test_bundles import documents, errors_of_kwok
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]

SECONDS = 90
SETTLED = 4
"""Seconds in which nobody else is let in: Kueue looks several times a second."""
JOBS = "80-workloads.yaml"
GPUS = (
    "machine: {cpu: 64, memory: 64Gi, pods: 110}, gpus: {driver: gpu.example.com, count: 8, resource: example.com/gpu}"
)
SPEC = f"""
lifecycles: [{{name: n, nodes: fast}}, {{name: p, pods: timed, create: 0s, run: 600s}}]
pools:
- {{name: gpu, count: 8, {GPUS}, expose: extended-resource, taints: [{{key: example.com/gpu, effect: NoSchedule}}]}}
- {{name: more, count: 1, {GPUS}, expose: extended-resource}}
queues:
  system: kueue
  list:
  - {{name: alone, quota: [{{pool: gpu, gpus: 16}}]}}
  - {{name: spills, quota: [{{pool: more, gpus: 8}}, {{pool: gpu, gpus: 8}}]}}
  - {{name: lender, cohort: company, quota: [{{pool: gpu, gpus: 24}}], preemption: {{withinCohort: Any}}}}
  - {{name: borrower, cohort: company, quota: [{{pool: gpu, gpus: 8}}], borrow: [{{pool: gpu, gpus: 8}}]}}
  - {{name: ordered, quota: [{{pool: gpu, gpus: 16}}], preemption: {{withinQueue: LowerPriority}}}}
workloads:
- {{name: three, kind: job, count: 3, pods: 2, gpus: 4, queue: alone, run: 15s, container: {{resources: {{cpu: 2, memory: 1Gi}}}}}}
- {{name: two-pools, kind: job, count: 2, gpus: 8, queue: spills, run: 10s}}
- {{name: borrowed, kind: job, count: 3, gpus: 8, queue: borrower}}
- {{name: reclaims, kind: job, pods: 3, gpus: 8, queue: lender, run: 15s}}
- {{name: low, kind: job, count: 2, gpus: 8, queue: ordered, priority: -5, run: 20s}}
- {{name: high, kind: job, pods: 2, gpus: 8, queue: ordered, priority: 10, run: 10s}}
"""


def all_but_jobs(cluster: Cluster, live: Bundle) -> None:
    for file in sorted(live.folder.glob("*.yaml")):
        if file.name != JOBS:
            cluster.kubectl("apply", "-f", str(file))


@pytest.fixture(scope="module")
def shared(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """Queues whose jobs each test brings itself."""
    folder = written("q", cluster.minor, tmp_path_factory.mktemp("q") / "q", SPEC)
    with removing.applied(cluster, folder, take=all_but_jobs) as live:
        yield live
        assert errors_of_kwok(cluster, live) == []


def submit(cluster: Cluster, live: Bundle, workload: str) -> None:
    """Only the jobs of one workload, taken without a word."""
    jobs = [each for each in documents(live.folder, JOBS) if is_of(each, workload)]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": jobs})
    done = cluster.kubectl("apply", "--validate=strict", "-f", "-", stdin=listed)
    assert done.stderr == ""


def is_of(job: dict[str, Any], workload: str) -> bool:
    return re.fullmatch(rf"{workload}-\d+", job["metadata"]["name"]) is not None


def jobs_of(cluster: Cluster, live: Bundle, workload: str) -> list[dict[str, Any]]:
    return [job for job in cluster.get("jobs", "-n", live.name) if is_of(job, workload)]


def let_in(cluster: Cluster, live: Bundle, workload: str) -> int:
    return sum(not job["spec"]["suspend"] for job in jobs_of(cluster, live, workload))


def complete(cluster: Cluster, live: Bundle, workload: str) -> int:
    return sum(bool(job["status"].get("completionTime")) for job in jobs_of(cluster, live, workload))


def pods_of(cluster: Cluster, live: Bundle, workload: str) -> list[dict[str, Any]]:
    found = cluster.get("pods", "-n", live.name)
    return [pod for pod in found if pod["metadata"]["name"].startswith(f"{workload}-")]


def settles(cluster: Cluster, live: Bundle, workload: str, count: int) -> None:
    """So many jobs are let in, and for a while no other."""
    until(lambda: let_in(cluster, live, workload) == count, SECONDS, f"{count} of {workload} let in")
    stays(cluster, live, workload, count)


def stays(cluster: Cluster, live: Bundle, workload: str, count: int) -> None:
    # A condition that never comes: what is asked all the while is the count.
    with pytest.raises(AssertionError, match="did not come true"):
        until(lambda: let_in(cluster, live, workload) != count, SETTLED, "another count")


def completes(cluster: Cluster, live: Bundle, workload: str, count: int) -> None:
    until(lambda: complete(cluster, live, workload) == count, SECONDS, f"{count} of {workload} complete")


def conditions(cluster: Cluster, live: Bundle, job: str) -> dict[str, dict[str, Any]]:
    """Those of Kueue's Workload of a job."""
    workloads = cluster.get("workloads.kueue.x-k8s.io", "-n", live.name)
    (found,) = [each for each in workloads if each["metadata"]["ownerReferences"][0]["name"] == job]
    return {each["type"]: each for each in found["status"]["conditions"]}


def test_a_quota_lets_so_many_jobs_in(cluster: Cluster, shared: Bundle) -> None:
    """16 GPUs are two jobs of two pods of four; what no quota names (CPUs, memory) holds nobody up."""
    submit(cluster, shared, "three")
    settles(cluster, shared, "three", 2)
    (waiting,) = [job["metadata"]["name"] for job in jobs_of(cluster, shared, "three") if job["spec"]["suspend"]]
    said = conditions(cluster, shared, waiting)["QuotaReserved"]["message"]
    assert "insufficient unused quota for example.com/gpu in flavor q-gpu, 8 more needed" in said
    until(lambda: len(pods_of(cluster, shared, "three")) == 4, SECONDS, "four pods")
    completes(cluster, shared, "three", 3)
    for pod in pods_of(cluster, shared, "three"):
        assert pod["spec"]["nodeName"].startswith("gpu-")
        assert pod["spec"]["nodeSelector"] == {"app.kubernetes.io/instance": "q", "kwokgen.io/pool": "gpu"}


def test_the_second_pool_takes_what_the_first_has_no_quota_for(cluster: Cluster, shared: Bundle) -> None:
    submit(cluster, shared, "two-pools")
    completes(cluster, shared, "two-pools", 2)
    nodes = sorted(pod["spec"]["nodeName"].split("-")[0] for pod in pods_of(cluster, shared, "two-pools"))
    assert nodes == ["gpu", "more"]


def test_a_queue_borrows_to_its_limit_and_gives_back(cluster: Cluster, shared: Bundle) -> None:
    """Own 8 and 8 more of 24 that are idle; when their owner needs all, one of the two makes way, and comes back."""
    submit(cluster, shared, "borrowed")
    settles(cluster, shared, "borrowed", 2)
    submit(cluster, shared, "reclaims")
    settles(cluster, shared, "reclaims", 1)
    stays(cluster, shared, "borrowed", 1)
    evicted = [conditions(cluster, shared, f"borrowed-{index}").get("Preempted") for index in range(3)]
    assert [each["reason"] for each in evicted if each and each["status"] == "True"] == ["InCohortReclamation"]
    completes(cluster, shared, "reclaims", 1)
    settles(cluster, shared, "borrowed", 2)
    cluster.kubectl("delete", "jobs", "-n", shared.name, *(f"borrowed-{index}" for index in range(3)))


def test_a_job_of_higher_priority_goes_first(cluster: Cluster, shared: Bundle) -> None:
    submit(cluster, shared, "low")
    settles(cluster, shared, "low", 2)
    submit(cluster, shared, "high")
    until(lambda: let_in(cluster, shared, "high") == 1, SECONDS, "high let in")
    assert let_in(cluster, shared, "low") == 0
    assert conditions(cluster, shared, "low-0")["Preempted"]["reason"] == "InClusterQueue"
    completes(cluster, shared, "high", 1)
    assert complete(cluster, shared, "low") == 0
    completes(cluster, shared, "low", 2)


def test_a_second_apply_starts_running_jobs_anew(cluster: Cluster, shared: Bundle) -> None:
    """As the README warns; the objects of the queues stay as they are."""
    submit(cluster, shared, "borrowed")
    until(lambda: len(pods_of(cluster, shared, "borrowed")) == 2, SECONDS, "two pods")
    before = {pod["metadata"]["name"] for pod in pods_of(cluster, shared, "borrowed")}
    said = cluster.kubectl("apply", "-f", str(shared.folder / "70-queues.yaml")).stdout.splitlines()
    assert [line for line in said if not line.endswith(" unchanged")] == []
    submit(cluster, shared, "borrowed")
    until(lambda: before.isdisjoint(names_of(cluster, shared, "borrowed")), SECONDS, "the pods end")
    settles(cluster, shared, "borrowed", 2)
    cluster.kubectl("delete", "jobs", "-n", shared.name, *(f"borrowed-{index}" for index in range(3)))


def names_of(cluster: Cluster, live: Bundle, workload: str) -> set[str]:
    return {pod["metadata"]["name"] for pod in pods_of(cluster, live, workload)}


def test_the_examples_documents_are_what_kueue_reads(cluster: Cluster, shared: Bundle) -> None:
    """Nothing of what was applied is dropped."""
    for document in documents(shared.folder, "70-queues.yaml"):
        meta = document["metadata"]
        place = ("-n", meta["namespace"]) if "namespace" in meta else ()
        (served,) = cluster.get(f"{document['kind'].lower()}.kueue.x-k8s.io", meta["name"], *place)
        assert holds(served, document)


def holds(served: Any, written: Any) -> bool:
    if isinstance(written, dict):
        return isinstance(served, dict) and all(key in served and holds(served[key], written[key]) for key in written)
    if isinstance(written, list):
        return len(served) == len(written) and all(map(holds, served, written))
    return bool(served == written)
