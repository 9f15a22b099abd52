"""A thousand nodes of which 1 % have XID 79 and 5 % flap, beside a rack that is down, and 2 % of all pods failing.

What is seen is held against what was drawn, and the evictions against `plan`: of nodes that are NotReady the controller
manager taints one each ten seconds. The slope is what one node more takes to render, from 1,000 to 20,000 nodes, beside
`cat` of the same bytes; the least of twenty runs each.
"""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from bench.live.cluster import say, seconds_until, standing
from bench.live.slope import slope_of
from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster

NODES, RACK, PODS = 1_000, 18, 10
SLOPE_SIZES = (1_000, 20_000)
RATE = 10
"""Seconds between two nodes that the controller manager taints, which puts their pods out."""
FLAPPING, FLAP, PERIOD, TIMES = 540, 60, 120, 2
"""Seconds of a node's life when it flaps first, how long each time and how often, in seconds, and how many times."""
LIMIT = 900
NOT_READY = "node.kubernetes.io/not-ready"
EXPOSED = ", expose: extended-resource"
DEVICES = "deviceClasses: [{name: gpu.nvidia.com, extendedResourceName: nvidia.com/gpu}]\n"
SPEC = """
lifecycles: [{{name: steady, nodes: heartbeat-lease}}, {{name: normal, pods: timed, create: 1s, run: 20s}}]
pools:
- {{name: h100, count: {nodes}, machine: p5.48xlarge, expose: extended-resource}}
- {{name: rack, count: {rack}, machine: p5.48xlarge, expose: extended-resource}}
workloads:
- name: train
  kind: job
  count: {jobs}
  pods: {pods}
  gpus: 4
  backoffLimitPerIndex: 0
  failures: [{{of: pods, share: 2%, after: 5s, exitCode: 137, reason: OOMKilled}}]
faults:
- {{name: xid, fault: xid-79, where: {{pool: h100, nodes: 1%}}, start: {{manual: true}}}}
- {{name: rack, fault: node-not-ready, where: {{pool: rack}}, start: {{manual: true}}, for: 10m}}
- name: flap
  fault: node-not-ready
  where: {{pool: h100, nodes: 5%}}
  start: {{after: {flapping}s}}
  for: {flap}s
  repeat: {{every: {period}s, times: {times}}}
"""


class Seen(NamedTuple):
    """Numbers of nodes and pods, and the seconds between the evictions of two nodes of the rack."""

    xid: int
    flapping: list[int]
    failed: int
    rack: int
    between: float


def spec(nodes: int) -> str:
    """The nodes, with a pod for each of them."""
    times = {"flapping": FLAPPING, "flap": FLAP, "period": PERIOD, "times": TIMES}
    return SPEC.format(nodes=nodes, jobs=nodes // PODS, pods=PODS, rack=RACK, **times)


def table() -> list[list[str]]:
    """Rows of what was drawn and of what was seen."""
    seen = measured()
    return [
        ["", "drawn, or due", "seen"],
        ["nodes with XID 79", f"{NODES // 100}", f"{seen.xid}"],
        [f"nodes that flap, each of {TIMES} times", f"{NODES // 20}", ", ".join(map(str, seen.flapping))],
        ["pods that failed", f"{NODES // 50}", f"{seen.failed}"],
        ["nodes of the rack whose pods were put out", f"{RACK}", f"{seen.rack}"],
        ["between two of them", f"{RATE} s", f"{seen.between:.0f} s"],
        ["one node more to render, beside `cat`", "at most 6 ×", f"{slope():.2f} ×"],
    ]


def slope() -> float:
    """How many times as long as `cat` one node more takes, with its eight devices as in `make bench`."""
    return slope_of(lambda nodes: spec(nodes).replace(EXPOSED, "") + DEVICES, SLOPE_SIZES)


def measured() -> Seen:
    """What the run showed; raises TimeoutError where it does not come true in fifteen minutes."""
    with standing("breaking", spec(NODES)) as (cluster, live):
        seconds_until(lambda: not running.progress(cluster, live).unfinished, LIMIT)
        say("all jobs have ended")
        failed = sum(job["status"].get("failed", 0) for job in cluster.get("jobs", "-n", live.name))
        for name in ("xid", "rack"):
            key = f"kwokgen.io/fault-{name}"
            cluster.kubectl("label", "node", "-l", key, f"{key}=on", "--overwrite")
        seconds_until(lambda: len(_evicted(cluster, live)) == RACK, LIMIT)
        moments = sorted(_evicted(cluster, live))
        xid = sum(_turned(node, "SysLogsXIDError") for node in _nodes(cluster, live))
        say(f"the rack is empty after {moments[-1] - moments[0]:.0f} s")
        between = median(later - earlier for earlier, later in pairwise(moments))
        return Seen(xid, [_most(cluster, live) for _ in range(TIMES)], failed, len(moments), between)


def _nodes(cluster: Cluster, live: Bundle) -> list[dict[str, Any]]:
    return cluster.get("nodes", "-l", live.selector)


def _turned(node: dict[str, Any], sort: str) -> bool:
    return any(each["type"] == sort and each["status"] == "True" for each in node["status"]["conditions"])


def _evicted(cluster: Cluster, live: Bundle) -> list[float]:
    """When the nodes that are NotReady were tainted so that pods go, in seconds."""
    taints = (taint for node in _nodes(cluster, live) for taint in node["spec"]["taints"])
    found = [each["timeAdded"] for each in taints if (each["key"], each["effect"]) == (NOT_READY, "NoExecute")]
    return [datetime.fromisoformat(moment).timestamp() for moment in found]


def _most(cluster: Cluster, live: Bundle) -> int:
    """How many nodes flap at most at a time, the next time that any does; the last has ended when it returns."""
    most, deadline = 0, time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        now = sum(
            node["metadata"]["annotations"].get("kwokgen.io/fault-flap") == "active" for node in _nodes(cluster, live)
        )
        if most and not now:
            return most
        most = max(most, now)
        time.sleep(2)
    raise TimeoutError(f"nodes did not flap within {LIMIT} s")
