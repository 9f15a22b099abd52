"""What queues have, and what pods and claims take of it, as the system at hand counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from kwokgen.model.amounts import spelt, total, worth
from kwokgen.model.claim import Claim, Request
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.queue import Queue, Quota
from kwokgen.model.quota import asked, of_class
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos

PODS = "pods"
ALL = 32
"""What a ResourceQuota takes all devices for: AllocationResultsMaxSize of
https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/quota/v1/evaluator/core/resource_claims.go, Usage."""
HINT_OF_ALL = f"raise the quota, or write a count: it takes a request of all devices for one of {ALL}"


def where(at: Place) -> Pos:
    """Where a workload, or a role, says its queue; itself where it does not."""
    return at.pos("queue") if at.raw("queue") else at.pos()


def taken(cluster: Cluster, part: Workload, queue: Queue) -> dict[str, str]:
    """What one pod takes of a queue; that it is one too, of which the other schedulers are not known to count any."""
    form = cluster.queues.system.form
    done = of_namespace(part) if form == "default" else asked(part, cluster.queues.classes)
    if form in {"default", "kueue"} and any(PODS in quota.all for quota in queue.quotas):
        done[PODS] = "1"
    return done


def of_namespace(part: Workload) -> dict[str, str]:
    """What a ResourceQuota counts of one pod: devices by the class that is asked, whatever the class selects."""
    own = devices(claim for claim in part.claims if not claim.shared and not claim.of_gang)
    return {name: total((part.requests.get(name, "0"), f"{own[name]}")) for name in {**part.requests, **own}}


def devices(claims: Iterable[Claim]) -> Counter[str]:
    """What a ResourceQuota counts of claims."""
    done: Counter[str] = Counter()
    for request in (request for claim in claims for request in claim.requests):
        done.update(_most(request))
    return done


def _most(request: Request) -> dict[str, int]:
    """Of alternatives the most of each class."""
    done: dict[str, int] = {}
    for ask in request.asks:
        name = of_class(ask.device_class)
        done[name] = max(done.get(name, 0), ALL if ask.count is None else ask.count)
    return done


def all_of(claim: Claim) -> bool:
    """Whether it asks for all devices of a class."""
    return any(ask.count is None for request in claim.requests for ask in request.asks)


def shared(cluster: Cluster, queue: Queue) -> tuple[Claim, ...]:
    """The claims that its ResourceQuota counts before any pod has come."""
    home = cluster.home(queue.name) if cluster.queues.system.form == "default" else None
    return tuple(claim for claim in cluster.claims if home and claim.shared and claim.namespace == home)


def guaranteed(cluster: Cluster, queue: Queue, part: Workload) -> bool:
    """Whether it is never preempted, and so gets nothing of what its queue may borrow."""
    rule = cluster.queues.system.guarantee
    if rule is None or queue.most == queue.total:
        return False
    if rule.label in part.labels:
        return part.labels[rule.label] == rule.value
    return part.priority is not None and part.priority >= rule.priority


def bounds(cluster: Cluster, queue: Queue, *, own: bool = False) -> Mapping[str, str]:
    """The most that pods may have together, whatever the pool; without what has no limit. `own` is without borrowing."""
    if "borrow" in cluster.queues.system.words:
        return queue.total if own else queue.most
    gone = devices(shared(cluster, queue))
    rest = {name: max(worth(amount) - gone[name], Decimal(0)) for name, amount in queue.total.items() if name in gone}
    return {**queue.total, **{name: spelt(left) for name, left in rest.items()}}


def has(cluster: Cluster, queue: Queue, resource: str, *, own: bool = False) -> str:
    """The end of a sentence about a bound."""
    beside = " beside its shared claims" if resource in devices(shared(cluster, queue)) else ""
    beside += ", and jobs that are never preempted borrow nothing" if own else ""
    return f"it has {bounds(cluster, queue, own=own)[resource]}{beside}"


def room(cluster: Cluster, queue: Queue, quota: Quota, resource: str) -> Decimal:
    """The most that a queue can have of a pool, with what others lend it."""
    own = worth(quota.all.get(resource, "0"))
    borrows = quota.borrowed is None or worth(quota.borrowed.get(resource, "0"))
    if queue.cohort is None or not borrows:
        return own
    lent = sum((worth(other.all.get(resource, "0")) for other in _lenders(cluster, queue, quota.pool)), Decimal(0))
    return own + (lent if quota.borrowed is None else min(lent, worth(quota.borrowed[resource])))


def _lenders(cluster: Cluster, queue: Queue, pool: str) -> Iterator[Quota]:
    queues = cluster.queues
    for other in queues.queues:
        beside = other.cohort and queue.cohort and queues.above(other.cohort)[-1] == queues.above(queue.cohort)[-1]
        if beside and other.lends and other.name != queue.name:
            yield from (quota for quota in other.quotas if quota.pool == pool)
