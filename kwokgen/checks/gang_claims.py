"""Gangs: no more claims of their own than a PodGroup may have."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "gang-claims"
SUMMARY = "A gang has at most 4 claims of its own"
MOST = 4
"""https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/api/scheduling/v1beta1/types.go, PodGroupSpec."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """The first claim above the limit."""
    for workload in cluster.workloads:
        own = [
            (claim.name, part.at, index)
            for part in workload.parts
            for index, claim in enumerate(part.claims)
            if claim.of_gang
        ]
        places = {name: at.pos("claims", index) for name, at, index in reversed(own)}
        if len(places) > MOST:
            message = f"{len(places)} claims of the gang, it may have {MOST}"
            yield Problem([*reversed(places.values())][MOST], ID, message, "ask for more devices in one claim")
