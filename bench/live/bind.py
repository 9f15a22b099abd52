"""The YuniKorn talk's figure: the rate of bindings, asked of a Prometheus that scrapes the API server.

`rate(apiserver_request_total{resource="pods",subresource="binding",verb="POST"}[1m])`, while 1,000 pods are bound to
pools of different machines; the highest value, and the average of the seconds in which pods were bound.
"""

from __future__ import annotations

import time

from bench.live.cluster import say, seconds_of, standing
from bench.live.mcad import only_cluster
from testbed.cluster import Cluster
from testbed.prometheus import Prometheus, prometheus

PODS = 1_000
QUERY = 'sum(rate(apiserver_request_total{resource="pods",subresource="binding",verb="POST"}[1m]))'
POOLS = {
    "one machine": "- {name: a, count: 100, machine: {cpu: 32, memory: 128Gi, pods: 110}}",
    "three machines": (
        "- {name: a, count: 34, machine: m7i.24xlarge}\n- {name: b, count: 33, machine: {cpu: 16, memory: 64Gi, pods: 60}}\n"
        "- {name: c, count: 33, machine: {cpu: 64, memory: 512Gi, pods: 250}}"
    ),
}


def table() -> list[list[str]]:
    """Rows of pools, seconds until all pods are bound, and what Prometheus says of the rate."""
    rows = [["Pools", "Pods", "until all are bound", "highest rate over 1m", "pods over seconds"]]
    for name, pools in POOLS.items():
        spec = f"pools:\n{pools}\nworkloads: [{{name: job, kind: job, pods: {PODS}, run: 1h, container: {{resources: {{cpu: 100m}}}}}}]"
        rows.append([name, str(PODS), *_row(spec)])
        say(" | ".join(rows[-1]))
    return rows


def _row(spec: str) -> list[str]:
    with standing("bind", spec, only_cluster) as (cluster, live), prometheus(cluster) as server:
        # A rate needs a counter that is there before: one pod of another node's makes it.
        cluster.kubectl("create", "deployment", "first", "--image=none", "-n", live.name)
        time.sleep(5)
        jobs = str(live.folder / "80-workloads.yaml")
        took = seconds_of(lambda: cluster.kubectl("apply", "-f", jobs), lambda: _bound(cluster, live.name) >= PODS, 300)
        highest = 0.0
        for _ in range(30):
            highest = max(highest, _rate(server))
            time.sleep(1)
    return [f"{took:.1f} s", f"{highest:.1f} /s", f"{PODS / took:.1f} /s"]


def _bound(cluster: Cluster, namespace: str) -> int:
    selector = ("-l", "job-name=job-0", "--field-selector=spec.nodeName!=", "--no-headers")
    return cluster.kubectl("get", "pods", "-n", namespace, *selector).stdout.count("\n")


def _rate(server: Prometheus) -> float:
    return max((value for _, value in server.ask(QUERY)), default=0.0)
