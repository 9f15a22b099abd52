"""Catalogue entries as model values."""

from __future__ import annotations

from kwokgen.catalog import Fact
from kwokgen.model.target import Kubernetes, Kwok, Limits
from kwokgen.model.template import Template


def kubernetes(fact: Fact) -> Kubernetes:
    """A minor of `catalog/kubernetes/`."""
    data, limits = fact.data, fact.data["limits"]
    return Kubernetes(
        minor=fact.name,
        kubelet=data["kubelet"],
        watch_list=data["watchList"],
        resource_api=data["resourceAPI"],
        gates=tuple(data["requires"]["gates"]),
        runtime_config=tuple(data["requires"]["runtimeConfig"]),
        limits=Limits(
            devices_per_slice=limits["devicesPerSlice"],
            devices_per_claim=limits["devicesPerClaim"],
            attributes_per_device=limits["attributesPerDevice"],
        ),
    )


def template(fact: Fact) -> Template:
    """The template of an entry, with its forms when it was compiled."""
    pos = fact.at.pos("template")
    return Template(
        text=fact.data["template"],
        file=pos.file,
        conditions=tuple(fact.compiled.get("conditions", ())),
        forms=fact.compiled.get("forms", {}),
        line=pos.line,
        block=pos.excerpt[pos.column - 1 : pos.column] in {"|", ">"},
    )


def kwok(fact: Fact) -> Kwok:
    """A release of `catalog/kwok/`."""
    return Kwok(release=fact.name, image=fact.data["image"], template=template(fact))
