"""DeviceClasses and claims: who may ask for which devices."""

from __future__ import annotations

from dataclasses import dataclass

from kwokgen.model.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """A class of devices; `created` is false where the cluster already has it."""

    name: str
    selectors: tuple[str, ...]
    created: bool
    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A number of devices of a class; a `count` of None is all that match."""

    name: str
    device_class: str
    count: int | None
    selectors: tuple[str, ...]
    model: str | None
    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A template for a claim per pod, or one claim where `shared`."""

    name: str
    namespace: str
    shared: bool
    requests: tuple[Request, ...]
    at: Place
