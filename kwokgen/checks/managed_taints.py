"""Taints that are the cluster's to set."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "managed-taint"
SUMMARY = "Taints of nodes are not those that follow a node's conditions"
DOMAIN = "node.kubernetes.io/"
FAULTS = {
    "not-ready": "node-not-ready",
    "unreachable": "node-not-ready",
    "unschedulable": "cordoned",
    "memory-pressure": "memory-pressure",
    "disk-pressure": "disk-pressure",
    "pid-pressure": "pid-pressure",
    "network-unavailable": "network-unavailable",
}
"""By taint, the fault that has it.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/controller/nodelifecycle/node_lifecycle_controller.go,
taintKeyToNodeConditionMap.
"""
LASTING = ("not-ready", "unreachable")
"""Of NoExecute, only these follow conditions."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Taints that the node lifecycle controller takes away again within seconds."""
    for pool in cluster.pools:
        for index, taint in enumerate(pool.own_taints):
            word = taint.key.removeprefix(DOMAIN) if taint.key.startswith(DOMAIN) else ""
            if word in FAULTS and (taint.effect == "NoSchedule" or (word in LASTING and taint.effect == "NoExecute")):
                message = f"the node lifecycle controller takes {taint.key}:{taint.effect} from nodes whose conditions do not say it"
                hint = f"a fault of the nodes says it: fault: {FAULTS[word]}"
                yield Problem(pool.at.pos("taints", index, "key"), ID, message, hint)
