"""Nodes that say too seldom that they live."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.problem import Problem

ID = "silent-nodes"
SUMMARY = "Nodes renew their lease, or write their heartbeat, within the grace period of the node lifecycle controller"
GRACE = 50
"""Seconds after which a silent node is NotReady, unless the cluster says another number, from 1.32 on.

https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/controller/nodelifecycle/config/v1alpha1/defaults.go
"""
OPTION = "where the controller manager's --node-monitor-grace-period is not longer than its 50s"


def check(cluster: Cluster) -> Iterator[Problem]:
    """The lease of all, or else the heartbeats of each lifecycle that has no lease."""
    renewal = cluster.controller.renewal_seconds
    lives = {pool.lifecycle.name: pool.lifecycle for pool in cluster.pools}
    silent = [life for life in lives.values() if _silent(life, renewal)]
    if silent and renewal:
        message = (
            f"KWOK renews a lease after a quarter of this, {renewal:g} s: nodes fall NotReady between two renewals"
        )
        pos = cluster.controller.at.pos("nodeLeaseDuration")
        yield Problem(pos, ID, f"{message} {OPTION}", "write 160s or less, such as 40s", "warning")
    for life in () if renewal else silent:
        message = f"nodes without leases fall NotReady between two heartbeats {OPTION}"
        yield Problem(life.at.pos("heartbeat"), ID, message, "write 40s or less, or give the nodes leases", "warning")


def _silent(life: Lifecycle, renewal: float) -> bool:
    signs = [seconds for seconds in (renewal, life.heartbeat / 1000) if seconds]
    return bool(signs) and min(signs) > GRACE
