"""What a cluster must have before a bundle is applied to it."""

from __future__ import annotations

from kwokgen.model.cluster import Cluster
from kwokgen.model.target import Requirements


def requirements(cluster: Cluster) -> Requirements:
    """Gates and API versions that are off by default, and what other programs must have brought."""
    dra = bool(cluster.claims or cluster.device_classes or any(pool.slices for pool in cluster.pools))
    others = []
    if cluster.controller.run == "existing":
        others.append(
            "a KWOK controller that takes Stages as objects and manages nodes annotated kwok.x-k8s.io/node=fake"
        )
    others += [f"DeviceClass {entry.name}" for entry in cluster.device_classes if not entry.created]
    return Requirements(
        gates=cluster.kubernetes.gates if dra else (),
        runtime_config=cluster.kubernetes.runtime_config if dra else (),
        others=tuple(others),
    )
