"""Faults: a controller that may do what they ask, once."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "fault-controller"
SUMMARY = "Faults that come and go have a controller of the bundle's own to play them"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Faults that an existing controller is not allowed, and devices that each of several would taint."""
    run, controller = cluster.controller.run, cluster.controller
    for fault in cluster.faults:
        if fault.stages and run == "existing":
            message = "the role of an existing KWOK controller does not allow it to change nodes"
            yield Problem(fault.at.pos("start"), ID, message, "leave out start and for: nodes are born with the fault")
        elif fault.stages and fault.of_slices and controller.crd and controller.shards > 1:
            message = f"each of {controller.shards} controllers would play all slices"
            hint = "write stages: config, or effects without deviceTaint and deviceGone"
            yield Problem(fault.at.pos("start"), ID, message, hint)
