"""GPUs as an extended resource, which is a number: what of them it cannot show, and how it is multiplied."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.model.place import Place

OF_DEVICES = ("partitions", "taints", "missing")
UNSEEN = ("attributes", "capacity", "deviceName", "pcieRoots")
"""What an extended resource does not show."""


def unseen(scope: Scope, written: Data, at: Place) -> None:
    """An extended resource is a number."""
    for key in OF_DEVICES:
        if key in written:
            scope.fail(at.key(key), "gpus", f'"{key}" is of DRA devices, the pool exposes a number', "use expose: dra")
    for key in UNSEEN:
        if key in written:
            scope.warn(at.key(key), "gpus", f'"{key}" changes nothing: the pool exposes a number', "leave it out")


def replicas(scope: Scope, written: Data, at: Place, *, extended: bool) -> int:
    """How many times each GPU is counted."""
    sharing = written.get("sharing", {})
    where = at.below("sharing")
    if extended and sharing.get("by") == "capacity":
        scope.fail(where.pos("by"), "sharing", "only DRA devices are shared by capacity", "use expose: dra")
    for key in ("interval", "activeThreadPercentage", "pinnedMemory") if extended else ():
        if key in sharing:
            message = f'"{key}" is of claims; a device plugin has it in its own configuration'
            scope.fail(where.key(key), "sharing", message, "leave it out")
    if extended and sharing and "replicas" not in sharing and sharing["by"] != "capacity":
        scope.fail(where.pos(), "sharing", 'missing key "replicas": how many times each GPU is counted')
    if not extended and "replicas" in sharing:
        message = "replicas multiply an extended resource, the pool has DRA devices"
        scope.fail(where.key("replicas"), "sharing", message, "leave it out, or use expose: extended-resource")
    times: int = sharing.get("replicas", 1) if extended else 1
    return times
