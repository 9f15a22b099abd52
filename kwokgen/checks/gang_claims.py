"""Gangs: no more claims of their own than a PodGroup may have."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Pos, Problem

ID = "gang-claims"
SUMMARY = "A gang has at most 4 claims of its own"
MOST = 4
"""https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/api/scheduling/v1beta1/types.go, PodGroupSpec."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """The first claim above the limit."""
    for workload in cluster.workloads:
        places: dict[str, Pos] = {}
        for part in workload.parts:
            for index, claim in enumerate(part.claims):
                if claim.of_gang:
                    places.setdefault(claim.name, part.at.pos("claims", index))
        if len(places) > MOST:
            message = f"{len(places)} claims of the gang, it may have {MOST}"
            yield Problem([*places.values()][MOST], ID, message, "ask for more devices in one claim")
