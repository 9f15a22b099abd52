"""Claims: no more devices than a claim may take, or its pods wait for ever."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.claim import Ask, Claim
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "claim-devices"
SUMMARY = "A claim asks for at most 32 devices"
WAITS = "the API server takes it and its pods wait for ever"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims that the API server takes and the scheduler never allocates."""
    most = cluster.kubernetes.limits.devices_per_claim
    for claim in cluster.claims:
        total = sum(request.least for request in claim.requests)
        if total > most:
            message = f'claim "{claim.name}" asks for {total} devices, a claim may have {most}'
            yield Problem(_largest(claim).at.pos("count"), ID, message, WAITS)
        for request in claim.requests:
            for ask in request.asks:
                yield from _everything(cluster, ask, most)


def _largest(claim: Claim) -> Ask:
    return max((ask for request in claim.requests for ask in request.asks), key=lambda ask: ask.count or 0)


def _everything(cluster: Cluster, ask: Ask, most: int) -> Iterator[Problem]:
    """All devices of a node, where every node that has any has too many."""
    found = [len(devices.offered(ask.device_class)) for devices in cluster.published]
    numbers = [number for number in found if number]
    if ask.count is None and not ask.selectors and numbers and min(numbers) > most:
        message = f"All is {min(numbers)} devices of a node or more, a claim may have {most}"
        yield Problem(ask.at.pos("allocationMode"), ID, message, WAITS)
