"""DeviceClasses and claims: who may ask for which devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.model.device import Mark, Opaque
from kwokgen.model.place import Place
from kwokgen.model.taint import Taint

BY_CLASS = "deviceclass.resource.kubernetes.io/"
"""Begins the extended resource that every DeviceClass has by itself."""
CLOSING = frozenset({"NoSchedule", "NoExecute"})
"""Effects of a device's taint that keep claims off it."""


class DeviceClass(NamedTuple):
    """A class of devices; `created` is false where the cluster already has it."""

    name: str
    selectors: tuple[str, ...]
    created: bool
    resource: str | None
    config: tuple[Opaque, ...]
    at: Place


class Toleration(NamedTuple):
    """Taints of devices that a request puts up with; a key or effect of None is every one."""

    operator: str
    key: str | None = None
    value: str | None = None
    effect: str | None = None
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/devicetoleration.go ."""
        said = self.key in (None, taint.key) and self.effect in (None, taint.effect)
        return said and (self.operator == "Exists" or (self.value or "") == (taint.value or ""))


class Model(NamedTuple):
    """A GPU of the catalogue, and the attribute of its driver's devices that a claim knows it by."""

    name: str
    driver: str
    attribute: str
    value: str


class Ask(NamedTuple):
    """A number of devices of a class; a `count` of None is all that match."""

    name: str
    device_class: str
    count: int | None  # type: ignore[assignment]  # over the method of tuples
    selectors: tuple[str, ...]
    model: Model | None
    capacity: Mapping[str, str]
    tolerations: tuple[Toleration, ...]
    at: Place

    def cannot_have(self, mark: Mark) -> bool:
        """Whether the devices of a mark are none for it, as long as nobody takes the mark away."""
        taint = mark.taint
        if taint is None or mark.later or taint.effect not in CLOSING:
            return mark.lost
        return not any(each.tolerates(taint) for each in self.tolerations)


class Request(NamedTuple):
    """One ask, or the first of several that can be had."""

    name: str
    asks: tuple[Ask, ...]
    first_available: bool
    admin: bool
    at: Place

    @property
    def least(self) -> int:
        """The fewest devices that it can be given, as far as the claim says."""
        return min(ask.count or 0 for ask in self.asks)


class Constraint(NamedTuple):
    """An attribute that the devices of some requests have in common, or no two of them; all requests when empty."""

    attribute: str
    distinct: bool
    requests: tuple[str, ...]
    at: Place


class Claim(NamedTuple):
    """One claim where `shared`, or else a template: for a claim of each gang where `of_gang`, or of each pod."""

    name: str
    namespace: str
    shared: bool
    of_gang: bool
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    config: tuple[Opaque, ...]
    at: Place

    @property
    def reference(self) -> str:
        """What containers call it: a DNS label."""
        return self.name.replace(".", "-")
