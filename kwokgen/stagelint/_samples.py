"""Objects in each state of their lives, as a Stage may meet them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = dict[str, Any]
MOMENT = "2026-01-01T00:00:00Z"


def _node(phase: str = "", **conditions: str) -> Data:
    listed = [
        {"type": name, "status": status, "lastTransitionTime": MOMENT, "lastHeartbeatTime": MOMENT}
        for name, status in conditions.items()
    ]
    status: Data = {"capacity": {"cpu": "8", "pods": "110"}, "allocatable": {"cpu": "8", "pods": "110"}}
    status |= {"phase": phase} if phase else {}
    return {
        "metadata": {"name": "node", "creationTimestamp": MOMENT},
        "spec": {"taints": [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]},
        "status": status | ({"conditions": listed} if listed else {}),
    }


def _pod(phase: str, *, job: bool = True, deleted: bool = False, init: Data | None = None, **status: Any) -> Data:
    meta: Data = {"name": "pod", "namespace": "default", "creationTimestamp": MOMENT}
    if job:
        meta["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "job"}]
    if deleted:
        meta["deletionTimestamp"] = MOMENT
    spec: Data = {"nodeName": "node", "containers": [{"name": "main", "image": "image"}]}
    if init:
        spec["initContainers"] = [{"name": "first", "image": "image"}]
        status["initContainerStatuses"] = [{"name": "first", "state": init}]
    scheduled = _condition("PodScheduled", "True")
    conditions = [scheduled, *(_condition(name, said) for name, said in status.pop("conditions", {}).items())]
    return {"metadata": meta, "spec": spec, "status": {"phase": phase, "conditions": conditions, **status}}


def _condition(name: str, status: str) -> Data:
    return {"type": name, "status": status, "lastTransitionTime": MOMENT}


def _containers(state: Data) -> Data:
    return {
        "containerStatuses": [{"name": "main", "image": "image", "restartCount": 0, "state": state}],
        "podIP": "10.64.0.1",
        "podIPs": [{"ip": "10.64.0.1"}],
        "startTime": MOMENT,
    }


_WAITING = _containers({"waiting": {"reason": "PodInitializing"}})
_RUNNING = _containers({"running": {"startedAt": MOMENT}})
_READY = {"Initialized": "True", "ContainersReady": "True", "Ready": "True"}
_DONE = {"Initialized": "True", "ContainersReady": "False", "Ready": "False"}
_ENDED = {"exitCode": 0, "startedAt": MOMENT, "finishedAt": MOMENT}

NODES = {
    "a new node": _node(),
    "a Ready node": _node("Running", Ready="True", MemoryPressure="False"),
    "a NotReady node": _node("Running", Ready="False"),
    "a node that is Unknown": _node("Running", Ready="Unknown"),
    "a node with a fault": _node("Running", Ready="False", KwokgenFault="True"),
}
PODS = {
    "a bound pod": _pod("Pending"),
    "a pod that is created": _pod(
        "Pending", conditions={"Initialized": "True"}, **_containers({"waiting": {"reason": "ContainerCreating"}})
    ),
    "a pod whose init container waits": _pod(
        "Pending", init={"waiting": {"reason": "PodInitializing"}}, conditions={"Initialized": "False"}, **_WAITING
    ),
    "a pod whose init container runs": _pod(
        "Pending", init={"running": {"startedAt": MOMENT}}, conditions={"Initialized": "False"}, **_WAITING
    ),
    "a running pod of a Job": _pod("Running", conditions=_READY, **_RUNNING),
    "a running pod of nobody": _pod("Running", job=False, conditions=_READY, **_RUNNING),
    "a pod that succeeded": _pod("Succeeded", conditions=_DONE, **_containers({"terminated": _ENDED})),
    "a pod that failed": _pod("Failed", conditions=_DONE, **_containers({"terminated": _ENDED | {"exitCode": 1}})),
    "a bound pod that is deleted": _pod("Pending", deleted=True),
    "a running pod that is deleted": _pod("Running", deleted=True, conditions=_READY, **_RUNNING),
    "a succeeded pod that is deleted": _pod(
        "Succeeded", deleted=True, conditions=_DONE, **_containers({"terminated": _ENDED})
    ),
}
STANDARD: Mapping[str, Mapping[str, Data]] = {"Node": NODES, "Pod": PODS}
"""Objects by kind and by the words that messages have for them."""
ENDED = {"a pod that succeeded", "a pod that failed"}
