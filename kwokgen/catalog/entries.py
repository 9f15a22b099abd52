"""Catalogue entries as model values."""

from __future__ import annotations

from kwokgen.catalog import Fact
from kwokgen.model.target import Kubernetes, Kwok, Limits


def kubernetes(fact: Fact) -> Kubernetes:
    """A minor of `catalog/kubernetes/`."""
    data, limits = fact.data, fact.data["limits"]
    return Kubernetes(
        minor=fact.name,
        kubelet=data["kubelet"],
        resource_api=data["resourceAPI"],
        gates=tuple(data["requires"]["gates"]),
        runtime_config=tuple(data["requires"]["runtimeConfig"]),
        limits=Limits(
            devices_per_slice=limits["devicesPerSlice"],
            devices_per_claim=limits["devicesPerClaim"],
            attributes_per_device=limits["attributesPerDevice"],
        ),
    )


def kwok(fact: Fact) -> Kwok:
    """A release of `catalog/kwok/`."""
    return Kwok(release=fact.name, image=fact.data["image"], template=fact.data["template"], file=fact.file)
