"""Workloads of a trace: one for each number of pods and of GPUs that its jobs have, since jobs of a workload are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.model.length import Arrival, Length
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload

UNSAID = ("parallelism", "roles", "failures")
"""They go by pods and jobs whose numbers follow from the trace."""
OWN = ("count", "pods", "gpus", "run", "arrival", *UNSAID)
"""What a trace says itself, or what is of jobs by their number."""


class Traced(NamedTuple):
    """A workload's words, and the milliseconds at which each of its jobs comes, and that it runs."""

    item: Data
    moments: tuple[int, ...]
    runs: tuple[int, ...]

    def timed(self, workload: Workload) -> Workload:
        """The workload with the times of its jobs."""
        first, *later = self.moments
        every = tuple(moment - before for before, moment in zip(self.moments, later, strict=False))
        arrival = Arrival(first, Length("each", (0, *every)))
        return workload._replace(arrival=arrival, run=Length("each", self.runs))


def expanded(scope: Scope, item: Data, at: Place, pools: Sequence[Pool]) -> Iterator[Traced]:
    """The workloads that a trace is, by their pods and GPUs; with every mistake in it noted."""
    for word in OWN:
        if at.node.child(word):
            if word in UNSAID:
                message, hint = f"{word} cannot be said of a trace's jobs", f"leave out {word}"
            else:
                message, hint = f"the trace says {word} of each job", "leave one of them out"
            scope.fail(at.key(word), "workload", message, hint)
    most = max((pool.gpus.counted for pool in pools if pool.gpus), default=0)
    groups: dict[tuple[int, int], list[Data]] = {}
    for index, row in enumerate(item["trace"]):
        groups.setdefault(_shape(scope, row, at.below("trace", index), most), []).append(row)
    for (pods, gpus), rows in sorted(groups.items()):
        rows.sort(key=lambda row: row["arrival"])
        words = {"name": f"{item['name']}-{pods}x{gpus}", "count": len(rows), "pods": pods, "run": "1s"}
        words |= {"gpus": gpus} if gpus else {}
        kept = {word: said for word, said in item.items() if word not in (*OWN, "trace")}
        yield Traced(kept | words, _milliseconds(rows, "arrival"), _milliseconds(rows, "duration"))


def _shape(scope: Scope, row: Data, at: Place, most: int) -> tuple[int, int]:
    """How many pods a job has, and how many GPUs each of them."""
    gpus = row["gpus"]
    pods: int = row.get("pods") or (ceil(gpus / most) if gpus > most > 0 else 1)
    if gpus % pods:
        message = f"{gpus} GPUs are not {pods} equal parts"
        scope.fail(
            at.pos("gpus"), "workload", message, f"nodes have {most}: such as {pods * (gpus // pods)}, or say pods"
        )
    elif gpus // pods > most and "pools" not in scope.doubtful:
        message = f"each of {pods} pods would have {gpus // pods} GPUs, a node has {most}"
        scope.fail(at.pos("gpus"), "workload", message, "say more pods, or take other pools")
    return pods, gpus // pods


def _milliseconds(rows: Sequence[Any], word: str) -> tuple[int, ...]:
    return tuple(max(0 if word == "arrival" else 1, round(row[word] * 1000)) for row in rows)
