"""Queue systems one after another: claims under Kueue, one blueprint under two systems, and their definitions."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kwokgen import schemas
from testbed import definitions, programs, running
from testbed.cluster import Cluster
from testbed.definitions import established
from tests.live.conftest import Applied, minor_of
from tests.live.rendering import bundle, written
from tests.live.test_bundles import errors_of_kwok, not_unchanged
from tests.live.test_queues import completes, settles

pytestmark = [pytest.mark.live, pytest.mark.newest]

JOBS_SECONDS = 360
CLAIMS = """
lifecycles: [{name: n, nodes: fast}, {name: p, pods: timed, create: 0s, run: 15s}]
pools: [{name: gpu, count: 2, machine: {cpu: 64, memory: 64Gi}, gpus: {model: l40s, count: 4}}]
claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]
queues: {system: kueue, list: [{name: few, quota: [{pool: gpu, gpus: 4}]}]}
workloads: [{name: claiming, kind: job, count: 2, pods: 3, claims: [one]}]
"""


def test_devices_of_claims_are_counted(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Eight devices, a quota of four: of two jobs with three claims each the second waits for the first."""
    if minor_of(cluster.minor).resource_api != "v1":
        pytest.skip("Kueue asks for resource.k8s.io/v1, so that kwokgen refuses claims (claims-before-v1)")
    with applied(written("c", cluster.minor, tmp_path / "c", CLAIMS)) as live:
        settles(cluster, live, "claiming", 1)
        completes(cluster, live, "claiming", 2)
        assert errors_of_kwok(cluster, live) == []


@pytest.mark.parametrize("system", ["kueue", "default"])
def test_one_blueprint_runs_under_either_system(
    system: str, cluster: Cluster, applied: Applied, tmp_path: Path
) -> None:
    """All jobs complete; a second apply finds nothing to change but the jobs that Kueue has started, as the README says."""
    folder = bundle("kueue-quotas", cluster.minor, tmp_path / system, f"queues.system={system}")
    with applied(folder) as live:
        running.wait(cluster, live, jobs=True, limit=JOBS_SECONDS)
        assert set(running.progress(cluster, live).jobs.values()) == {"Complete"}
        changed = {line.split("/")[0] for line in not_unchanged(cluster, folder)}
        assert changed == ({"job.batch"} if system == "kueue" else set())
        assert set(running.progress(cluster, live).jobs.values()) == {"Complete"}
        assert errors_of_kwok(cluster, live) == []


KINDS = {
    "clusterqueue": "clusterqueues",
    "cohort": "cohorts",
    "localqueue": "localqueues",
    "resourceflavor": "resourceflavors",
    "topology": "topologies",
    "workloadpriorityclass": "workloadpriorityclasses",
}
RULED = ("effect", "operator")
"""What the definition has words for in a rule of its own, not as an enum."""
LEFT_OUT = {
    ("spec", "admissionChecksStrategy"), ("spec", "admissionScope"), ("status",), ("metadata",),
    ("spec", "nodeTaints", "[]", "timeAdded"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_our_schemas_are_the_definitions(kind: str) -> None:
    """Every field of the release, with its type and its words, and none beside them."""
    folder = programs.module_dir("kueue", "sigs.k8s.io/kueue") / "config" / "components" / "crd" / "bases"
    definition = YAML(typ="safe", pure=True).load(folder / f"kueue.x-k8s.io_{KINDS[kind]}.yaml")
    (version,) = [each for each in definition["spec"]["versions"] if each["name"] == "v1beta2"]
    theirs, ours = version["schema"]["openAPIV3Schema"], schemas.load(f"kueue/{kind}")
    assert dict(fields(ours, ())) == dict(fields(theirs, ()))


def fields(schema: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, below in schema.get("properties", {}).items():
        where = (*path, key)
        if where not in LEFT_OUT and where not in {("apiVersion",), ("kind",)}:
            quantity = below.get("x-kubernetes-int-or-string", False)
            words = None if key in RULED else below.get("enum")
            yield where, ("string" if quantity else below["type"], words, below.get("maxItems"))
            yield from fields(below, where)
    if "items" in schema:
        yield from fields(schema["items"], (*path, "[]"))


PLACES = """
topology:
  schemes: [topograph]
  levels: [{name: spine, count: 2}, {name: leaf, count: [2, 1], nodes: 2}]
pools: [{name: gpu, count: 6, machine: {cpu: 8}}]
queues: {system: volcano, list: [{name: q, quota: [{pool: gpu, resources: {cpu: 8}}]}]}
workloads: [{name: w, kind: job, pods: 2, gang: true, placement: {within: leaf}, container: {resources: {cpu: 1}}}]
"""


def test_volcano_has_such_objects(cluster: Cluster, tmp_path: Path) -> None:
    """By definitions that are generated from its public Go types: taken without a warning, and once."""
    folders = bundle("volcano", cluster.minor, tmp_path / "b"), written("v", cluster.minor, tmp_path / "v", PLACES)
    plurals = ("hypernodes", "jobs", "podgroups", "queues")
    made = [argument for plural in plurals for argument in ("-f", str(definitions.volcano(plural)))]
    try:
        cluster.kubectl("apply", "--server-side", *made)
        established(cluster.kubectl)
        kinds = [taken_once(cluster, str(folder / "70-queues.yaml")) for folder in folders]
        queue, priority = "queue.scheduling.volcano.sh", "priorityclass.scheduling.k8s.io"
        assert kinds == [{queue: 4, priority: 2}, {queue: 1, "hypernode.topology.volcano.sh": 5}]
    finally:
        cluster.kubectl("delete", *made)


def taken_once(cluster: Cluster, file: str) -> Counter[str]:
    """How many of each kind a file has; a second apply finds nothing to change."""
    assert cluster.kubectl("apply", "--validate=strict", "-f", file).stderr == ""
    again = cluster.kubectl("apply", "-f", file).stdout.splitlines()
    assert [line for line in again if not line.endswith(" unchanged")] == []
    cluster.kubectl("delete", "-f", file)
    return Counter(line.split("/")[0] for line in again)
