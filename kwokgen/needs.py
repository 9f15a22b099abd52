"""What a cluster must have before a bundle is applied to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import ceil
from typing import Any

from kwokgen.model.amounts import worth
from kwokgen.model.claim import BY_CLASS, Ask
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Devices, Listed, Policy
from kwokgen.model.place import Place
from kwokgen.model.quota import of_class
from kwokgen.model.taint import Taint
from kwokgen.model.target import Requirements
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos

SEMVER_OF_TWO = r"\b(?:isSemver|semver)\((?:[^()'\"]|'[^']*'|\"[^\"]*\")*,"
"""SemverLib of version 1: https://github.com/kubernetes/kubernetes/blob/v1.34.4/staging/src/k8s.io/apiserver/pkg/cel/environment/base.go ."""
Use = tuple[str, Pos]
"""A feature of DRA, and the place that asks for it."""


def requirements(cluster: Cluster) -> Requirements:
    """Gates and API versions that are off by default, and what other programs must have brought."""
    asked = sorted({feature for feature, _ in used(cluster)})
    dra = bool(asked or cluster.claims or cluster.device_classes or cluster.published)
    others = []
    if cluster.controller.run == "existing":
        others.append(
            "a KWOK controller that takes Stages as objects and manages nodes annotated kwok.x-k8s.io/node=fake"
        )
    others += [f"DeviceClass {entry.name}" for entry in cluster.device_classes if not entry.created]
    others += dict.fromkeys(workload.kind.needs for workload in cluster.workloads if workload.kind.needs)
    others += _queues(cluster)
    others += _instruments(cluster)
    if any(pool.numa for pool in cluster.pools):
        others.append(
            "NodeResourceTopology v0.1.2 of scheduler-plugins: without its definition, its objects are refused"
        )
    known = cluster.kubernetes.features
    features = [known[feature] for feature in asked if feature in known]
    gates = [gate for feature in features for gate in feature.gates]
    configs = [config for feature in features for config in feature.runtime_config]
    return Requirements(
        gates=tuple(dict.fromkeys((*(cluster.kubernetes.gates if dra else ()), *gates))),
        runtime_config=tuple(dict.fromkeys((*(cluster.kubernetes.runtime_config if dra else ()), *configs))),
        others=tuple(others),
    )


def _queues(cluster: Cluster) -> Iterator[str]:
    """The queue system, and what its own configuration must say for the queues of the bundle."""
    queues = cluster.queues
    if queues.form != "default":
        yield (
            f"{queues.system.name} {queues.system.release}".strip()
            + ": without it, its objects are refused, and jobs wait"
        )
    if queues.queues and queues.system.namespace:
        yield f"namespace {queues.system.namespace}"
    if queues.queues:
        yield from queues.system.needs
    if queues.form == "kueue" and (wanted := kueue(cluster)):
        yield f"Kueue's Configuration: `{json.dumps(wanted)}`"


def _instruments(cluster: Cluster) -> Iterator[str]:
    """Who takes the rules, and what is scraped by none of the bundle's own."""
    if cluster.observability.prometheus:
        scraped = " and ".join(dict.fromkeys(each.scrapes for each in cluster.instruments if each.scrapes))
        yield "Prometheus Operator v0.85.0: without it, its objects are refused"
        yield f"a Prometheus of it that scrapes {scraped}"
    if cluster.observability.grafana:
        yield "Grafana, whose sidecar reads ConfigMaps with the label grafana_dashboard of every namespace"


