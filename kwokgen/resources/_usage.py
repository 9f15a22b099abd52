"""What KWOK tells of the pods and nodes it plays: its Metric and ClusterResourceUsage documents, in its own CEL.

Seen on KWOK 0.8: a second Metric of the same nodes takes the metrics of the first away, so that there is one only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen.model import quota
from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import POOL
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload
from kwokgen.series import Document

API_VERSION = "kwok.x-k8s.io/v1alpha1"
PATH = "/metrics/nodes/{nodeName}/metrics/resource"
"""Where metrics-server looks for a node's, and a kubelet has its own."""
HELD = "kwokgen.io/gpus"
"""How many GPUs a pod holds by its claims, which KWOK cannot read."""
BY_HAND = {"cpu": "kwok.x-k8s.io/usage-cpu", "memory": "kwok.x-k8s.io/usage-memory", "gpus": "kwok.x-k8s.io/usage-gpus"}
"""Annotations of a pod that say what it uses: KWOK knows the first two, its stock usage is of them."""
NOTHING = 'Quantity("0")'
SORTS = {
    "container_cpu_usage_seconds_total": ("counter", "container", 'pod.CumulativeUsage("cpu", container.name)'),
    "container_memory_working_set_bytes": ("gauge", "container", 'pod.Usage("memory", container.name)'),
    "kwokgen_pod_gpus_used": ("gauge", "pod", 'pod.Usage("gpus-used")'),
    "kwokgen_node_gpus_allocated": ("gauge", "node", 'node.Usage("gpus-allocated")'),
    "kwokgen_node_gpus_used": ("gauge", "node", 'node.Usage("gpus-used")'),
}
HELP = {
    "container_cpu_usage_seconds_total": "CPU seconds of a container.",
    "container_memory_working_set_bytes": "Bytes that a container uses.",
    "kwokgen_pod_gpus_used": "GPUs that a running pod uses.",
    "kwokgen_node_gpus": "GPUs of a node that pods can have.",
    "kwokgen_node_gpus_allocated": "GPUs of a node that pods hold.",
    "kwokgen_node_gpus_used": "GPUs of a node that running pods use.",
}
OF_NODE = {"node": "node.metadata.name", "pool": f'node.metadata.labels["{POOL}"]'}
OF_POD = {"namespace": "pod.metadata.namespace", "pod": "pod.metadata.name"}
LABELS = {"node": OF_NODE, "pod": OF_NODE | OF_POD, "container": OF_NODE | OF_POD | {"container": "container.name"}}


def measured(cluster: Cluster) -> bool:
    """Whether a controller tells what pods use: one that is there already has a configuration of its own."""
    return cluster.observability.prometheus and cluster.controller.run != "existing"


def metered(cluster: Cluster) -> bool:
    """Whether there are GPUs that can be counted."""
    return bool(_resources(cluster) or _devices(cluster))


def documents(cluster: Cluster) -> Iterator[Document]:
    """The documents of a controller's configuration."""
    if measured(cluster):
        usages = {resource: {"expression": text} for resource, text in _usages(cluster).items()}
        yield _document("ClusterResourceUsage", cluster, {"usages": [{"usage": usages}]})
        yield _document("Metric", cluster, {"path": PATH, "metrics": list(_metrics(cluster))})


def gpus(cluster: Cluster, workload: Workload) -> int:
    """How many whole GPUs each pod has by its own claims."""
    asked = quota.asked(workload, cluster.queues.classes)
    names = {name for pool in cluster.pools if pool.slices and (name := quota.gpus(pool))}
    return sum(int(worth(amount)) for name, amount in asked.items() if name in names)


def _document(kind: str, cluster: Cluster, spec: dict[str, Any]) -> Document:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": cluster.name}, "spec": spec}


def _usages(cluster: Cluster) -> dict[str, str]:
    """By resource, how much of it a container uses, or its pod holds."""
    requested = {name: f'container.resources.requests["{name}"]' for name in ("cpu", "memory")}
    done = {name: _running(_said(BY_HAND[name], text)) for name, text in requested.items()}
    if metered(cluster):
        held = _held(cluster)
        done["gpus-allocated"] = f'pod.status.phase in ["Pending", "Running"] ? {held} : {NOTHING}'
        done["gpus-used"] = _running(_said(BY_HAND["gpus"], held))
    return done


def _running(text: str) -> str:
    return f'pod.status.phase == "Running" ? {text} : {NOTHING}'


def _said(annotation: str, otherwise: str) -> str:
    """What an annotation says of a pod, for its first container."""
    of_pod = f'pod.metadata.annotations["{annotation}"]'
    first = f"container.name == pod.spec.containers[0].name ? Quantity({of_pod}) : {NOTHING}"
    return f'("{annotation}" in pod.metadata.annotations ? ({first}) : {otherwise})'


def _held(cluster: Cluster) -> str:
    requested = [f'container.resources.requests["{name}"]' for name in _resources(cluster)]
    claimed = [_said(HELD, NOTHING)] if _devices(cluster) else []
    return f"({' + '.join([*claimed, *requested])})"


def _metrics(cluster: Cluster) -> Iterator[dict[str, Any]]:
    for name, (kind, dimension, value) in SORTS.items():
        if "gpus" not in name or metered(cluster):
            yield _metric(cluster, name, kind, dimension, value)
    if metered(cluster):
        yield _metric(cluster, "kwokgen_node_gpus", "gauge", "node", _there(cluster))


def _metric(cluster: Cluster, name: str, kind: str, dimension: str, value: str) -> dict[str, Any]:
    texts = {**LABELS[dimension], "bundle": f'"{cluster.name}"'}
    labels = [{"name": label, "value": text} for label, text in texts.items()]
    said = {"name": name, "help": HELP[name], "kind": kind, "dimension": dimension}
    return {**said, "labels": labels, "value": value}


def _there(cluster: Cluster) -> str:
    """The GPUs of a node: allocatable ones as they are now, devices as they were made."""
    allocatable = " + ".join(f'node.status.allocatable["{name}"]' for name in _resources(cluster)) or NOTHING
    devices = ", ".join(f'"{pool}": "{number}"' for pool, number in _devices(cluster).items())
    if not devices:
        return allocatable
    pool = OF_NODE["pool"]
    return f"{pool} in {{{devices}}} ? Quantity({{{devices}}}[{pool}]) : {allocatable}"


def _resources(cluster: Cluster) -> tuple[str, ...]:
    """The extended resources that GPUs are."""
    whole = {name for pool in cluster.pools if (name := quota.gpus(pool))}
    asked = {name for workload in cluster.parts for name in workload.requests}
    by_class = {name for name in asked if quota.of_class(cluster.queues.stock.class_of(name) or "") in whole}
    return tuple(sorted({pool.resource for pool in cluster.pools if pool.resource} | by_class))


def _devices(cluster: Cluster) -> Mapping[str, int]:
    """By pool, how many GPUs a node has as devices that one claim has each; none where they are cut or shared."""
    return {pool.name: len(pool.gpus.devices.devices) for pool in cluster.pools if pool.gpus and _whole(pool)}


def _whole(pool: Pool) -> bool:
    devices = pool.gpus.devices.devices if pool.gpus and pool.slices else ()
    return bool(devices) and all(device.whole and not device.policies for device in devices)
