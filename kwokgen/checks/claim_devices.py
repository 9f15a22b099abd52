"""Claims: no more devices than a claim may take, or its pods wait for ever."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "claim-devices"
SUMMARY = "A claim asks for at most 32 devices"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims that the API server takes and the scheduler never allocates."""
    most = cluster.kubernetes.limits.devices_per_claim
    for claim in cluster.claims:
        total = sum(request.count or 0 for request in claim.requests)
        if total > most:
            largest = max(claim.requests, key=lambda request: request.count or 0)
            message = f'claim "{claim.name}" asks for {total} devices, a claim may have {most}'
            yield Problem(largest.at.pos("count"), ID, message, "the API server takes it and its pods wait for ever")
