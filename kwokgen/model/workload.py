"""Workloads: a number of equal jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwokgen.model.claim import Claim
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool, Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a pod; `resources` are canonical quantities, extended ones included."""

    name: str
    image: str
    command: tuple[str, ...]
    requests: Mapping[str, str]
    limits: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """Bounds of a run time in milliseconds; equal where it is fixed."""

    shortest: int
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`count` jobs of `pods` pods; `template` is its catalogue entry's Jinja2 text."""

    name: str
    kind: str
    namespace: str
    count: int
    pods: int
    parallelism: int
    pools: tuple[Pool, ...]
    all_pools: bool
    tolerations: tuple[Taint, ...]
    claims: tuple[Claim, ...]
    container: Container
    init_containers: tuple[Container, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    restart_policy: str
    suspend: bool
    lifecycle: Lifecycle
    default_lifecycle: bool
    run: RunTime | None
    template: str
    file: str
    at: Place
