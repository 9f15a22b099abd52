"""DeviceClasses and claims: who may ask for which devices."""

from __future__ import annotations

from typing import NamedTuple

from kwokgen.model.place import Place


class DeviceClass(NamedTuple):
    """A class of devices; `created` is false where the cluster already has it."""

    name: str
    selectors: tuple[str, ...]
    created: bool
    at: Place


class Request(NamedTuple):
    """A number of devices of a class; a `count` of None is all that match."""

    name: str
    device_class: str
    count: int | None  # type: ignore[assignment]  # over the method of tuples
    selectors: tuple[str, ...]
    model: str | None
    at: Place


class Claim(NamedTuple):
    """A template for a claim per pod, or one claim where `shared`."""

    name: str
    namespace: str
    shared: bool
    requests: tuple[Request, ...]
    at: Place

    @property
    def reference(self) -> str:
        """What containers call it: a DNS label."""
        return self.name.replace(".", "-")
