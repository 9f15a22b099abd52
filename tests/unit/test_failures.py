"""Failures: which pods of which jobs are drawn and marked, which Stage means which of them, when, and what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from kwokgen.draw import draws, lowest
from kwokgen.resources._patches import text
from tests.unit import nasty
from tests.unit.rendering import documents, load, rendered
from tests.unit.test_stages import POOL, matches, results, stages

Data = dict[str, Any]
INDEX = "batch.kubernetes.io/job-completion-index"
COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def workload(failures: str, more: str = "") -> str:
    """A workload `w` beside the pool."""
    return f"{POOL}workloads: [{{name: w, kind: job, {more} failures: [{failures}]}}]\n"


def marks(folder: Path, spec: str, *, number: int = 0) -> list[str]:
    """What the pods of each job of `w` say of a failure."""
    jobs = documents(rendered(folder, spec), "Job").values()
    found = [job["spec"]["template"]["metadata"]["annotations"] for job in jobs]
    assert {each["kwokgen.io/workload"] for each in found} == {"t/w"}
    return [each[f"kwokgen.io/fail-{number}"] for each in found]


MARKS = {
    "jobs by index": ("{of: jobs, jobs: [0, '2-3'], exitCode: 1}", ["all", "none", "all", "all", "none"]),
    "indexes of all jobs": ("{of: pods, indexes: [3, '0-1'], exitCode: 1}", ["3,0-1"] * 5),
    "indexes of some jobs": ("{of: pods, jobs: [4], indexes: [2], exitCode: 1}", ["none"] * 4 + ["2"]),
    "all jobs": ("{of: jobs, share: 100%, exitCode: 1}", ["all"] * 5),
    "all pods": ("{of: pods, share: 100%, exitCode: 1}", ["0-3"] * 5),
}


@pytest.mark.parametrize(("failure", "expected"), MARKS.values(), ids=MARKS)
def test_pods_say_which_of_their_job_fail(tmp_path: Path, failure: str, expected: list[str]) -> None:
    """One template is for all pods of a job."""
    assert marks(tmp_path, workload(failure, "count: 5, pods: 4,")) == expected


@pytest.mark.parametrize(("of", "pods"), [("jobs", 1), ("pods", 1), ("pods", 3)])
def test_a_share_is_drawn_whole_and_one_more_job_changes_few(tmp_path: Path, of: str, pods: int) -> None:
    """Of a hundred jobs 7% are seven, and 21 of three hundred pods; another seed draws others."""
    written = [
        marks(
            tmp_path,
            f"seed: {seed}\n" + workload(f"{{of: {of}, share: 7%, exitCode: 1}}", f"count: {count}, pods: {pods},"),
        )
        for count, seed in ((100, 1), (101, 1), (100, 2))
    ]
    before, after, other = ([counted(mark) for mark in each] for each in written)
    assert sum(before) == 7 * pods
    assert sum(one != two for one, two in zip(before, after, strict=False)) <= 1
    assert other != before


def counted(mark: str) -> int:
    """How many pods a mark is of."""
    if mark in {"all", "none"}:
        return int(mark == "all")
    ranges = [part.split("-") for part in mark.split(",")]
    return sum(int(ends[-1]) - int(ends[0]) + 1 for ends in ranges)


def test_the_lowest_are_the_same_whatever_else_draws() -> None:
    """Another draw takes the place of one of them at most."""
    for count in range(20, 50):
        fewer, more = (set(lowest(draws(1, "x", number), 5)) for number in (count, count + 1))
        assert len(fewer) == len(more) == 5
        assert len(more - fewer) <= 1


def pod(phase: str = "Running", **more: Any) -> Data:
    """A pod of the job `w-0` with these annotations by their short names, and the status of its containers."""
    names = {"index": INDEX, "count": COUNT, "ignored": IGNORED}
    given = {names.get(key, f"kwokgen.io/fail-{key[-1]}"): value for key, value in more.items() if key != "deleted"}
    running = {"running": {"startedAt": "2026-01-01T00:10:00Z"}}
    status = {"phase": phase, "startTime": "2026-01-01T00:05:00Z"}
    status |= {"containerStatuses": [{"name": "main", "restartCount": 0, "state": running}]}
    meta = {"name": "p", "annotations": {"kwokgen.io/workload": "t/w", **given}}
    meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if more.get("deleted") else {}
    meta |= {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "w-0"}]}
    return {"metadata": meta, "status": status}


MEANT = {
    "one index": (pod(mark0="1,3-11", index="1"), True),
    "in a range": (pod(mark0="1,3-11", index="10"), True),
    "at its end": (pod(mark0="1,3-11", index="11"), True),
    "between": (pod(mark0="1,3-11", index="2"), False),
    "a digit of another": (pod(mark0="12", index="1"), False),
    "the whole job": (pod(mark0="all", index="7"), True),
    "the whole job, without an index": (pod(mark0="all"), True),
    "another job": (pod(mark0="none", index="0"), False),
    "without an index": (pod(mark0="1"), False),
    "without a mark": (pod(index="1"), False),
    "no longer": (pod("Failed", mark0="all"), False),
    "not yet": (pod("Pending", mark0="all"), False),
    "to be deleted": (pod(mark0="all", deleted=True), False),
    "ended well": (pod("Succeeded", mark0="all"), False),
}


@pytest.mark.parametrize(("thing", "expected"), MEANT.values(), ids=MEANT)
def test_the_stage_means_marked_pods_that_run(tmp_path: Path, thing: Data, expected: bool) -> None:
    """A pod that it means is not drawn for the end of its lifecycle, and once it is Failed nothing means it."""
    spec = workload("{of: pods, indexes: [0], after: 7s, exitCode: 1}", "pods: 12,")
    found = stages(rendered(tmp_path, spec))
    assert matches(found["t-fail-w-0"]["selector"], thing) is expected
    assert found["t-fail-w-0"]["weight"] > 1000 * max(
        each["weight"] for name, each in found.items() if not re.search("-fail-|-gates-", name)
    )
    thing["metadata"]["annotations"]["kwokgen.io/workload"] = "other/w"
    assert not matches(found["t-fail-w-0"]["selector"], thing)
    moment = results(found["t-fail-w-0"]["delay"]["durationFrom"]["expressionFrom"], thing)
    assert moment == ["2026-01-01T00:10:07Z"]


COUNTS = {
    "never before": ({}, True),
    "once": ({"count": "1"}, True),
    "twice": ({"count": "2"}, False),
    "once, and once ignored": ({"count": "1", "ignored": "1"}, False),
    "more often": ({"count": "10"}, False),
}


@pytest.mark.parametrize(("annotations", "expected"), COUNTS.values(), ids=COUNTS)
def test_an_index_fails_so_many_times(tmp_path: Path, annotations: dict[str, str], expected: bool) -> None:
    """The Job controller tells each pod that it makes anew."""
    spec = workload("{of: jobs, jobs: [0], exitCode: 1, times: 2}", "backoffLimitPerIndex: 5,")
    found = stages(rendered(tmp_path, spec))["t-fail-w-0"]
    assert matches(found["selector"], pod(mark0="all", index="0", **annotations)) is expected


def test_of_several_failures_of_a_pod_the_first_comes(tmp_path: Path) -> None:
    """KWOK would draw between them; what has been often enough leaves room for the next."""
    written = (
        "{of: jobs, jobs: [0], after: 9s, exitCode: 1}, {of: pods, indexes: [0], after: 3s, exitCode: 2, times: 1}"
    )
    found = stages(rendered(tmp_path, workload(written, "backoffLimitPerIndex: 3,")))
    named = {name: each["selector"] for name, each in found.items() if "fail" in name}
    for thing, expected in (
        (pod(mark0="all", mark1="0", index="0", count="0"), ["t-fail-w-1"]),
        (pod(mark0="all", mark1="0", index="0", count="1"), ["t-fail-w-0"]),
        (pod(mark0="all", mark1="none", index="0", count="0"), ["t-fail-w-0"]),
    ):
        assert [name for name, selector in named.items() if matches(selector, thing)] == expected


def test_an_init_container_starts_and_then_fails(tmp_path: Path) -> None:
    """Whatever the lifecycle makes of init containers: of two the earlier one, though it takes longer."""
    inits = "initContainers: [{name: first}, {name: second}],"
    words = "of: jobs, jobs: [0], exitCode: 1"
    both = f"{{{words}, initContainer: second}}, {{{words}, initContainer: first, after: 5s}}"
    found = stages(rendered(tmp_path, workload(both, inits)))
    new = pod("Pending", mark0="all", mark1="all", index="0")
    assert played(found, new) == ["t-fail-w-1-start"]
    new["status"]["initContainerStatuses"] = [{"name": "second", "state": {"waiting": {"reason": "PodInitializing"}}}]
    new["status"]["initContainerStatuses"] += [
        {"name": "first", "state": {"running": {"startedAt": "2026-01-01T00:20:00Z"}}}
    ]
    assert played(found, new) == ["t-fail-w-1"]
    moment = found["t-fail-w-1"]["delay"]["durationFrom"]["expressionFrom"]
    assert results(moment, new) == ["2026-01-01T00:20:05Z"]
    new["status"]["phase"] = "Failed"
    assert played(found, new) == []


def played(found: dict[str, Data], thing: Data) -> list[str]:
    """The Stages of failures that mean a pod."""
    return [name for name, each in found.items() if "fail" in name and matches(each["selector"], thing)]


def restarted(count: int, state: Data, mark: str = "all") -> Data:
    """A pod whose container was restarted so many times."""
    thing = pod(mark0=mark, index="0")
    ended = {"terminated": {"finishedAt": "2026-01-01T01:00:00Z"}}
    thing["status"]["containerStatuses"] = [{"name": "main", "restartCount": count, "state": state, "lastState": ended}]
    return thing


RUNNING = {"running": {"startedAt": "2026-01-01T02:00:00Z"}}
CRASHED = {"waiting": {"reason": "CrashLoopBackOff"}}
RESTARTS = {
    "runs": (restarted(0, RUNNING), "t-fail-w-0", "02:00:10"),
    "has crashed": (restarted(0, CRASHED), "t-fail-w-restart", "01:00:00"),
    "has crashed again": (restarted(1, CRASHED), "t-fail-w-restart", "01:00:10"),
    "has crashed often": (restarted(4, CRASHED), "t-fail-w-restart", "01:01:20"),
    "has crashed for hours": (restarted(40, CRASHED), "t-fail-w-restart", "01:05:00"),
    "runs anew": (restarted(1, RUNNING), "t-fail-w-0", "02:00:10"),
    "runs well at last": (restarted(2, RUNNING), "t-fail-w-complete", "02:00:30"),
    "of another job": (restarted(0, RUNNING, "none"), "", ""),
}


@pytest.mark.parametrize(("thing", "stage", "moment"), RESTARTS.values(), ids=RESTARTS)
def test_a_pod_restarts_its_container(tmp_path: Path, thing: Data, stage: str, moment: str) -> None:
    """Later each time, as the kubelet does, and then it runs its whole time."""
    spec = workload("{of: jobs, jobs: [0], after: 10s, exitCode: 1, times: 2}", "restartPolicy: OnFailure,")
    found = stages(rendered(tmp_path, spec))
    assert played(found, thing) == [stage] * bool(stage)
    if stage:
        until = found[stage]["delay"]["durationFrom"]["expressionFrom"]
        assert results(until, thing) == [f"2026-01-01T{moment}Z"]


def test_the_run_time_of_a_restarted_container_is_the_pods_own(tmp_path: Path) -> None:
    spec = workload("{of: jobs, jobs: [0], exitCode: 1, times: 1}", "restartPolicy: OnFailure, run: 75s,")
    done = rendered(tmp_path, spec)
    thing = restarted(1, RUNNING)
    [job] = documents(done, "Job").values()
    thing["metadata"]["annotations"] |= job["spec"]["template"]["metadata"]["annotations"]
    until = stages(done)["t-fail-w-complete"]["delay"]["durationFrom"]["expressionFrom"]
    assert results(until, thing) == ["2026-01-01T02:01:15Z"]


@pytest.mark.parametrize("kind", ["deployment", "leaderworkerset", "raycluster", "rayjob"])
def test_a_server_that_was_started_again_runs_until_it_is_deleted(tmp_path: Path, kind: str) -> None:
    spec = workload("{of: jobs, jobs: [0], after: 10s, exitCode: 1, times: 2}").replace("kind: job", f"kind: {kind}")
    assert played(stages(rendered(tmp_path, spec)), restarted(2, RUNNING)) == []


def test_a_workload_without_failures_is_as_it_was(tmp_path: Path) -> None:
    """Neither a Stage nor an annotation."""
    done = rendered(tmp_path, POOL + "workloads: [{name: w, kind: job}]")
    assert not [name for name in stages(done) if "fail" in name]
    assert "fail" not in str(documents(done, "Job"))


def pulling(reason: str = "", *, init: str = "") -> Data:
    """A pod that waits for the image of its only container, or of its first init container."""
    thing = pod("Pending", mark0="all")
    del thing["status"]["containerStatuses"]
    for section, why in (("containerStatuses", reason), ("initContainerStatuses", init)):
        if why:
            thing["status"][section] = [{"name": "x", "state": {"waiting": {"reason": why}}}]
    return thing


FIRST, BACKOFF, OVER, STAYS = "t-fail-w-0", "t-fail-w-0-backoff", "t-fail-w-0-over", "t-fail-w-0-stays"
PULLING = {
    "bound": ("5m", pulling(), FIRST, None),
    "tried once": ("5m", pulling("ErrImagePull"), BACKOFF, "00:05:10"),
    "tried twice": ("5m", pulling("ImagePullBackOff"), OVER, "00:10:00"),
    "tried once, with init containers": ("5m", pulling("PodInitializing", init="ErrImagePull"), BACKOFF, "00:05:10"),
    "there": ("5m", pulling("ContainerCreating"), None, None),
    "there, with init containers": ("5m", pulling("PodInitializing", init="PodInitializing"), None, None),
    "tried once, and soon there": ("7s", pulling("ErrImagePull"), OVER, "00:05:07"),
    "never there": ("forever", pulling("ImagePullBackOff"), STAYS, None),
    "running": ("5m", pod(mark0="all"), None, None),
    "another's": ("5m", pod("Pending", mark0="none"), None, None),
}


@pytest.mark.parametrize(("length", "thing", "stage", "moment"), PULLING.values(), ids=PULLING)
def test_an_image_that_cannot_be_pulled(
    tmp_path: Path, length: str, thing: Data, stage: str | None, moment: str | None
) -> None:
    """One Stage at a time, far above the lifecycle's, which has the pod when the image is there."""
    found = stages(rendered(tmp_path, workload(f"{{of: jobs, share: 100%, imagePullBackOff: {length}}}")))
    meant = [name for name, spec in found.items() if matches(spec["selector"], thing) and spec["weight"] > 1000]
    assert meant == [stage] * bool(stage)
    delay = found[stage].get("delay") if stage else None
    assert (results(delay["durationFrom"]["expressionFrom"], thing) if delay else []) == (
        [f"2026-01-01T{moment}Z"] if moment else []
    )


