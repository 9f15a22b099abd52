"""MCAD's stress test: so many jobs of one pod, ten a second as its script applies them, and all by one apply.

Their pods take 10 to 11 s to be created and as long to run, in two Stages; ours take 10 s each. Their script polls each
second and counts whole seconds; ours does not wait for the next whole one.
https://github.com/project-codeflare/multi-cluster-app-dispatcher/tree/main/test/perf-test
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from bench.live.cluster import completed, say, seconds_until, standing
from testbed.bundle import Bundle
from testbed.cluster import Cluster

SIZES = (1, 10, 20, 50, 75, 100)
THEIRS = dict(zip(SIZES, (23, 23, 25, 31, 36, 40), strict=True))
"""Their column for KWOK, in seconds."""
PACE = 0.1
SPEC = """
lifecycles: [{name: mcad, pods: timed, create: 10s, run: 10s}]
pools: [{name: kwok, count: 20, machine: {cpu: 8, memory: 16Gi, pods: 110}}]
workloads:
- {name: job, kind: job, count: 100, pods: 1, container: {resources: {cpu: 5m, memory: 20M}, command: [sleep, "10"]}}
"""


def only_cluster(cluster: Cluster, live: Bundle) -> None:
    """Everything but the jobs."""
    for file in sorted(live.folder.glob("*.yaml")):
        if not file.name.startswith("80-"):
            cluster.kubectl("apply", "-f", str(file))


def table() -> list[list[str]]:
    """Rows of jobs, their seconds, our seconds paced, and at once."""
    return compared("mcad", SPEC, "jobs", THEIRS)


def compared(name: str, spec: str, kind: str, theirs: Mapping[int, int]) -> list[list[str]]:
    """The rows of a blueprint whose jobs are objects of a kind."""
    rows = [["Jobs", "Theirs", "Ten a second", "One apply"]]
    with standing(name, spec, only_cluster) as (cluster, live):
        text = (live.folder / "80-workloads.yaml").read_text(encoding="utf-8")
        jobs = text.split("---\n")[1:]
        for size in SIZES:
            took = [_seconds(cluster, live, kind, jobs[:size], paced=paced) for paced in (True, False)]
            say(f"{size} jobs: {took[0]:.1f} s paced, {took[1]:.1f} s at once")
            rows.append([str(size), f"{theirs[size]} s", *(f"{one:.1f} s" for one in took)])
    return rows


def _seconds(cluster: Cluster, live: Bundle, kind: str, jobs: list[str], *, paced: bool) -> float:
    start = time.monotonic()
    for batch in [[job] for job in jobs] if paced else [jobs]:
        began = time.monotonic()
        cluster.kubectl("apply", "-f", "-", stdin="---\n" + "---\n".join(batch))
        if paced:
            time.sleep(max(0.0, PACE - (time.monotonic() - began)))
    seconds_until(lambda: completed(cluster, live.name) == len(jobs), 300)
    took = time.monotonic() - start
    cluster.kubectl("delete", kind, "--all", "-n", live.name, "--wait=true")
    seconds_until(lambda: not cluster.get("pods", "-n", live.name), 120)
    return took
