"""What a controller must be allowed to do, as its Stages ask, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kwokgen.series import Document

RESOURCES = {"Node": ("", "nodes"), "Pod": ("", "pods"), "ResourceSlice": ("resource.k8s.io", "resourceslices")}
ALWAYS = ("Node", "Pod")
NODE_LEASES = "kube-node-lease"
"""The leases of nodes are here, and KWOK asks for no others:
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/kwok/controllers/controller.go#L220"""
LEASES = [
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "list", "update", "watch"]}
]


def rules(stages: Iterable[Document], *, crd: bool) -> list[dict[str, Any]]:
    """The rules of a ClusterRole for a controller that plays `stages`; KWOK never gets a single object."""
    verbs: dict[tuple[str, str], set[str]] = {RESOURCES[kind]: {"list", "watch"} for kind in ALWAYS}
    for stage in stages:
        for (group, resource), asked in _asked(stage).items():
            verbs.setdefault((group, resource), set()).update(asked)
    if crd:
        # Listed only where the API server does not begin the watch with a list.
        verbs["kwok.x-k8s.io", "stages"] = {"list", "watch"}
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": sorted(asked)}
        for (group, resource), asked in sorted(verbs.items())
    ]


def _asked(stage: Document) -> dict[tuple[str, str], set[str]]:
    group, resource = RESOURCES[stage["spec"]["resourceRef"]["kind"]]
    action = stage["spec"]["next"]
    asked: dict[tuple[str, str], set[str]] = {(group, resource): {"list", "watch"}}
    if "statusTemplate" in action:
        asked[group, f"{resource}/status"] = {"patch"}
    for patch in action.get("patches", ()):
        asked.setdefault(_target(patch, group, resource), set()).add("patch")
    if action.get("delete"):
        asked[group, resource].add("delete")
    if "event" in action:
        asked["", "events"] = {"create", "patch"}
    return asked


def _target(patch: dict[str, str], group: str, resource: str) -> tuple[str, str]:
    return group, f"{resource}/{patch['subresource']}" if "subresource" in patch else resource
