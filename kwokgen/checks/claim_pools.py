"""Workloads: the nodes that their pods may run on have what each of their claims asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kwokgen.checks._wants import Want, Wanted, met, most, patched, wants
from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, quoted

ID = "claim-pool"
SUMMARY = "Some node that a workload's pods may run on has what each of their claims asks for"
WHOLE = True
Used = tuple[Pos, Claim, Workload]


class Met(NamedTuple):
    """What a claim asks one node for, with the names of the pools whose nodes have it.

    `said` is whether it is more than any node of the bundle has: of that other checks speak, at the claim.
    """

    wanted: tuple[Wanted, ...]
    pools: tuple[frozenset[str], ...]
    said: bool


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims that no node of the workload's pools can meet, and others could, or none all of at once."""
    if patched(cluster):
        return
    used = {claim.name: claim for part in cluster.parts for claim in part.claims}
    found = {name: _met(cluster, claim) for name, claim in used.items()}
    for pos, claim, part in _used(cluster):
        own, names = found[claim.name], {pool.name for pool in part.pools}
        if names and not own.said and not names.intersection(*own.pools):
            message = _message(cluster, claim.name, own, part.pools)
            hint = _hint(cluster, [found[each.name] for each in part.claims])
            yield Problem(pos, ID, message, f"{hint}; as it is, its pods would wait for ever")


def _met(cluster: Cluster, claim: Claim) -> Met:
    wanted = tuple(wants(cluster, claim))
    pools = tuple(frozenset(pool.name for pool in cluster.pools if met(cluster, pool, each)) for each in wanted)
    return Met(wanted, pools, any(all(_said(cluster, want) for want in each) for each in wanted))


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


def _message(cluster: Cluster, name: str, own: Met, pools: Sequence[Pool]) -> str:
    names = {pool.name for pool in pools}
    never = [each for each, there in zip(own.wanted, own.pools, strict=True) if not names & there]
    if not never or len(never[0]) > 1:
        return f'no node of {quoted(names)} has all that "{name}" asks for'
    (want,) = never[0]
    has = max(most(cluster, pool, want) for pool in pools)
    return f'"{name}" asks for {_text(want)}, no node of {quoted(names)} has more than {has}'


def _hint(cluster: Cluster, claims: Iterable[Met]) -> str:
    """The pools that have all claims of a pod."""
    every = {pool.name for pool in cluster.pools}
    others = every.intersection(*(pools for each in claims for pools in each.pools))
    return f"name pools whose nodes have it: {quoted(others)}" if others else "ask for what one node has"


def _said(cluster: Cluster, want: Want) -> bool:
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
