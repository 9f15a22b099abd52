"""Workloads: the nodes that their pods may run on have what each of their claims asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kwokgen.checks._room import rooms
from kwokgen.checks._wants import Want, Wanted, met, most, patched, wants
from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem, quoted

ID = "claim-pool"
SUMMARY = "Some node that a workload's pods may run on has what each of their claims asks for"
WHOLE = True


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
    for part in _parts(cluster):
        yield from _nowhere(cluster, part, [found[claim.name] for claim in part.claims])


def _nowhere(cluster: Cluster, part: Workload, claims: Sequence[Met]) -> Iterator[Problem]:
    names = {pool.name for pool in part.pools}
    never = [index for index, each in enumerate(claims) if names and not names.intersection(*each.pools)]
    for index in never:
        if not claims[index].said:
            message = _message(cluster, part.claims[index].name, claims[index], part.pools)
            yield Problem(part.at.pos("claims", index), ID, message, _hint(cluster, claims))
    if not never and not names & _of_all(cluster, claims) and _has_room(cluster, part):
        who = quoted(claim.name for claim in part.claims)
        message = f"no node of {quoted(names)} has all that {who} ask for together"
        yield Problem(part.at.pos("claims"), ID, message, _hint(cluster, claims))


def _parts(cluster: Cluster) -> Iterable[Workload]:
    """Those with claims, of the many jobs of a trace one."""
    with_claims = (part for part in cluster.parts if part.claims)
    return {(part.at.pos("claims"), tuple(pool.name for pool in part.pools)): part for part in with_claims}.values()


def _has_room(cluster: Cluster, part: Workload) -> bool:
    """Whether pod-node has nothing to say."""
    return any(all(room.pods for room in rooms(cluster, part, pool).values()) for pool in part.pools)


def _met(cluster: Cluster, claim: Claim) -> Met:
    wanted = tuple(wants(cluster, claim))
    pools = tuple(frozenset(pool.name for pool in cluster.pools if met(cluster, pool, each)) for each in wanted)
    return Met(wanted, pools, any(all(_said(cluster, want) for want in each) for each in wanted))


def _message(cluster: Cluster, name: str, own: Met, pools: Sequence[Pool]) -> str:
    names = {pool.name for pool in pools}
    never = [each for each, there in zip(own.wanted, own.pools, strict=True) if not names & there]
    if not never or len(never[0]) > 1:
        return f'no node of {quoted(names)} has all that "{name}" asks for'
    (want,) = never[0]
    has = max(most(cluster, pool, want) for pool in pools)
    kept_off = any(most(cluster, pool, want.tolerant) > has for pool in pools)
    taints = " without a taint that it does not tolerate" if kept_off else ""
    return f'"{name}" asks for {_text(want)}, no node of {quoted(names)} has more than {has}{taints}'


def _of_all(cluster: Cluster, claims: Iterable[Met]) -> set[str]:
    """The pools whose nodes have what several claims ask for."""
    return {pool.name for pool in cluster.pools}.intersection(*(pools for each in claims for pools in each.pools))


def _hint(cluster: Cluster, claims: Iterable[Met]) -> str:
    others = _of_all(cluster, claims)
    what = f"name pools whose nodes have it: {quoted(others)}" if others else "ask for what one node has"
    return f"{what}; as it is, its pods would wait for ever"


def _said(cluster: Cluster, want: Want) -> bool:
    best = max(most(cluster, pool, want.tolerant) for pool in cluster.pools)
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
