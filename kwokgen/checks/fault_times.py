"""Faults: nodes that can have them at the time that is said."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem

ID = "fault-time"
SUMMARY = "Faults begin when nodes are Ready, and last until KWOK has looked at them"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Warnings of what is late, or not seen at all."""
    for pool in cluster.pools:
        for fault in cluster.faults_of(pool):
            yield from _early(fault, pool)
            yield from _short(fault, pool)


def _early(fault: Fault, pool: Pool) -> Iterator[Problem]:
    ready = ceil((pool.lifecycle.ready or (0, 0))[1] / 1000)
    if fault.start.sort == "after" and fault.start.seconds < ready:
        message = f"nodes of {pool.name} are Ready up to {ready} s after their creation, and have no fault before"
        yield Problem(fault.at.pos("start"), ID, message, f"such as start: {{after: {ready}s}}", "warning")


def _short(fault: Fault, pool: Pool) -> Iterator[Problem]:
    """Without leases nothing but heartbeats makes KWOK look at a node."""
    beat = ceil(pool.lifecycle.heartbeat / 1000)
    lasting = [step.end - step.begin for step in fault.steps if step.end is not None]
    if fault.repeat and lasting:
        lasting.append(fault.repeat.every - sum(lasting))
    if beat and lasting and 0 < min(lasting) < beat:
        message = f"nodes of {pool.name} are looked at every {beat} s, which may be too late for {min(lasting)} s"
        hint = "write a shorter heartbeat, or nodes: heartbeat-lease"
        yield Problem(fault.at.pos("for"), ID, message, hint, "warning")
