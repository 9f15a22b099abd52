"""Stages that make pods fail: pure functions of what the pod says, far above those of its lifecycle.

A pod carries the indexes that fail, since its Job gives all its pods one template. A Stage that has fired finds nothing
to do any more: the pod is Failed, or its container waits to be started again.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.failure import ALL, NONE, Failure, Unpulled
from kwokgen.model.lifecycle import Stage
from kwokgen.model.workload import Workload
from kwokgen.resources import _failing, _pulling
from kwokgen.resources._podstages import deadline, ended, filled
from kwokgen.resources._selectors import AT_ONCE, FIRST, absent, among, lacks, there
from kwokgen.series import Column, Slot

FAIL = "kwokgen.io/fail-"
WORKLOAD = "kwokgen.io/workload"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILED = ("batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count")
"""https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/controller/job/indexed_job_utils.go#L348"""
BACKOFF = (0, 10, 20, 40, 80, 160)
LONGEST = 300
"""https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy: at once, then 10 s and twice that each
time up to five minutes."""


def marks(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    """What says in a pod which failures are its own; differs from job to job."""
    every = _every(workload)
    own = {WORKLOAD: f"{cluster.name}/{workload.name}"} if every else {}
    return own | {_key(failure): Slot(f"fail-{failure.number}") for failure in every}


def columns(workload: Workload) -> dict[str, Column]:
    """The values of the slots."""
    return {f"fail-{failure.number}": _column(failure) for failure in _every(workload)}


def _every(workload: Workload) -> list[Failure | Unpulled]:
    return sorted((*workload.failures, *workload.unpulled), key=lambda failure: failure.number)


def _column(failure: Failure | Unpulled) -> Column:
    return lambda job: failure.marks.get(job, NONE)


def _key(failure: Failure | Unpulled) -> str:
    return f"{FAIL}{failure.number}"


def stages(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and specs of all Stages of pods' failures."""
    for workload in cluster.workloads:
        yield from _unpulled(cluster, workload)
        for failure in workload.failures:
            name = f"fail-{workload.name}-{failure.number}"
            if failure.position is not None:
                yield f"{name}-start", _start(cluster, workload, failure)
            yield name, _fail(cluster, workload, failure)
        if workload.failures and workload.restart_policy != "Never":
            yield f"fail-{workload.name}-restart", _restart(cluster, workload)
            yield from ((f"fail-{workload.name}-{end.step}", _end(cluster, workload, end)) for end in _ends(workload))


def _unpulled(cluster: Cluster, workload: Workload) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, unpulled in enumerate(workload.unpulled):
        before = (lacks(_marked(other), "true") for other in workload.unpulled[:number])
        due = [among(_marked(unpulled), "true"), *before]
        for word, here, template, delay in _pulling.stages(unpulled):
            name = "-".join(filter(None, ("fail", workload.name, f"{unpulled.number}", word)))
            yield name, _stage(cluster, workload, [*here, *due], template, delay)


def _start(cluster: Cluster, workload: Workload, failure: Failure) -> dict[str, Any]:
    """Lifecycles may have init containers done as soon as they begin: this one has to run."""
    new = absent(".status.initContainerStatuses[]?.name")
    template = filled(_failing.START, {"container": failure.container})
    return _stage(cluster, workload, [among(".status.phase", "Pending"), new, *_due(workload, failure)], template)


def _fail(cluster: Cluster, workload: Workload, failure: Failure) -> dict[str, Any]:
    init = failure.position is not None
    since = _started(failure.container, init=init)
    phase = among(".status.phase", "Pending" if init else "Running")
    # A lifecycle of one's own may say nothing of the containers of a pod that runs.
    running = [there(since)] if init or workload.restart_policy != "Never" else []
    here = [phase, *running, *_due(workload, failure)]
    words = {"container": failure.container, "ended": ended(failure.exit_code, failure.reason, failure.message)}
    own = _failing.INIT_FAILED if init else _failing.FAILED if workload.restart_policy == "Never" else _failing.CRASHED
    delay = deadline(failure.seconds, f"{failure.seconds}", since)
    return _stage(cluster, workload, here, filled(own, words), delay, _weight(workload, failure))


def _weight(workload: Workload, failure: Failure) -> int:
    """What comes later than a failure must not keep it from its time: a pod may fail before it is ready."""
    urgent = (stage for stage in workload.lifecycle.stages if stage.spec["weight"] > AT_ONCE)
    later = any(stage.longest > failure.seconds * 1000 for stage in urgent)
    return FIRST if later else AT_ONCE


def _restart(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    status = _status(workload.container.name)
    waits = among(f"{status} | .state.waiting.reason", "CrashLoopBackOff")
    seconds = f"({status} | {dumps(list(BACKOFF))}[.restartCount] // {LONGEST})"
    delay = deadline(BACKOFF[1], seconds, f"{status} | .lastState.terminated.finishedAt")
    template = filled(_failing.RESTARTED, {"container": workload.container.name})
    return _stage(cluster, workload, [among(".status.phase", "Running"), waits], template, delay)


def _end(cluster: Cluster, workload: Workload, end: Stage) -> dict[str, Any]:
    """What has been started again runs its time anew, and keeps the number of its restarts."""
    container = workload.container.name
    started = _started(container, init=False)
    again = among(f"{_status(container)} | .restartCount > 0", "true")
    well = [lacks(_holds(workload, failure), "true") for failure in workload.failures]
    here = [among(".status.phase", "Running"), there(started), again, *well]
    template = filled(_failing.SUCCEEDED, {"container": container})
    return _stage(cluster, workload, here, template, deadline(end.longest / 1000, end.seconds, started))


def _ends(workload: Workload) -> Iterator[Stage]:
    """Servers run until they are deleted, started again or not."""
    return (stage for stage in workload.lifecycle.stages if stage.succeeds and workload.kind.ends)


def _due(workload: Workload, failure: Failure) -> list[dict[str, Any]]:
    """Of the failures of one container, or of any init container, the first that a pod has."""
    init = failure.position is not None
    before = sorted(
        other for other in workload.failures if (other.position is not None) == init and other.order < failure.order
    )
    return [among(_holds(workload, failure), "true"), *(lacks(_holds(workload, other), "true") for other in before)]


def _holds(workload: Workload, failure: Failure) -> str:
    """In jq, whether a failure is of the pod, and has not been often enough."""
    often = "" if failure.times is None else f"({_failures(workload)}) < {failure.times} and "
    return _marked(failure, often)


def _marked(failure: Failure | Unpulled, often: str = "") -> str:
    """In jq, whether a failure is of the pod."""
    marked = f".metadata.annotations[{dumps(_key(failure))}] as $marked"
    index = f".metadata.annotations[{dumps(INDEX)}] as $index"
    among = (
        'any($marked | split(",")[] | split("-") | map(tonumber);'
        " .[0] <= ($index | tonumber) and .[-1] >= ($index | tonumber))"
    )
    found = f'if $marked == "{ALL}" then true elif $marked == "{NONE}" then false else {among} end'
    return f"{marked} | {index} | {often}({found})"


def _failures(workload: Workload) -> str:
    """In jq, how often the pod has failed, or the ones before it of its index."""
    if workload.restart_policy != "Never":
        return f"[{_status(workload.container.name)} | .restartCount][0] // 0"
    counts = (f'(.metadata.annotations[{dumps(key)}] // "0" | tonumber)' for key in FAILED)
    return " + ".join(counts)


def _status(container: str, *, init: bool = False) -> str:
    section = "initContainerStatuses" if init else "containerStatuses"
    return f".status.{section}[]? | select(.name == {dumps(container)})"


def _started(container: str, *, init: bool) -> str:
    return f"{_status(container, init=init)} | .state.running.startedAt | values"


def _stage(
    cluster: Cluster,
    workload: Workload,
    expressions: list[dict[str, Any]],
    template: str,
    delay: dict[str, Any] | None = None,
    weight: int = AT_ONCE,
) -> dict[str, Any]:
    own = among(f".metadata.annotations[{dumps(WORKLOAD)}]", f"{cluster.name}/{workload.name}")
    alive = absent(".metadata.deletionTimestamp")
    return {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {"matchExpressions": [alive, own, *expressions]},
        "weight": weight,
        **({"delay": delay} if delay else {}),
        "next": {"statusSubresource": "status", "statusTemplate": template},
    }
