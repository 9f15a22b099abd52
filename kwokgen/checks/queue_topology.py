"""Topologies of queue systems: nodes have the labels that they name, and jobs are such that a place is found for them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import HOSTNAME
from kwokgen.model.quota import asked
from kwokgen.model.topology import Topology
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem, Related

ID = "queue-topology"
SUMMARY = "The queue system can find a place for each job of its queues"
CLAIMS = "claims-within-a-topology"
OWN = (
    "kueue.x-k8s.io/podset-group-name",
    *(f"kueue.x-k8s.io/podset-{how}-topology" for how in ("preferred", "required", "unconstrained")),
    *(f"kai.scheduler/topology{more}" for more in ("", "-preferred-placement", "-required-placement")),
    *(f"volcano.sh/network-topology-{more}" for more in ("highest-tier", "mode")),
)
"""Annotations that say a placement."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """What keeps a queue system from finding the places of a topology, or a job from getting one."""
    topology = cluster.topology
    if topology is None or not cluster.queues.place:
        return
    yield from _patched(cluster, topology)
    yield from _untold(cluster, topology)
    for workload in cluster.workloads if cluster.queues.system.form == "kueue" else ():
        yield from _several(workload)
    for workload in cluster.parts:
        yield from _said_twice(workload)
        if cluster.queues.system.form == "kueue" and cluster.places_by_queue:
            yield from _claims(cluster, workload)
            yield from _nothing(cluster, workload)


def _patched(cluster: Cluster, topology: Topology) -> Iterator[Problem]:
    """Patches of the labels that tell a node's place: of other values there are other places than the blueprint's."""
    keys = {HOSTNAME, *(level.keys[0] for level in topology.levels if level.keys)}
    for patch in cluster.patches:
        meta = patch.merge.get("metadata") if patch.kind == "Node" else None
        labels = meta.get("labels") if isinstance(meta, dict) else None
        for key in sorted(keys & labels.keys()) if isinstance(labels, dict) else ():
            message = f"by the label {key} {cluster.queues.system.name} finds the place of each node"
            pos = patch.at.key("merge", "metadata", "labels", key)
            yield Problem(pos, ID, message, "leave it as the topology has it", related=(_scheme(topology),))


def _scheme(topology: Topology) -> Related:
    return Related(topology.at.pos("schemes"), "the schemes of the topology")


def _untold(cluster: Cluster, topology: Topology) -> Iterator[Problem]:
    """Volcano builds its tree from the narrowest level on."""
    level = topology.levels[-1]
    if cluster.queues.system.form == "volcano" and not level.keys:
        message = f'no scheme has a label for the level "{level.name}", by which Volcano finds the nodes of each'
        yield Problem(topology.at.pos("schemes"), ID, message, "add a scheme that has one, or a key of your own")


def _said_twice(workload: Workload) -> Iterator[Problem]:
    """Without a placement too: by it alone Kueue's flavors name no topology, and refuse the job."""
    for key in workload.annotations:
        if key in OWN:
            message = f'the annotation "{key}" says a placement, as placement does'
            yield Problem(workload.at.key("annotations", key), ID, message, "leave it out, and write placement")


def _claims(cluster: Cluster, workload: Workload) -> Iterator[Problem]:
    """Devices are no resource of a node, so that Kueue finds none with room for them."""
    system = cluster.queues.system
    if (trouble := system.faults.get(CLAIMS)) is None:
        return
    message = f"{system.name}: {trouble.summary[0].lower()}{trouble.summary[1:]}"
    hint = "expose the GPUs as an extended resource, or leave out every placement"
    placed = next(each for each in cluster.workloads if each.placement)
    why = (Related(placed.at.pos("placement"), "makes Kueue choose the nodes of all jobs"),)
    for index, claim in enumerate(workload.claims):
        if not claim.shared and not claim.of_gang:
            pos = workload.at.pos("claims", index)
            yield Problem(pos, ID, message, hint, "error" if trouble.refuses else "warning", why)


def _several(workload: Workload) -> Iterator[Problem]:
    """Pods of several templates are in one place as a group of Kueue's, with one flavor.

    https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/pkg/controller/jobframework/tas_validation.go, ValidatePodSetGroupingTopology
    """
    sets = workload.pod_sets
    if not workload.placement or len(sets) == 1:
        return
    pos = workload.at.pos("placement")
    if len(sets) > 2 or min(sets) > 1:
        pods = ", ".join(map(str, sets))
        message = f"Kueue has two roles in one place, one of them of one pod; these have {pods} pods"
        yield Problem(pos, ID, message, "make them two roles, one of them of one pod, or leave placement out")
    elif not set.intersection(*({pool.name for pool in part.pools} for part in workload.parts)):
        message = "Kueue has roles in one place on nodes of one pool, and these have none in common"
        yield Problem(pos, ID, message, "give them a pool in common, or leave placement out")


def _nothing(cluster: Cluster, workload: Workload) -> Iterator[Problem]:
    """A job gets its place with the flavor of what it asks for; every pod asks for the room of one, where that is counted."""
    queue = cluster.queues.named(workload.queue) if workload.placement else None
    if queue and "pods" not in queue.total and not asked(workload, cluster.queues.classes):
        message = "pods that ask for nothing get no flavor of Kueue, and no place with it"
        yield Problem(workload.at.pos("placement"), ID, message, "write gpus, or container.resources")
