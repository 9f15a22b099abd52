"""What tests look at again and again until it is so."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from testbed.bundle import Bundle
from testbed.cluster import Cluster


def until(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Raises AssertionError when it has not come true in time; it waits as long as it asks, for others share the machine."""
    deadline = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        if condition():
            return
        assert time.monotonic() < deadline, f"{what} did not come true in {seconds:.0f} s"
        time.sleep(max(0.3, time.monotonic() - asked))


def phases(cluster: Cluster, live: Bundle, name: str = "") -> Counter[str]:
    """How many pods of the bundle's own namespace are in each phase; those whose names begin so."""
    pods = cluster.get("pods", "-n", live.name)
    return Counter(pod["status"]["phase"] for pod in pods if pod["metadata"]["name"].startswith(name))


def running_pods(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """By uid: a pod that was made anew is another."""
    pods = cluster.get("pods", "--all-namespaces", "--field-selector=status.phase=Running")
    return {pod["metadata"]["uid"]: pod for pod in pods}
