"""A thousand nodes of eight A100 that are cut on demand, and 500 claims of three sizes.

Every GPU is 26 devices with counters: nine slices a node. The slope is what one node more takes to render, from 200 to
2,000 nodes, beside `cat` of the same bytes; the least of twenty runs each.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.live.cluster import MINOR, rendered, running_pods, say, seconds_of
from bench.live.scale import apply_in_streams
from bench.live.slope import slope_of
from testbed import bundle as bundles
from testbed import running
from testbed.cluster import Cluster

NODES = 1_000
PROFILES = {"1g.5gb": 300, "2g.10gb": 100, "3g.20gb": 100}
LIMIT = 900
SLOPE_SIZES = (200, 2_000)
SPEC = """
lifecycles: [{name: nodes, nodes: fast}, {name: jobs, pods: timed, create: 1s, run: 1h}]
pools: [{name: a100, count: %d, machine: p4d.24xlarge, gpus: {partitions: {mode: dynamic}}}]
"""


def spec(nodes: int) -> str:
    """The nodes, with a job for each profile."""
    asks = [
        (f"of-{number}", f"{{deviceClassName: mig.nvidia.com, profile: {profile}}}", pods)
        for number, (profile, pods) in enumerate(PROFILES.items())
    ]
    claims = ", ".join(f"{{name: {name}, requests: [{request}]}}" for name, request, _ in asks)
    jobs = ", ".join(f"{{name: {name}, kind: job, pods: {pods}, claims: [{name}]}}" for name, _, pods in asks)
    return f"{SPEC % nodes}claims: [{claims}]\nworkloads: [{jobs}]\n"


def table() -> list[list[str]]:
    """Rows of what was measured."""
    rows = [["", "measured"], *([key, value] for key, value in measured().items())]
    ratio = slope()
    return [*rows, ["one node more to render, beside `cat` (at most 6 ×)", f"{ratio:.2f} ×"]]


def measured() -> dict[str, str]:
    """What the run took; raises TimeoutError when the claims are not allocated in fifteen minutes."""
    with tempfile.TemporaryDirectory() as folder, Cluster.start(MINOR) as cluster:
        live = bundles.read(rendered("mig", spec(NODES), Path(folder)))
        started = time.monotonic()
        apply_in_streams(cluster, live, 4)
        running.wait(cluster, live, jobs=False, limit=LIMIT)
        ready = time.monotonic() - started
        say(f"Ready after {ready:.0f} s")
        jobs = str(live.folder / "80-workloads.yaml")
        seconds = seconds_of(
            lambda: cluster.kubectl("apply", "-f", jobs),
            lambda: running_pods(cluster, live.name) == sum(PROFILES.values()),
            LIMIT - ready,
        )
        return {
            f"{NODES:,} nodes and {9 * NODES:,} slices applied in four streams, all nodes Ready": f"{ready:.0f} s",
            f"{sum(PROFILES.values())} pods of claims of {len(PROFILES)} sizes running": f"{seconds:.0f} s",
        }


def slope() -> float:
    """How many times as long as `cat` one node more takes."""
    return slope_of(spec, SLOPE_SIZES)
