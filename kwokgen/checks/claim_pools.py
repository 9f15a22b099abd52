"""Workloads: the nodes that their pods may run on have what each of their claims asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kwokgen.checks._wants import Want, Wanted, met, most, wants
from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, quoted

ID = "claim-pool"
SUMMARY = "Some node that a workload's pods may run on has what each of their claims asks for"
WHOLE = True
PATCHED = ("ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds of which a patch says something else than the blueprint's words do."""
Used = tuple[Pos, Claim, Workload]
Wants = Mapping[str, Sequence[Wanted]]
"""By the name of a claim."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims that no node of the workload's pools can meet, and others could, or none all of at once."""
    if any(patch.kind in PATCHED and "spec" in patch.merge for patch in cluster.patches):
        return
    by_claim = {claim.name: tuple(wants(cluster, claim)) for claim in cluster.claims}
    for pos, claim, part in _used(cluster):
        wanted = by_claim[claim.name]
        nowhere = part.pools and not any(_meets(cluster, pool, wanted) for pool in part.pools)
        if nowhere and not any(all(_said(cluster, want) for want in each) for each in wanted):
            message = _message(cluster, claim.name, wanted, part.pools)
            yield Problem(pos, ID, message, f"{_hint(cluster, part, by_claim)}; as it is, its pods would wait for ever")


def _used(cluster: Cluster) -> Iterator[Used]:
    """Each claim where it is used, once for the many jobs of a trace."""
    known = set()
    for part in cluster.parts:
        names = tuple(pool.name for pool in part.pools)
        for index, claim in enumerate(part.claims):
            pos = part.at.pos("claims", index)
            if (pos, names) not in known:
                yield pos, claim, part
            known.add((pos, names))


def _message(cluster: Cluster, name: str, wanted: Sequence[Wanted], pools: Sequence[Pool]) -> str:
    names = quoted(pool.name for pool in pools)
    never = [each for each in wanted if not any(met(cluster, pool, each) for pool in pools)]
    if not never or len(never[0]) > 1:
        return f'no node of {names} has all that "{name}" asks for'
    (want,) = never[0]
    has = max(most(cluster, pool, want) for pool in pools)
    return f'"{name}" asks for {_text(want)}, no node of {names} has more than {has}'


def _hint(cluster: Cluster, part: Workload, by_claim: Wants) -> str:
    wanted = [each for claim in part.claims for each in by_claim[claim.name]]
    others = [pool.name for pool in cluster.pools if _meets(cluster, pool, wanted)]
    return f"name pools whose nodes have it: {quoted(others)}" if others else "ask for what one node has"


def _meets(cluster: Cluster, pool: Pool, wanted: Iterable[Wanted]) -> bool:
    return all(met(cluster, pool, each) for each in wanted)


def _said(cluster: Cluster, want: Want) -> bool:
    """Whether it is more than any node of the bundle has, which is said at the claim."""
    best = max(most(cluster, pool, want) for pool in cluster.pools)
    if want.constraint:
        return best < want.count
    return best < min(want.count, 1) or not any(met(cluster, pool, (want.of_class,)) for pool in cluster.pools)


def _text(want: Want) -> str:
    number = "all" if want.ask and want.ask.count is None else want.count
    parts = [f'{number} device{"s" if number != 1 else ""} of the class "{want.device_class}"']
    if want.ask and want.ask.model:
        parts.append(f'of the model "{want.ask.model.name}"')
    if want.ask and want.ask.at.raw("profile"):
        parts.append(f'of the profile "{want.ask.at.raw("profile")}"')
    if want.ask and want.ask.at.node.child("selectors"):
        parts.append("that its selectors select")
    if want.constraint:
        shared = "that differ in" if want.constraint.distinct else "with the same"
        parts.append(f'{shared} "{want.constraint.attribute}"')
    return " ".join(parts)
