"""What a queue system is known to get wrong, where a blueprint would meet it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kwokgen.model.claim import Ask, Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, Related

ID = "queue-fault"
SUMMARY = "Queued jobs keep clear of what the queue system is known to get wrong"
BEFORE_V1 = "claims-before-v1"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Each place that meets a fault of the catalogue."""
    system = cluster.queues.system
    queued = [workload for workload in cluster.parts if workload.queue]
    old = cluster.kubernetes.resource_api != "v1"
    for fault, trouble in ((key, each) for key, each in system.faults.items() if old or key != BEFORE_V1):
        places = (found for workload in queued for found in _MEETS[fault](workload)) if fault in _MEETS else ()
        for pos, why in places:
            message = f"{system.name}: {trouble.summary[0].lower()}{trouble.summary[1:]}"
            hint = f"kwokgen catalog systems {system.name} has it as {fault}"
            yield Problem(pos, ID, message, hint, "error" if trouble.refuses else "warning", tuple(why))


Meeting = Iterator[tuple[Pos, list[Related]]]
"""A place that meets a fault, and what makes it do so."""


def _suspended(workload: Workload) -> Meeting:
    if workload.suspend:
        yield workload.at.pos("suspend"), []


def _own(workload: Workload) -> Iterator[tuple[Pos, Claim]]:
    """The templates among its claims, and where it names them."""
    for index, claim in enumerate(workload.claims):
        if not claim.shared:
            yield workload.at.pos("claims", index), claim


def _shared(workload: Workload) -> Meeting:
    for index, claim in enumerate(workload.claims):
        if claim.shared:
            yield workload.at.pos("claims", index), []


def _claims(wrong: Callable[[Claim], Pos | None]) -> Callable[[Workload], Meeting]:
    def meets(workload: Workload) -> Meeting:
        for pos, claim in _own(workload):
            if at := wrong(claim):
                yield pos, [Related(at, "asks for it")]

    return meets


def _asks(wrong: Callable[[Ask], Pos | None]) -> Callable[[Workload], Meeting]:
    def found(claim: Claim) -> Pos | None:
        return next((at for request in claim.requests for ask in request.asks if (at := wrong(ask))), None)

    return _claims(found)


def _alternatives(claim: Claim) -> Pos | None:
    return next((each.at.pos("firstAvailable") for each in claim.requests if each.first_available), None)


def _admin(claim: Claim) -> Pos | None:
    return next((each.at.pos("adminAccess") for each in claim.requests if each.admin), None)


_MEETS: dict[str, Callable[[Workload], Meeting]] = {
    BEFORE_V1: lambda workload: ((pos, []) for pos, _ in _own(workload)),
    "claims-for-an-admin": _claims(_admin),
    "claims-of-all": _asks(lambda ask: ask.at.pos("allocationMode") if ask.count is None else None),
    "claims-of-alternatives": _claims(_alternatives),
    "claims-with-config": _claims(lambda claim: claim.at.pos("config") if claim.config else None),
    "claims-with-constraints": _claims(lambda claim: claim.at.pos("constraints") if claim.constraints else None),
    "claims-with-selectors": _asks(lambda ask: ask.at.pos("selectors") if ask.selectors else None),
    "shared-claims-uncounted": _shared,
    "starts-what-is-suspended": _suspended,
}
