"""The Kubernetes minor that a bundle is for, and the KWOK release that plays it."""

from __future__ import annotations

from typing import NamedTuple

from kwokgen.model.template import Template


class Limits(NamedTuple):
    """What one object may hold on a minor."""

    devices_per_slice: int
    devices_per_claim: int
    attributes_per_device: int


class Kubernetes(NamedTuple):
    """A minor: `resource_api` is the version of resource.k8s.io to write; gates and runtime_config are what DRA needs.

    `watch_list` is whether the API server begins a watch with a list when it is asked to.
    """

    minor: str
    kubelet: str
    watch_list: bool
    resource_api: str
    gates: tuple[str, ...]
    runtime_config: tuple[str, ...]
    limits: Limits


class Kwok(NamedTuple):
    """A KWOK release: its image, and the Jinja2 template of a controller's Deployment."""

    release: str
    image: str
    template: Template


class Requirements(NamedTuple):
    """What the cluster must have before a bundle is applied."""

    gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
