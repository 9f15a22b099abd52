"""Catalogue entries as model values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen.catalog import Fact
from kwokgen.model.instruments import Instrument, Rule
from kwokgen.model.queue import Guarantee, System, Trouble
from kwokgen.model.target import Feature, Kubernetes, Kwok, Limits
from kwokgen.model.template import Template
from kwokgen.model.workload import Kind


def kubernetes(fact: Fact) -> Kubernetes:
    """A minor of `catalog/kubernetes/`."""
    data = fact.data
    return Kubernetes(
        minor=fact.name,
        kubelet=data["kubelet"],
        watch_list=data["watchList"],
        resource_api=data["resourceAPI"],
        gates=tuple(data["requires"]["gates"]),
        runtime_config=tuple(data["requires"]["runtimeConfig"]),
        features={name: _feature(entry, data["gates"]) for name, entry in data["features"].items()},
        own_counters=data["counters"] == "own-slice",
        admin_label=data["adminAccessLabel"],
        limits=_limits(data["limits"]),
        faults={fault["id"]: fault["summary"] for fault in data["faults"]},
    )


def _feature(entry: Mapping[str, Any], gates: Mapping[str, Any]) -> Feature:
    return Feature(
        gates=tuple(gate for gate in entry.get("gates", ()) if not gates[gate]["default"]),
        runtime_config=tuple(entry.get("runtimeConfig", ())),
        api=entry.get("api"),
        kind=entry.get("kind"),
    )


def _limits(data: Mapping[str, int]) -> Limits:
    return Limits(
        devices_per_slice=data["devicesPerSlice"],
        devices_per_advanced_slice=data["devicesPerAdvancedSlice"],
        devices_per_claim=data["devicesPerClaim"],
        requests_per_claim=data.get("requestsPerClaim"),
        constraints_per_claim=data.get("constraintsPerClaim"),
        selectors_per_request=data.get("selectorsPerRequest"),
        alternatives_per_request=data.get("alternativesPerRequest"),
        tolerations_per_request=data.get("tolerationsPerRequest"),
        sets_per_device=data.get("counterSetsPerDevice"),
        attributes_per_device=data["attributesPerDevice"],
        values_per_device=data.get("attributeValuesPerDevice"),
        taints_per_device=data.get("taintsPerDevice"),
        sets_per_slice=data.get("counterSetsPerSlice"),
        counters_per_slice=data.get("countersPerSlice"),
        counters_per_set=data.get("countersPerSet"),
        counters_per_device=data.get("countersPerDevice"),
        consumed_per_slice=data.get("consumedCountersPerSlice"),
        pods_per_claim=data.get("podsPerClaim"),
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


def workload(fact: Fact) -> Kind:
    """A sort of workload of `catalog/workloads/`."""
    data = fact.data
    return Kind(
        name=fact.name,
        needs=data.get("needs", ""),
        waits=data.get("waits", "--for=condition=Complete job"),
        pod=data.get("pod", "{job}-{index}"),
        letter=data.get("letter", False),
        container=data.get("container", ""),
        indexed=data.get("indexed", True),
        ends=data.get("ends", True),
        selects=data.get("selects", False),
        gangs=frozenset(data["gangs"]) if "gangs" in data else None,
        least=data.get("least", {}),
        queue_waits=data.get("queueWaits", ""),
        roles=tuple(data.get("roles", ())),
        more_roles=data.get("moreRoles", False),
        bare=data.get("bare", False),
        let_in=data.get("letIn", "object"),
        systems=frozenset(data["systems"]) if "systems" in data else None,
    )


def kwok(fact: Fact) -> Kwok:
    """A release of `catalog/kwok/`."""
    functions = fact.data["functions"]
    common = {*functions["go"], *functions["sprig"], *functions["kwok"]}
    called = {kind: frozenset({*common, *functions.get(kind, ())}) for kind in ("", "Node", "Pod")}
    return Kwok(release=fact.name, image=fact.data["image"], template=template(fact), functions=called)


def system(fact: Fact) -> System:
    """A queue system of `catalog/systems/`."""
    data = fact.data
    rule = data.get("guarantee")
    return System(
        name=fact.name,
        form=data["form"],
        release=data.get("release", ""),
        scheduler=data.get("scheduler"),
        namespace=data.get("namespace"),
        needs=tuple(data.get("needs", ())),
        reserved=tuple(data.get("reserved", ())),
        kinds=data["kinds"],
        words=frozenset(data["words"]),
        resources=frozenset(data["resources"]) if "resources" in data else None,
        guarantee=Guarantee(rule["priority"], rule["label"], rule["value"]) if rule else None,
        faults={fault["id"]: Trouble(fault["summary"], fault["refuses"]) for fault in data["faults"]},
    )


def instrument(fact: Fact) -> Instrument:
    """What is recorded of a program of `catalog/instruments/`."""
    data = fact.data
    return Instrument(
        name=fact.name,
        systems=frozenset(data["systems"]) if "systems" in data else None,
        of=data.get("of"),
        scrapes=data.get("scrapes", ""),
        rules=tuple(_rule(each) for each in data["rules"]),
    )


def _rule(data: Mapping[str, Any]) -> Rule:
    return Rule(
        record=data["record"],
        title=data["title"],
        unit=data["unit"],
        legend=data.get("legend"),
        labels=data.get("labels", {}),
        expr=data["expr"],
    )
