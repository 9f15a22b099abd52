"""Gangs of several roles: all of their pods have room at once, those of one role beside those of another."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._packing import packed
from kwokgen.checks._placing import asked, empty, key, placed, short
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "gang-roles"
SUMMARY = "A gang of several roles has room at once on nodes where nothing else runs: by its sums, and by first fit with the largest first"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """An error where the sums are too large, a warning where only no place is found; of a role that has no room alone, pod-node speaks."""
    for workload in cluster.workloads:
        if not workload.gang or not workload.roles:
            continue
        nodes, wanted = empty(cluster, workload.roles), asked(cluster, workload.roles)
        pods = [(part, part.parallelism) for part in workload.roles]
        alone = not any(packed(nodes, wanted[key(part)], number)[1] for part, number in pods)
        if alone and placed(nodes, pods, wanted)[1]:
            yield _crowded(workload, short(nodes, pods, wanted))


def _crowded(workload: Workload, sums: str) -> Problem:
    what = f"a gang of {workload.parallelism} pods"
    where = "its sums fit, but first fit with the largest first finds no place for all of its roles"
    message = f"{what} asks for {sums}" if sums else f"{what} may never begin: {where}"
    hint = "ask for less, or for other pools: as it is, it would wait for ever"
    return Problem(workload.at.pos("gang"), ID, message, hint, "error" if sums else "warning")
