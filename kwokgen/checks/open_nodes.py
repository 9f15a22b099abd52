"""Pools without any taint: pods that are not of the bundle can land on their nodes."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "open-nodes"
SUMMARY = "Nodes carry a taint that keeps other pods away"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Pools with fakeTaint: false and no taint of their own."""
    for pool in cluster.pools:
        if not pool.taints:
            message = f'nodes of "{pool.name}" have no taint: real pods of the cluster can land on them and never run'
            yield Problem(pool.at.pos("fakeTaint"), ID, message, severity="warning")
