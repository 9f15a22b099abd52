"""The Kubernetes minor that a bundle is for, and the KWOK release that plays it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one object may hold on a minor."""

    devices_per_slice: int
    devices_per_claim: int
    attributes_per_device: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubernetes:
    """A minor: `resource_api` is the version of resource.k8s.io to write; gates and runtime_config are what DRA needs."""

    minor: str
    kubelet: str
    resource_api: str
    gates: tuple[str, ...]
    runtime_config: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Kwok:
    """A KWOK release: its image, and the Jinja2 template of a controller's Deployment."""

    release: str
    image: str
    template: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What the cluster must have before a bundle is applied."""

    gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
