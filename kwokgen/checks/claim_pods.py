"""Shared claims: no more pods at once than a claim's status can name."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem, Related

ID = "claim-pods"
SUMMARY = "At most 256 pods use a shared claim at once"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims whose pods cannot all run side by side: status.reservedFor has a place for each that does."""
    for claim in cluster.claims:
        if claim.shared:
            yield from _crowded(cluster, claim)


def _crowded(cluster: Cluster, claim: Claim) -> Iterator[Problem]:
    """At the workload with which they become too many."""
    most, pods = cluster.kubernetes.limits.pods_per_claim, 0
    for workload in cluster.parts:
        names = [used.name for used in workload.claims]
        if claim.name not in names:
            continue
        pods += workload.count * workload.parallelism
        if most is not None and pods > most:
            pos = workload.at.pos("claims", names.index(claim.name))
            message = f'{pods} pods at once share the claim "{claim.name}", {most} may'
            hint = "the others wait until some end: make it a claim for each pod, or run fewer at once"
            yield Problem(pos, ID, message, hint, "warning", (Related(claim.at.pos("shared"), "the claim is shared"),))
            return
