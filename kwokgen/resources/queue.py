"""Queues of the schedulers that are not Kubernetes' own: Volcano's and KAI's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kwokgen.model.amounts import total, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.queue import Cohort, Queue, Queues
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "Queue"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()
UNLIMITED = -1
GPU = "nvidia.com/gpu"
KAI_UNITS = {"cpu": ("cpu", 1000), "memory": ("memory", 1 / 10**6), GPU: ("gpu", 1)}
"""What KAI calls a resource, and how many of its units one of ours is: millicores, and megabytes.

https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
"""


def build(cluster: Cluster) -> Iterator[Series]:
    """The cohorts, which hold queues, then the queues."""
    if cluster.queues.form == "volcano":
        for cohort in cluster.queues.cohorts:
            yield _made(cluster, cohort.name, cohort.at, _of_cohort(cluster.queues, cohort))
        for queue in cluster.queues.queues:
            yield _made(cluster, queue.name, queue.at, _of_volcano(queue))
    if cluster.queues.form == "kai":
        yield from _kai(cluster)


def _made(cluster: Cluster, name: str, at: Place, spec: dict[str, Any]) -> Series:
    return made(cluster, KIND, metadata(cluster, name), spec, at=at, by=__name__)


def _of_cohort(queues: Queues, cohort: Cohort) -> dict[str, Any]:
    """What its queues have together: the webhook refuses those that have more than the queue above them."""
    held = queues.within(cohort.name)
    deserved, most = _sums(queue.total for queue in held), _sums(queue.most for queue in held)
    # A queue without a bound has none that is summed.
    bounds = {name: most[name] for name in most if all(name in queue.most for queue in held)}
    guarantee = _sums(queue.total for queue in held if not queue.lends)
    return _shared(cohort.parent, cohort.weight) | _amounts(deserved, bounds, guarantee)


def _sums(each: Iterable[Mapping[str, str]]) -> dict[str, str]:
    done: dict[str, str] = {}
    for amounts in each:
        done |= {name: total((done.get(name, "0"), amount)) for name, amount in amounts.items()}
    return done


def _of_volcano(queue: Queue) -> dict[str, Any]:
    guarantee = {} if queue.lends else queue.total
    return _shared(queue.cohort, queue.weight) | _amounts(queue.total, queue.most, guarantee)


def _amounts(deserved: dict[str, str], most: dict[str, str], guarantee: dict[str, str]) -> dict[str, Any]:
    """https://github.com/volcano-sh/apis/blob/v1.14.0/pkg/apis/scheduling/v1beta1/types.go, QueueSpec."""
    said = {"deserved": deserved, "capability": most, "guarantee": {"resource": guarantee} if guarantee else {}}
    return {key: amounts for key, amounts in said.items() if amounts}


def _shared(parent: str | None, weight: int | None) -> dict[str, Any]:
    # Without it the server adds the weight, and reclaimable is what the webhook makes it.
    spec: dict[str, Any] = {"weight": weight or 1, "reclaimable": True}
    return spec | ({"parent": parent} if parent else {})


def _kai(cluster: Cluster) -> Iterator[Series]:
    """Jobs go into queues that are below another, so that there is one above those without a cohort."""
    queues = cluster.queues
    top = cluster.name
    if any(queue.cohort is None for queue in queues.queues):
        yield _made(cluster, top, queues.at, {"resources": _of_kai({}, {}, None)})
    for cohort in queues.cohorts:
        above = {"parentQueue": cohort.parent} if cohort.parent else {}
        yield _made(cluster, cohort.name, cohort.at, above | {"resources": _of_kai({}, {}, cohort.weight)})
    for queue in queues.queues:
        above = {"parentQueue": queue.cohort or top}
        yield _made(
            cluster, queue.name, queue.at, above | {"resources": _of_kai(queue.total, queue.most, queue.weight)}
        )


def _of_kai(total: dict[str, str], most: dict[str, str], weight: int | None) -> dict[str, Any]:
    return {
        called: {
            "quota": _number(total, name, factor),
            "limit": _number(most, name, factor),
            "overQuotaWeight": weight or 1,
        }
        for name, (called, factor) in KAI_UNITS.items()
    }


def _number(amounts: dict[str, str], name: str, factor: float) -> int:
    return round(float(worth(amounts[name])) * factor) if name in amounts else UNLIMITED
