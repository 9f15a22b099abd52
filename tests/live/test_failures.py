"""Pods that fail: what their containers say, and what the Job controller makes of every policy."""

import json
from pathlib import Path
from typing import Any

import pytest

from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import bundle, written
from tests.live.test_bundles import errors_of_kwok
from tests.live.watching import until

pytestmark = pytest.mark.live

NASTY = "NCCL WARN: rank 3 # timeout {{ .x }} {{{ '\"\\ }}\n- a: b\t@ended@ é \u2028 \ufeff 🚀 %s"
SOME = "{of: pods, indexes: [1, 3], after: 1s, exitCode: 137, reason: OOMKilled}"
ON_137 = "onExitCodes: {operator: In, values: [137]}"
SPEC = f"""
lifecycles: [{{name: n, nodes: fast}}, {{name: p, pods: timed, create: 0s, run: 4s}}, {{name: g, pods: general, create: 0s, run: 4s}}]
pools: [{{name: a, count: 2, machine: p5.48xlarge}}]
workloads:
- {{name: none, kind: job, pods: 4, backoffLimit: 0, failures: [{SOME}]}}
- {{name: few, kind: job, pods: 4, backoffLimit: 2, failures: [{SOME}]}}
- {{name: by-index, kind: job, pods: 4, backoffLimitPerIndex: 0, maxFailedIndexes: 4, failures: [{SOME}]}}
- {{name: fail-job, kind: job, pods: 4, podFailurePolicy: {{rules: [{{action: FailJob, {ON_137}}}]}}, failures: [{SOME}]}}
- name: fail-index
  kind: job
  pods: 4
  backoffLimitPerIndex: 2
  podFailurePolicy: {{rules: [{{action: FailIndex, {ON_137}}}]}}
  failures: [{SOME}]
- name: general
  kind: job
  pods: 4
  lifecycle: g
  backoffLimitPerIndex: 0
  failures: [{SOME}]
- {{name: once, kind: job, backoffLimitPerIndex: 2, failures: [{{of: jobs, share: 100%, exitCode: 1, times: 1}}]}}
- {{name: again, kind: job, restartPolicy: OnFailure, failures: [{{of: jobs, jobs: [0], after: 1s, exitCode: 3, times: 2}}]}}
- name: said
  kind: job
  count: 2
  backoffLimit: 0
  failures: [{{of: jobs, jobs: [1], exitCode: 255, message: {json.dumps(NASTY)}}}]
- name: init
  kind: job
  pods: 2
  initContainers: [{{name: first}}, {{name: nccl}}, {{name: last}}]
  backoffLimitPerIndex: 0
  failures: [{{of: pods, indexes: [1], initContainer: nccl, after: 1s, exitCode: 42, reason: NCCLCheckFailed, message: no peer}}]
- name: init-general
  kind: job
  pods: 2
  lifecycle: g
  initContainers: [{{name: nccl}}]
  backoffLimitPerIndex: 0
  failures: [{{of: pods, indexes: [1], initContainer: nccl, after: 1s, exitCode: 42}}]
"""
OUTCOMES = {
    "none-0": ("BackoffLimitExceeded", 0, 4),
    "few-0": ("BackoffLimitExceeded", 2, 4),
    "by-index-0": ("FailedIndexes", 2, 2),
    "fail-job-0": ("PodFailurePolicy", 0, 4),
    "fail-index-0": ("FailedIndexes", 2, 2),
    "general-0": ("FailedIndexes", 2, 2),
    "once-0": ("CompletionsReached", 1, 1),
    "again-0": ("CompletionsReached", 1, 0),
    "said-0": ("CompletionsReached", 1, 0),
    "said-1": ("BackoffLimitExceeded", 0, 1),
    "init-0": ("FailedIndexes", 1, 1),
    "init-general-0": ("FailedIndexes", 1, 1),
}
"""Why each job has ended, and with how many pods that succeeded and that failed."""
EXAMPLE = {f"steady-{index}": ("CompletionsReached", 2, 0) for index in range(10)} | {
    "steady-1": ("BackoffLimitExceeded", 0, 2),
    "checked-0": ("PodFailurePolicy", 0, 4),
    "retried-0": ("CompletionsReached", 2, 1),
    "partly-0": ("FailedIndexes", 3, 1),
    "looping-0": ("CompletionsReached", 1, 0),
    "pulling-0": ("CompletionsReached", 1, 0),
}
"""The same of the example: the comment at its top says so too."""


def test_jobs_end_as_their_policies_say(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Exit code, reason and message are seen as they are written; what is not to fail succeeds; KWOK logs no error."""
    example = bundle("flaky-jobs", cluster.minor, tmp_path / "example")
    with applied(written("flaky", cluster.minor, tmp_path / "b", SPEC)) as live, applied(example) as other:
        for each, expected in ((live, OUTCOMES), (other, EXAMPLE)):
            until(lambda each=each: not running.progress(cluster, each).unfinished, 60, "all jobs finished")
            assert outcomes(cluster, each) == expected
            assert errors_of_kwok(cluster, each) == []
        pods = cluster.get("pods", "-n", "flaky")
        assert ended(pods, "by-index-0", 1) == {"exitCode": 137, "reason": "OOMKilled"}
        assert ended(pods, "by-index-0", 0) == {"exitCode": 0, "reason": "Completed"}
        assert ended(pods, "said-1", 0) == {"exitCode": 255, "reason": "Error", "message": NASTY}
        assert_failed_before_the_start(pods)
        (again,) = of(pods, "again-0")
        (container,) = again["status"]["containerStatuses"]
        assert container["restartCount"] == 2
        assert container["lastState"]["terminated"]["exitCode"] == 3


def outcomes(cluster: Cluster, live: Bundle) -> dict[str, tuple[str, int, int]]:
    found = {}
    for job in cluster.get("jobs", "-n", live.name):
        status = job["status"]
        (last,) = (one for one in status["conditions"] if one["type"] in {"Complete", "Failed"})
        counts = (status.get("succeeded", 0), status.get("failed", 0))
        found[job["metadata"]["name"]] = (last["reason"], *counts)
    return found


def of(pods: list[dict[str, Any]], job: str, index: int = 0) -> list[dict[str, Any]]:
    labels = {"batch.kubernetes.io/job-name": job, "batch.kubernetes.io/job-completion-index": f"{index}"}
    return [pod for pod in pods if labels.items() <= pod["metadata"]["labels"].items()]


def ended(pods: list[dict[str, Any]], job: str, index: int) -> dict[str, Any]:
    """How the container of the only pod of an index has ended, but for the times."""
    (pod,) = of(pods, job, index)
    (container,) = pod["status"]["containerStatuses"]
    return without_times(container["state"]["terminated"])


def without_times(terminated: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in terminated.items() if key not in {"startedAt", "finishedAt"}}


def assert_failed_before_the_start(pods: list[dict[str, Any]]) -> None:
    """Of the init containers, those before the one that fails are done, those after it have not begun, as the main one."""
    (pod,) = of(pods, "init-0", 1)
    first, nccl, last = (each["state"] for each in pod["status"]["initContainerStatuses"])
    assert first["terminated"]["exitCode"] == 0
    words = {"exitCode": 42, "reason": "NCCLCheckFailed", "message": "no peer"}
    assert without_times(nccl["terminated"]) == words
    assert last == {"waiting": {"reason": "PodInitializing"}}
    assert [each["state"] for each in pod["status"]["containerStatuses"]] == [last]
    assert pod["status"]["phase"] == "Failed"
    assert pod["status"]["podIP"]
