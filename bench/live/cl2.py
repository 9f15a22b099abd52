"""ClusterLoader2's DRA test: long-running jobs take a share of all devices, then short-lived ones go through the rest.

https://github.com/kubernetes/perf-tests/tree/master/clusterloader2/testing/dra
"""

from __future__ import annotations

from functools import partial

from bench.live.cluster import completed, running_pods, say, seconds_of, standing
from bench.live.mcad import only_cluster
from testbed.cluster import Cluster

NODES, DEVICES = (10, 50, 100), 8
SHARE = 0.8
SHORT = 20
"""Short-lived jobs for each ten nodes, of one device each."""


def table() -> list[list[str]]:
    """Rows of devices, and seconds until the long jobs run and until the short ones are through."""
    rows = [
        [
            "Nodes × devices",
            "Long-running jobs",
            "from their apply until all run",
            "Short-lived jobs of 1 s",
            "from their apply until all are Complete",
        ]
    ]
    for nodes in NODES:
        rows.append(_row(nodes, round(nodes * DEVICES * SHARE), nodes * SHORT // 10))
        say(" | ".join(rows[-1]))
    return rows


def _spec(nodes: int, long: int, short: int) -> str:
    return f"""
    pools:
    - name: kwok
      count: {nodes}
      machine: {{cpu: 32, memory: 256Gi, pods: 110}}
      gpus: {{count: {DEVICES}, driver: cl2-gpu.kwok.x-k8s.io, attributes: {{gpu_type: kwok-gpu}}, capacity: {{memory: 8Gi}}}}
    claims: [{{name: one, requests: [{{deviceClassName: cl2-gpu.kwok.x-k8s.io}}]}}]
    workloads:
    - {{name: long, kind: job, count: {long}, claims: [one], run: 10h}}
    - {{name: short, kind: job, count: {short}, claims: [one], run: 1s}}
    """


def _row(nodes: int, long: int, short: int) -> list[str]:
    with standing("cl2", _spec(nodes, long, short), only_cluster) as (cluster, live):
        jobs = (live.folder / "80-workloads.yaml").read_text(encoding="utf-8").split("---\n")[1:]
        cluster.kubectl("apply", "-f", str(live.folder / "70-claims.yaml"))
        took = [
            seconds_of(partial(_apply, cluster, part), done, 600)
            for part, done in (
                (jobs[:long], lambda: running_pods(cluster, live.name) == long),
                (jobs[long:], lambda: completed(cluster, live.name) == short),
            )
        ]
    return [f"{nodes} × {DEVICES}", str(long), f"{took[0]:.1f} s", str(short), f"{took[1]:.1f} s"]


def _apply(cluster: Cluster, jobs: list[str]) -> None:
    cluster.kubectl("apply", "-f", "-", stdin="---\n" + "---\n".join(jobs))
