"""A pool: a number of equal nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from kwokgen.model.device import Devices
from kwokgen.model.fault import Condition
from kwokgen.model.gpu import Gpus
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.taint import FAKE_TAINT, Taint


class NamePattern(NamedTuple):
    """`before`, the index with at least `width` digits, `after`."""

    before: str
    width: int
    after: str

    @classmethod
    def read(cls, text: str) -> NamePattern:
        """The pattern of `x-{index}` or `x-{index:06d}`."""
        found = re.fullmatch(r"(.*)\{index(?::0(\d)d)?\}(.*)", text)
        if not found:
            raise ValueError(text)
        return cls(found[1], int(found[2] or 0), found[3])

    def name(self, index: int) -> str:
        """The name of one index."""
        return f"{self.before}{index:0{self.width}d}{self.after}"


class Machine(NamedTuple):
    """What a node is: quantities in canonical form, GPUs and their PCI addresses apart.

    `nvlink` is how many such machines a domain of NVLink joins, 0 where none is joined to another.
    """

    name: str
    arch: str
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    labels: Mapping[str, str]
    nvlink: int = 0


class Numa(NamedTuple):
    """By NUMA node of a node, its resources with their capacity and what pods can have; `policy` and `scope` are the kubelet's words."""

    zones: tuple[Mapping[str, tuple[str, str]], ...]
    policy: str
    scope: str


class Pool(NamedTuple):
    """`number` is its position in the blueprint, which its addresses follow from; `others` are devices beside GPUs.

    `detectors` are the conditions of its nodes by what watches them.
    """

    name: str
    number: int
    count: int  # type: ignore[assignment]  # over the method of tuples
    names: NamePattern
    machine: Machine
    gpus: Gpus | None
    others: tuple[Devices, ...]
    exposes_resource: bool
    addresses: IPv4Network
    lifecycle: Lifecycle
    default_lifecycle: bool
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Taint, ...]
    operator_labels: bool
    detectors: Mapping[str, tuple[Condition, ...]]
    numa: Numa | None
    at: Place

    @property
    def clique(self) -> str | None:
        """The label that tells a node's domain of NVLink, if it has one and the operator's labels."""
        return self.gpus.clique if self.gpus and self.operator_labels and self.machine.nvlink else None

    @property
    def slices(self) -> bool:
        """Whether its GPUs are DRA devices."""
        return self.gpus is not None and not self.exposes_resource

    @property
    def own_taints(self) -> tuple[Taint, ...]:
        """Those that the blueprint says, without the one that kwokgen puts before them."""
        return self.taints[self.taints[:1] == (FAKE_TAINT,) :]

    @property
    def published(self) -> tuple[Devices, ...]:
        """The DRA devices of each of its nodes, by driver."""
        return (*((self.gpus.devices,) if self.gpus and self.slices else ()), *self.others)

    @property
    def had(self) -> tuple[Devices, ...]:
        """The same, without what all of its nodes lack."""
        return tuple(each.had(self.count) for each in self.published)

    @property
    def resource(self) -> str | None:
        """The extended resource of its nodes, if they have one."""
        return self.gpus.resource if self.gpus and self.exposes_resource else None
