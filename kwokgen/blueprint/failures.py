"""Failures: which pods of a workload fail, in which of their containers, when, and with what words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from kwokgen import formats
from kwokgen.blueprint import shares
from kwokgen.blueprint.marks import ranges, runs
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.draw import draws, lowest
from kwokgen.model.failure import ALL, Failure, Unpulled
from kwokgen.model.lifecycle import in_seconds
from kwokgen.model.place import Place
from kwokgen.model.ranges import Ranges
from kwokgen.model.workload import Workload
from kwokgen.problem import unknown

MOST_DRAWN = 1 << 20
"""Each pod draws a number, which takes a second or two for as many."""
MOST_MARK = 16_384
"""Every pod of a job carries the indexes that fail, and etcd holds all of the pods."""
PULL = "imagePullBackOff"
FOREVER = "forever"
RUN_FIRST = ("after", "reason", "initContainer", "times")
"""What is said of containers that have begun."""
WAYS = {"jobs": ("share", "jobs"), "pods": ("share", "indexes")}


def failing(scope: Scope, workload: Workload, item: Data, seed: int) -> Workload:
    """The workload with every failure that could be understood."""
    items = item.get("failures", ())
    if not scope.intact(workload.at):
        return workload
    pairs = enumerate(zip(items, places(workload.at, "failures", items), strict=True))
    init = any("initContainer" in each for each in items)
    written = (Written(scope, workload, each, at, number, seed, init) for number, (each, at) in pairs)
    intact = [each for each in written if scope.intact(each.at) and each.one_way()]
    return workload._replace(
        failures=tuple(each.failure() for each in intact if PULL not in each.item),
        unpulled=tuple(each.unpulled() for each in intact if PULL in each.item),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A failure as it is written."""

    scope: Scope
    workload: Workload
    item: Data
    at: Place
    number: int
    seed: int
    beside_init: bool

    def one_way(self) -> bool:
        """Whether it says how pods fail, and once."""
        ways = [way for way in ("exitCode", PULL) if way in self.item]
        if len(ways) != 1:
            message = f"how pods fail is said {'twice' if ways else 'nowhere'}"
            self.scope.fail(self.at.pos(), "failure", message, f"write one of exitCode and {PULL}")
        return len(ways) == 1

    def unpulled(self) -> Unpulled:
        """The failure of an image that cannot be pulled, with its problems noted."""
        for key in RUN_FIRST:
            if self.at.raw(key):
                message = f"a container whose image is not there has not begun: {key} is of one that has"
                self._fail(key, message, "leave it out")
        if self.beside_init:
            message = "another failure is of an init container, whose Stages do not wait for an image"
            self._fail(PULL, message, "write it in a workload of its own")
        ever = self.item[PULL] == FOREVER
        seconds = None if ever else self._seconds(PULL)
        return Unpulled(self.number, self._marks(), seconds, self.item["message"], self.at)

    def failure(self) -> Failure:
        """The failure, with its problems noted."""
        item, seconds = self.item, self._seconds("after")
        if "initContainer" not in item:
            self._comes(seconds)
        self._times()
        return Failure(
            number=self.number,
            marks=self._marks(),
            container=item.get("initContainer", self.workload.container.name),
            position=self._position(),
            seconds=seconds,
            times=item.get("times"),
            exit_code=item["exitCode"],
            reason=item["reason"],
            message=item["message"],
            at=self.at,
        )

    def _fail(self, key: str, message: str, hint: str = "") -> None:
        self.scope.fail(self.at.key(key), "failure", message, hint)

    def _position(self) -> int | None:
        """The place of the init container that fails in the pod."""
        name = self.item.get("initContainer")
        if name is None:
            return None
        names = [container.name for container in self.workload.init_containers]
        if name not in names:
            pos = self.at.pos("initContainer")
            self.scope.problems.append(unknown(pos, "init container", name, names, code="reference"))
        if self.workload.restart_policy != "Never":
            message = (
                "an init container that its pod restarts has no Stages: those of the lifecycle forget the restarts"
            )
            never = "write restartPolicy: Never, or " if self.workload.kind.ends else ""
            self._fail("initContainer", message, f"{never}let the main container fail")
        return names.index(name) if name in names else 0

    def _seconds(self, key: str) -> int:
        """Whole seconds, which is all that a container's start is known to."""
        length = formats.milliseconds(self.item[key])
        if length % 1000:
            self.scope.fail(self.at.pos(key), "failure", f"{self.item[key]} is not whole seconds", "such as 30s")
        return length // 1000

    def _comes(self, seconds: int) -> None:
        """The main container must still run."""
        ends = _shortest_run(self.workload)
        if ends is None or not seconds or seconds * 1000 < ends or "lifecycles" in self.scope.doubtful:
            return
        when = f"after {in_seconds(ends)}s" if ends else "at once"
        message = f"pods of the workload may succeed {when}: nothing is left to fail after {self.item['after']}"
        hint = "write an after below it, or a longer run"
        self.scope.fail(self.at.pos("after"), "failure", message, hint if ends else "use a lifecycle with pods: timed")

    def _times(self) -> None:
        """A pod that its Job makes anew is made of the same template: only with a limit for each index it is told more."""
        counted = "backoffLimitPerIndex" in self.workload.policies or self.workload.restart_policy != "Never"
        if "times" in self.item and not counted:
            message = "nothing in a pod that its Job makes anew says how often the one before it has failed"
            hint = "write backoffLimitPerIndex on the workload, with which Kubernetes says it, or leave times out"
            self._fail("times", message, hint)

    def _marks(self) -> dict[int, str]:
        """By job, the indexes that fail."""
        of, item = self.item["of"], self.item
        if of == "pods" and not self.workload.kind.indexed:
            message = f"pods of the kind {self.workload.kind.name} do not know their index"
            self._fail("of", message, "write of: jobs, with which all pods of a job fail")
            return {}
        if of == "pods" and self.workload.roles:
            message = "the pods of each role count from 0: an index is of several"
            self._fail("of", message, "write of: jobs, with which all pods of a job fail")
            return {}
        if of == "jobs" and "indexes" in item:
            self._fail("indexes", "all pods of a job fail with of: jobs", "write of: pods")
        elif [way in item for way in WAYS[of]].count(True) != 1:
            message = f"which {of} fail is said {'twice' if 'share' in item else 'nowhere'}"
            self.scope.fail(self.at.pos(), "failure", message, f"write one of {' and '.join(WAYS[of])}")
        elif "share" in item:
            return self._drawn_jobs() if of == "jobs" else self._drawn_pods()
        else:
            mark = ALL if of == "jobs" else _text(self._ranges("indexes", self.workload.pods))
            return dict.fromkeys(self._jobs(), mark) if mark else {}
        return {}

    def _jobs(self) -> list[int]:
        held = self._ranges("jobs", self.workload.count)
        return sorted({job for first, last in held for job in range(first, last + 1)})

    def _ranges(self, key: str, count: int) -> Ranges:
        return ranges(self.scope, self.item, key, self.at, count, code="failure")

    def _drawn_jobs(self) -> dict[int, str]:
        number = self._number(self.workload.count, "jobs")
        drawn = draws(self.seed, self._drawing, self.workload.count) if number else ()
        return dict.fromkeys(lowest(drawn, number), ALL)

    def _drawn_pods(self) -> dict[int, str]:
        jobs, pods = self._jobs(), self.workload.pods
        number = self._number(len(jobs) * pods, "pods")
        drawn = [each for job in jobs if number for each in draws(self.seed, f"{self._drawing}/{job}", pods)]
        places = [(jobs[place // pods], place % pods) for place in lowest(drawn, number)]
        marks = {job: _text(runs([index for _, index in held])) for job, held in groupby(places, lambda one: one[0])}
        self._short(marks)
        return marks

    @property
    def _drawing(self) -> str:
        return f"failure/{self.workload.name}/{self.number}"

    def _number(self, total: int, what: str) -> int:
        """How many of a total the share is; none where there is a problem."""
        share = self.item["share"]
        number = shares.counted(share, total)
        hint = "name jobs or indexes instead"
        if total > MOST_DRAWN:
            message = f"a share of {total} {what} cannot be drawn, {MOST_DRAWN} is the most"
        elif not (message := shares.wrong(share, number, total, what)):
            return number
        self.scope.fail(self.at.pos("share"), "failure", message, hint)
        return 0

    def _short(self, marks: dict[int, str]) -> None:
        longest = max(map(len, marks.values()), default=0)
        if longest > MOST_MARK:
            message = f"the indexes of a job take {longest} characters in every pod of it, {MOST_MARK} is the most"
            hint = "name them as ranges, draw fewer, or make more jobs of fewer pods"
            self.scope.fail(self.at.pos("share"), "failure", message, hint)


def _text(held: Ranges) -> str:
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in held)


def _shortest_run(workload: Workload) -> int | None:
    """Milliseconds until a pod may succeed; None where no Stage lets it."""
    if not workload.kind.ends:
        return None
    if workload.run:
        return workload.run.shortest
    return min(_ends(workload), default=None)


def _ends(workload: Workload) -> Iterator[int]:
    for stage in workload.lifecycle.stages:
        if stage.succeeds:
            yield stage.spec.get("delay", {}).get("durationMilliseconds", 0)
