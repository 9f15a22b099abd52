"""Jobs that come one after another: the last of them has a wave."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.length import MOST_SECONDS
from kwokgen.problem import Problem

ID = "arrival-time"
SUMMARY = "The last job of a workload comes within the time that the names of waves can say"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Workloads whose last job comes too late; each job is drawn only where that could be."""
    for one in cluster.workloads:
        if one.arrival and one.arrival.latest(one.count) > MOST_SECONDS * 1000:
            last = one.arrival.moments(cluster.seed, one.name, one.count)[-1] // 1000
            if last > MOST_SECONDS:
                message = f"the last of {one.count} jobs comes after {last} s, {MOST_SECONDS} is the most"
                yield Problem(one.at.pos("arrival"), ID, message, "make fewer jobs, or let them come sooner")
