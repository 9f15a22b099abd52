"""Names of Stages, made of the names of lifecycles, faults, workloads and pools: no two may be made alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem, Related
from kwokgen.resources._stages import stages

CODE = "duplicate-object"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Names that two Stages have, once for each two things that have them; KWOK plays only one of them."""
    times = Counter(stage["metadata"]["name"] for stage in stages(cluster))
    named: list[Lifecycle | Pool | Workload | Fault] = []
    named += [*cluster.lifecycles, *cluster.pools, *cluster.workloads, *cluster.faults]
    things = sorted(((each.name, each.at) for each in named), key=lambda thing: len(thing[0]))
    seen: set[tuple[str, ...]] = set()
    for name in (name for name, number in times.items() if number > 1):
        names, places = zip(*((own, at.pos("name")) for own, at in things if f"-{own}-" in f"{name}-"), strict=True)
        if names not in seen:
            seen.add(names)
            message = f'two Stages would be called "{name}"'
            related = tuple(Related(place, "has a part in it") for place in places[:-1])
            yield Problem(places[-1], CODE, message, "give it another name", related=related)
