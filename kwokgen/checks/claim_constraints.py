"""Claims: some node has as many devices that agree, or differ, as a constraint is for."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._wants import Want, constrained, met, most, patched
from kwokgen.model.claim import Claim, Constraint
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "claim-constraint"
SUMMARY = "Some node has as many devices with, or without, a value in common as a claim asks for"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Constraints that no node of the bundle can meet."""
    for claim in cluster.claims if not patched(cluster) else ():
        if claim.constraints and not _only_shown(cluster, claim):
            for constraint in claim.constraints:
                for want in constrained(cluster, claim, constraint):
                    yield from _of(cluster, constraint, want)


def _only_shown(cluster: Cluster, claim: Claim) -> bool:
    """Whether all that use it is suspended: a claim that cannot be met may be what is shown."""
    users = [part for part in cluster.parts if any(used.name == claim.name for used in part.claims)]
    return bool(users) and all(part.suspend for part in users)


def _of(cluster: Cluster, constraint: Constraint, want: Want) -> Iterator[Problem]:
    """Of what no node has at all, and of more devices than any has, other checks speak."""
    best = max((most(cluster, pool, want) for pool in cluster.pools), default=0)
    there = any(met(cluster, pool, (want._replace(constraint=None),)) for pool in cluster.pools)
    if there and 0 < best < want.count:
        key, does = ("distinctAttribute", "differ in") if constraint.distinct else ("matchAttribute", "have the same")
        message = f'{want.count} devices are to {does} "{constraint.attribute}", on no node more than {best} do'
        hint = f"a claim's devices are those of one node: ask for no more than {best}, or leave the constraint out"
        yield Problem(constraint.at.pos(key), ID, message, hint)