def test_of_two_images_that_cannot_be_pulled_the_first_counts(tmp_path: Path) -> None:
    """Of a pod that both are of."""
    spec = workload("{of: jobs, share: 100%, imagePullBackOff: 5m}, {of: jobs, share: 100%, imagePullBackOff: forever}")
    found = stages(rendered(tmp_path, spec))
    thing = pulling()
    thing["metadata"]["annotations"]["kwokgen.io/fail-1"] = "all"
    assert played(found, thing) == ["t-fail-w-0"]
    thing["metadata"]["annotations"]["kwokgen.io/fail-0"] = "none"
    assert played(found, thing) == ["t-fail-w-1"]


def executed(template: str) -> str:
    """What Go makes of a template whose only actions are constants."""
    return re.sub(r'\{\{ ("(?:[^"\\]|\\.)*") \}\}', lambda found: load(found[1]), template)


@given(nasty.strings())
def test_every_message_comes_out_as_it_is_written(message: str) -> None:
    """Through a Go template and YAML's flow style."""
    said = text(message)
    assert not re.search("[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff]", said)
    assert "{{" not in said.replace('{{ "{{" }}', "")
    assert load(f"{{a: {executed(said)}, b: 1}}") == {"a": message, "b": 1}


def test_a_message_may_look_like_a_place_of_the_template(tmp_path: Path) -> None:
    """What is put in is not looked at again."""
    spec = workload("{of: jobs, jobs: [0], exitCode: 1, message: '@container@ @ended@ @x@'}")
    found = stages(rendered(tmp_path, spec))["t-fail-w-0"]
    assert 'message: "@container@ @ended@ @x@"' in found["next"]["statusTemplate"]