def kueue(cluster: Cluster) -> dict[str, Any]:
    """What of Kueue's Configuration is not as it comes: https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/ ."""
    done: dict[str, Any] = {}
    claims = (claim for workload in cluster.workloads if workload.queue for claim in workload.claims)
    classes = sorted({ask.device_class for claim in claims for request in claim.requests for ask in request.asks})
    counted: dict[str, list[str]] = {}
    for name in classes:
        counted.setdefault(cluster.queues.classes.get(name, of_class(name)), []).append(name)
    if counted:
        mappings = [{"name": name, "deviceClassNames": names} for name, names in counted.items()]
        done |= {"featureGates": {"DynamicResourceAllocation": True}, "resources": {"deviceClassMappings": mappings}}
    queues, cohorts = cluster.queues.queues, cluster.queues.cohorts
    if any(queue.weight for queue in queues) or any(cohort.weight for cohort in cohorts):
        done["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
    return done


def used(cluster: Cluster) -> Iterator[Use]:
    """Every feature of DRA beyond plain devices and claims, at each place that asks for it."""
    for devices in cluster.published:
        yield from _devices(devices)
    for rule in cluster.device_taint_rules:
        yield "device-taint-rules", rule.at.pos()
        yield from _effect(rule.taint, rule.at)
    yield from _classes(cluster)
    yield from _claims(cluster)
    for workload in cluster.workloads if cluster.own_gangs else ():
        yield from _gang(workload, placed=cluster.queues.place)


def _devices(devices: Devices) -> Iterator[Use]:
    if devices.counter_sets:
        yield "partitions", devices.at.pos("partitions", "mode")
    if any(device.policies for device in devices.devices):
        yield "capacity-sharing", devices.at.pos("sharing", "by")
    policies = devices.devices[0].policies if devices.devices else {}
    for name in sorted(name for name, policy in policies.items() if _fractional(policy)):
        yield "fractional-steps", devices.at.pos("sharing", "capacity", name)
    for name in sorted(_listed(devices)):
        yield "list-attributes", devices.at.pos("attributes", name)
    for mark in devices.marks:
        if mark.taint:
            yield "device-taints", mark.at.pos("key")
            yield from _effect(mark.taint, mark.at)


def _fractional(policy: Policy) -> bool:
    """Whether there are steps of fractions, or values that are the same when rounded up."""
    amounts = (policy.default, policy.least, policy.most, policy.step) if policy.step else ()
    fractions = [number for amount in amounts if amount and (number := worth(amount)) != ceil(number)]
    return bool(fractions) or len({ceil(worth(value)) for value in policy.values}) < len(policy.values)


def _listed(devices: Devices) -> set[str]:
    """The attributes of several values that some device has."""
    of_all = (item for device in devices.devices for item in device.attributes.items())
    return {name for name, value in of_all if isinstance(value, Listed)}


def _effect(taint: Taint, at: Place) -> Iterator[Use]:
    if taint.effect == "None":
        yield "device-taint-none", at.pos("effect")


def _classes(cluster: Cluster) -> Iterator[Use]:
    for entry in cluster.device_classes:
        yield from _words(entry.selectors, entry.at)
        if entry.resource:
            yield "extended-resources", entry.at.pos("extendedResourceName")
    for workload in cluster.parts:
        for container, at in workload.containers:
            for name in container.requests:
                if name.startswith(BY_CLASS):
                    yield "extended-resources", at.pos("resources", name)


def _claims(cluster: Cluster) -> Iterator[Use]:
    for claim in cluster.claims:
        for constraint in claim.constraints:
            if constraint.distinct:
                yield "distinct-attribute", constraint.at.pos("distinctAttribute")
        for request in claim.requests:
            if request.admin:
                yield "admin-access", request.at.pos("adminAccess")
            if request.first_available:
                yield "first-available", request.at.pos("firstAvailable")
            for ask in request.asks:
                yield from _ask(ask)


def _gang(workload: Workload, *, placed: bool) -> Iterator[Use]:
    """What of gangs a workload needs; one that a queue system has placed needs no place of the scheduler."""
    if workload.gang:
        yield "gangs", workload.at.pos("gang")
        if workload.placement and not placed:
            yield "gang-topology", workload.at.pos("placement", "within")
        for part in workload.parts:
            for index, claim in enumerate(part.claims):
                if claim.of_gang:
                    yield "gang-claims", part.at.pos("claims", index)


def _words(selectors: tuple[str, ...], at: Place) -> Iterator[Use]:
    """What of CEL comes with a feature."""
    if any(".includes(" in text for text in selectors):
        yield "list-attributes", at.pos("selectors")
    if any("device.allowMultipleAllocations" in text for text in selectors):
        yield "capacity-sharing", at.pos("selectors")
    if any(re.search(SEMVER_OF_TWO, text) for text in selectors):
        yield "semver-of-two", at.pos("selectors")


def _ask(ask: Ask) -> Iterator[Use]:
    yield from _words(ask.selectors, ask.at)
    if ask.capacity:
        yield "capacity-sharing", ask.at.pos("capacity")
    for index, toleration in enumerate(ask.tolerations):
        yield "device-taints", ask.at.pos("tolerations", index)
        if toleration.effect == "None":
            yield "device-taint-none", ask.at.pos("tolerations", index, "effect")
