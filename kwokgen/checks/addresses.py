"""Addresses: no two pools share one, and none is a pod's."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "addresses"
SUMMARY = "The networks of pools are apart from each other and from those of the pods"
POD_NETWORKS = IPv4Network("10.64.0.0/10")
"""What the controllers hand out addresses from, a /16 each."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Networks that overlap."""
    for pool in cluster.pools:
        if pool.addresses.overlaps(POD_NETWORKS):
            message = f"{pool.addresses} overlaps {POD_NETWORKS}, where pods have their addresses"
            yield Problem(pool.at.pos("addresses"), ID, message, "choose another network")
    for first, second in combinations(cluster.pools, 2):
        if first.addresses.overlaps(second.addresses):
            message = f'{second.addresses} overlaps {first.addresses} of pool "{first.name}"'
            yield Problem(second.at.pos("addresses"), ID, message, "give each pool a network of its own")
