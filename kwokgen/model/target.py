"""The Kubernetes minor that a bundle is for, and the KWOK release that plays it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.model.template import Template


class Limits(NamedTuple):
    """What one object may hold on a minor; None where the minor has no such limit.

    A slice is advanced when a device of it has taints, consumes counters, or has attributes of several values.
    """

    devices_per_slice: int
    devices_per_advanced_slice: int
    devices_per_claim: int
    attributes_per_device: int
    values_per_device: int | None = None
    taints_per_device: int | None = None
    sets_per_slice: int | None = None
    counters_per_slice: int | None = None
    counters_per_set: int | None = None
    counters_per_device: int | None = None
    consumed_per_slice: int | None = None
    pods_per_claim: int | None = None
    sets_per_device: int | None = None
    requests_per_claim: int | None = None
    constraints_per_claim: int | None = None
    selectors_per_request: int | None = None
    alternatives_per_request: int | None = None
    tolerations_per_request: int | None = None


class Feature(NamedTuple):
    """What a part of DRA, or gangs, need that is off by default; `api` and `kind` are of its objects, where minors differ."""

    gates: tuple[str, ...]
    runtime_config: tuple[str, ...]
    api: str | None
    kind: str | None = None


class Kubernetes(NamedTuple):
    """A minor: `resource_api` is the version of resource.k8s.io to write; gates and runtime_config are what DRA needs.

    `watch_list` is whether the API server begins a watch with a list when it is asked to, `own_counters` whether the
    counters of partitions stand in slices of their own, `faults` the ids of what it is known to get wrong.
    """

    minor: str
    kubelet: str
    watch_list: bool
    resource_api: str
    gates: tuple[str, ...]
    runtime_config: tuple[str, ...]
    features: Mapping[str, Feature]
    own_counters: bool
    admin_label: str
    limits: Limits
    faults: Mapping[str, str]


class Kwok(NamedTuple):
    """A KWOK release: its image, and the Jinja2 template of a controller's Deployment.

    `functions` are those that templates of Stages may call, by the kind of object that they are for; "" is any other.
    """

    release: str
    image: str
    template: Template
    functions: Mapping[str, frozenset[str]]

    def called(self, kind: str) -> frozenset[str]:
        """The functions for a kind."""
        return self.functions.get(kind, self.functions[""])


class Requirements(NamedTuple):
    """What the cluster must have before a bundle is applied."""

    gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
