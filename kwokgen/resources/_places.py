"""What jobs and their pods say of the place that their queue system is to find for them, and which objects it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import HOSTNAME
from kwokgen.model.topology import Level, Topology
from kwokgen.model.workload import Placement, Workload

KAI = "kai.scheduler"
ALL = "all"
"""What Kueue's group of pod sets is called that are in one place."""


def levels(topology: Topology) -> list[dict[str, str]]:
    """The label of each level that has one, from the widest on, and last that of the node itself.

    With any other label last, Kueue looks at no taint of a node:
    https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/pkg/cache/scheduler/tas_flavor_snapshot.go, fillInLeafCounts
    """
    keys = [level.keys[0] for level in topology.levels if level.keys]
    return [{"nodeLabel": key} for key in (*keys, HOSTNAME)]


def tier(topology: Topology, level: Level) -> int:
    """How far a level is from the nodes: the narrowest is 1."""
    return len(topology.levels) - topology.levels.index(level)


def of_job(cluster: Cluster, workload: Workload) -> Mapping[str, str]:
    """Annotations of the job: KAI reads them there.

    https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/topology/README.md
    """
    place = workload.placement
    if place is None or not cluster.queues.place or cluster.queues.system.form != "kai":
        return {}
    how = "required" if place.required else "preferred"
    return {f"{KAI}/topology": cluster.name, f"{KAI}/topology-{how}-placement": place.key}


def of_pods(cluster: Cluster, workload: Workload) -> Mapping[str, str]:
    """Annotations of the pods: Kueue and Volcano read them there.

    https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/apis/kueue/v1beta2/topology_types.go
    https://github.com/volcano-sh/apis/blob/v1.14.0/pkg/apis/topology/v1alpha1/labels.go
    """
    place, topology = workload.placement, cluster.topology
    if place is None or topology is None or not cluster.queues.place:
        return {}
    if cluster.queues.system.form == "kueue":
        group = {"kueue.x-k8s.io/podset-group-name": ALL} if len(workload.pod_sets) > 1 else {}
        return {f"kueue.x-k8s.io/podset-{'required' if place.required else 'preferred'}-topology": place.key} | group
    if cluster.queues.system.form == "volcano":
        mode, highest = _of_volcano(topology, place)
        annotations = {"volcano.sh/network-topology-mode": mode}
        return annotations | ({"volcano.sh/network-topology-highest-tier": f"{highest}"} if highest else {})
    return {}


def of_volcano_job(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    """What Volcano's own Job says of its place, for which its pods are not asked; empty for all others.

    https://github.com/volcano-sh/apis/blob/v1.14.0/pkg/apis/batch/v1alpha1/job.go, NetworkTopologySpec
    """
    place, topology = workload.placement, cluster.topology
    if place is None or topology is None or not cluster.queues.place or cluster.queues.system.form != "volcano":
        return {}
    mode, highest = _of_volcano(topology, place)
    return {"mode": mode} | ({"highestTierAllowed": highest} if highest else {})


def _of_volcano(topology: Topology, place: Placement) -> tuple[str, int | None]:
    """Whether a place is required, in its words, and the highest tier that one place may be of."""
    level = topology.level(place.within)
    return "hard" if place.required else "soft", tier(topology, level) if level else None
