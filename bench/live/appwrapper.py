"""MCAD's second stress test: the jobs of its first, each within an AppWrapper, let in by a controller.

Theirs is KWOK with MCAD, which let in about one job a second; ours is AppWrapper v1.2.0, which took its place, without a queue
system. It runs as it comes: its client asks the API server 20 times a second. Seconds are those until all Jobs are Complete.
https://github.com/project-codeflare/multi-cluster-app-dispatcher/tree/main/test/perf-test
"""

from __future__ import annotations

from bench.live.mcad import SIZES, SPEC, compared

THEIRS = dict(zip(SIZES, (23, 31, 44, 82, 118, 135), strict=True))
"""Their column for KWOK with MCAD, in seconds."""


def table() -> list[list[str]]:
    """Rows of jobs, their seconds, our seconds paced, and at once."""
    return compared("appwrapper", SPEC.replace("kind: job", "kind: appwrapper"), "appwrappers", THEIRS)
