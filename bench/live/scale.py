"""Ten thousand nodes of eight GPUs and 250 jobs of four pods: in one stream and in four, and what the programs need."""

from __future__ import annotations

import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.live.cluster import MINOR, completed, rendered, say, seconds_of
from kwokgen.pipeline import render
from kwokgen.plan import plan
from testbed import bundle as bundles
from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster

NODES, JOBS, PODS = 10_000, 250, 4
SPEC = f"""
pools: [{{name: h100, count: {NODES}, machine: p5.48xlarge}}]
claims: [{{name: one, requests: [{{deviceClassName: gpu.nvidia.com}}]}}]
workloads: [{{name: train, kind: job, count: {JOBS}, pods: {PODS}, claims: [one], run: 10s}}]
"""
LIMIT = 1_800


def table() -> list[list[str]]:
    """Rows of what was measured, with a column for one stream and one for four."""
    runs = [measured(streams) for streams in (1, 4)]
    return [["", "one stream", "four streams"], *([key, *(run[key] for run in runs)] for key in runs[0])]


def measured(streams: int) -> dict[str, str]:
    """What one run took; raises TimeoutError when nodes do not get Ready or jobs not Complete."""
    with tempfile.TemporaryDirectory() as folder, Cluster.start(MINOR) as cluster:
        live = bundles.read(rendered("scale", SPEC, Path(folder)))
        started = time.monotonic()
        apply_in_streams(cluster, live, streams)
        applied = time.monotonic() - started
        running.wait(cluster, live, jobs=False, limit=LIMIT)
        ready = time.monotonic() - started
        say(f"{streams} streams: applied after {applied:.0f} s, Ready after {ready:.0f} s")
        jobs = str(live.folder / "80-workloads.yaml")
        complete = seconds_of(
            lambda: cluster.kubectl("apply", "-f", jobs), lambda: completed(cluster, live.name) == JOBS, LIMIT
        )
        found = {
            "`plan` predicts for the apply": _planned(Path(folder) / "scale.blueprint"),
            "nodes and slices applied": f"{applied:.0f} s",
            "all nodes Ready": f"{ready:.0f} s",
            f"{JOBS} jobs of {PODS} pods Complete, from their apply": f"{complete:.0f} s",
        }
        return found | {f"memory of {process.name}": _memory(process.pid) for process in cluster.running}


def apply_in_streams(cluster: Cluster, live: Bundle, streams: int) -> None:
    """What is neither node nor slice nor job first, with the controllers; then the many files, so many side by side.

    Ready nodes must come one by one, as with the Deployment that `apply -f DIR` begins with: when all are silent at once
    and then return, the controller manager of 1.37.2 ends (nodelifecycle, handleDisruption: nil pointer).
    """
    many = [file for file in sorted(live.folder.glob("*.yaml")) if re.match(r"[45]0-", file.name)]
    for file in sorted(live.folder.glob("[0-3]*.yaml")) + sorted(live.folder.glob("70*.yaml")):
        cluster.kubectl("apply", "-f", str(file))
    running.play(cluster, live)
    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(lambda file: cluster.kubectl("apply", "-f", str(file)), many))


def _planned(blueprint: Path) -> str:
    done = render(str(blueprint))
    return f"{plan(done).apply_seconds:.0f} s"


def _memory(pid: int) -> str:
    """The highest so far."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return f"{int(peak) / 1024**2:.2f} GiB"
