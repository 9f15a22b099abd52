"""Names of queues: none that the system has a queue of itself, and of one place in its tree no two."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queues
from kwokgen.problem import Problem, quoted

ID = "queue-name"
SUMMARY = "Queues and cohorts have names that the system leaves to them"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Names that are taken."""
    queues = cluster.queues
    system = queues.system
    named = [(each.name, each.at) for each in queues.cohorts] + [(each.name, each.at) for each in queues.queues]
    for name, at in named:
        if name in system.reserved:
            message = f'{system.name} has a queue "{name}" itself'
            yield Problem(at.pos("name"), ID, message, f"take another name than {quoted(system.reserved)}")
    if system.form == "yunikorn":
        yield from _siblings(queues)


def _siblings(queues: Queues) -> Iterator[Problem]:
    """To YuniKorn cohorts are queues, which have their names from those above them."""
    taken = {(cohort.parent, cohort.name) for cohort in queues.cohorts}
    for queue in queues.queues:
        if (queue.cohort, queue.name) in taken:
            message = (
                f'a cohort beside the queue "{queue.name}" has its name, and both are queues of {queues.system.name}'
            )
            yield Problem(queue.at.pos("name"), ID, message, "give one of them another name")
