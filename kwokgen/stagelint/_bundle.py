"""Rules between a lifecycle and what else there is in a bundle."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from kwokgen import gotemplate
from kwokgen.model.cluster import Cluster
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.problem import Problem, Related
from kwokgen.stagelint._between import CODE, WHOLE_SECONDS
from kwokgen.stagelint._filling import filled, read
from kwokgen.stagelint._stage import patches

JOB = re.compile(r"^\s*kind:\s*(Job|JobSet|PyTorchJob|TrainJob)\s*$", re.MULTILINE)


def check(cluster: Cluster, lifecycle: Lifecycle) -> Iterator[Problem]:
    """What a lifecycle leaves undone for the bundle's jobs, and what the bundle's faults undo of it."""
    yield from _endless_jobs(cluster, lifecycle)
    yield from _delayed_anew(cluster, lifecycle)


def _endless_jobs(cluster: Cluster, lifecycle: Lifecycle) -> Iterator[Problem]:
    jobs = (
        one
        for one in cluster.workloads
        if one.lifecycle is lifecycle and one.kind.ends and JOB.search(one.template.text)
    )
    job = next(jobs, None)
    written = " ".join(text for stage in lifecycle.stages for text in stage.templates)
    # A phase that is computed may be any.
    if job and not re.search(r"Succeeded|Failed|phase\W+\{\{", written):
        message = f'no Stage ends pods: the jobs of "{job.name}" never complete'
        hint = "add a step that writes phase: Succeeded, as complete of the profile timed does"
        related = (Related(job.at.pos("lifecycle"), "has pods of this lifecycle"),)
        yield Problem(lifecycle.entry.pos("stages"), CODE, message, hint, "warning", related)


def _delayed_anew(cluster: Cluster, lifecycle: Lifecycle) -> Iterator[Problem]:
    """Delays of nodes that the Stages of faults, and their clock, begin again with each of their writes."""
    pools = [pool for pool in cluster.pools if pool.lifecycle is lifecycle]
    faults = [fault for pool in pools for fault in cluster.faults_of(pool) if fault.stages]
    if not faults:
        return
    functions = cluster.controller.kwok.called(lifecycle.kind)
    for stage in lifecycle.stages:
        delay = stage.spec.get("delay", {})
        fixed = delay.get("durationMilliseconds", 0) and "durationFrom" not in delay
        if fixed and _runs(stage) and not _beats(stage, functions):
            message = f'each write of the fault "{faults[0].name}" begins this delay anew'
            hint = "add until: the moment it ends, which no write puts off"
            related = (Related(faults[0].at.pos(), "writes to the same nodes"),)
            pos = lifecycle.entry.pos("stages", stage.number, "delay")
            yield Problem(pos, CODE, message, hint, "warning", related)


def _runs(stage: Stage) -> bool:
    """Whether it is for nodes that have been initialised, before which there are no faults."""
    return bool((stage.sample.get("status") or {}).get("phase") == "Running")


def _beats(stage: Stage, functions: Collection[str]) -> bool:
    """Whether all it writes are times: a heartbeat that comes later does no harm."""
    made = [filled(gotemplate.parse(patch.text, functions)) for patch in patches(stage.spec)]
    return bool(made) and all(_times(read(text.text)[0]) for text in made)


def _times(value: Any, key: str = "") -> bool:
    if isinstance(value, dict):
        return all(_times(below, str(name)) for name, below in value.items())
    if isinstance(value, list):
        return all(_times(below, key) for below in value)
    return key == "type" or bool(WHOLE_SECONDS.fullmatch(key))
