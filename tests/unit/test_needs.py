"""What each feature of DRA needs on each minor: nothing, gates and API versions, or a newer minor.

Gates and their defaults: https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/features/kube_features.go
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from kwokgen.blueprint.features import WORDS
from kwokgen.catalog import Catalog
from kwokgen.needs import requirements
from kwokgen.problem import KwokgenError
from tests.unit.rendering import contents, rendered

MINORS = Catalog().names("kubernetes")
FIRST_DEFAULT = "1.34"
"""The first minor with DRA on by default."""
BEFORE = (("DynamicResourceAllocation",), ("resource.k8s.io/v1beta1=true",))
NODE = "pools: [{name: a, count: 1, machine: {cpu: 8, memory: 8Gi}}]\n"
GPUS = "pools: [{name: a, count: 1, machine: {cpu: 8, memory: 8Gi}, gpus: {driver: gpu.example.com, count: 2%s}}]\n"
SHARED = GPUS % ", capacity: {memory: 8Gi}, sharing: {by: capacity, capacity: {memory: {min: 1Gi}}}"
CLAIM = "claims: [{name: one, requests: [{deviceClassName: gpu.example.com%s}]}]\n"
LIST = GPUS % ", attributes: {racks: {strings: [a, b]}}"
BY_NAME = "deviceclass.resource.kubernetes.io/gpu.example.com"


class Row(NamedTuple):
    """A blueprint's spec that has a feature first on the minor `since`, and what it needs by minor; None is no DRA."""

    spec: str
    feature: str | None
    since: str | None
    gates: Mapping[str, tuple[str, ...]] = {}
    configs: Mapping[str, str] = {}


def before(minor: str, *gates: str, since: str = "1.33") -> dict[str, tuple[str, ...]]:
    """Gates that are off from one minor on, until another has them on."""
    return {each: gates for each in MINORS if since <= each < minor}


TAINTS = before("1.36", "DRADeviceTaints")
RULES = before("1.35", "DRADeviceTaints") | {
    "1.35": ("DRADeviceTaints", "DRADeviceTaintRules"),
    "1.36": ("DRADeviceTaintRules",),
}
RULE_CONFIGS = dict.fromkeys(("1.33", "1.34", "1.35"), "resource.k8s.io/v1alpha3=true") | {
    "1.36": "resource.k8s.io/v1beta2=true"
}
SHARING = before("1.36", "DRAConsumableCapacity", since="1.34")
BY_RESOURCE = before("1.36", "DRAExtendedResource", since="1.34")
GANGS = {"1.35": ("GenericWorkload", "GangScheduling"), "1.36": ("GenericWorkload", "GangScheduling")} | {
    "1.37": ("GenericWorkload",)
}
GANG_CONFIGS = {
    "1.35": "scheduling.k8s.io/v1alpha1=true",
    "1.36": "scheduling.k8s.io/v1alpha2=true",
    "1.37": "scheduling.k8s.io/v1beta1=true",
}
LISTS = before("1.38", "DRAListTypeAttributes", since="1.36")
TABLE = {
    "no-devices": Row(NODE, None, None),
    "plain-device": Row(GPUS % "", None, "1.32"),
    "plain-claim": Row(GPUS % "" + CLAIM % ", count: 2", None, "1.32"),
    "class-only": Row(NODE + "deviceClasses: [{name: a, selectors: [device.driver == 'a']}]", None, "1.32"),
    "devices-of-no-node": Row(
        NODE + "networkDevices: [{name: nics, driver: nic.example.com, count: 1, nodes: all}]", None, "1.32"
    ),
    "match": Row(
        GPUS % ", pcieRoots: 1" + "claims: [{name: one, requests: [{deviceClassName: gpu.example.com}], "
        "constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}]",
        None,
        "1.32",
    ),
    "admin-access": Row(
        GPUS % "" + CLAIM % ", adminAccess: true" + "namespaces: [{name: ops, adminAccess: true}]",
        "admin-access",
        "1.32",
        before("1.34", "DRAAdminAccess", since="1.32"),
    ),
    "first-available": Row(
        GPUS % "" + "claims: [{name: one, requests: [{firstAvailable: [{deviceClassName: gpu.example.com}]}]}]",
        "first-available",
        "1.33",
        before("1.34", "DRAPrioritizedList"),
    ),
    "partitions": Row(
        GPUS % ", partitions: {mode: dynamic, table: {slices: 2, profiles: [{name: half, size: 1}]}}",
        "partitions",
        "1.33",
        before("1.36", "DRAPartitionableDevices"),
    ),
    "device-taints": Row(GPUS % ", taints: [{key: a.b/c, effect: NoSchedule}]", "device-taints", "1.33", TAINTS),
    "tolerations": Row(GPUS % "" + CLAIM % ", tolerations: [{operator: Exists}]", "device-taints", "1.33", TAINTS),
    "taint-of-no-effect": Row(
        GPUS % ", taints: [{key: a.b/c, effect: None}]",
        "device-taint-none",
        "1.35",
        before("1.36", "DRADeviceTaints", since="1.35"),
    ),
    "rules-alone": Row(
        NODE + "deviceTaintRules: [{name: r, driver: real.example.com, key: a.b/c, effect: NoSchedule}]",
        "device-taint-rules",
        "1.33",
        RULES,
        RULE_CONFIGS,
    ),
    "capacity-sharing": Row(SHARED, "capacity-sharing", "1.34", SHARING),
    "part-of-a-device": Row(SHARED + CLAIM % ", capacity: {memory: 2Gi}", "capacity-sharing", "1.34", SHARING),
    "fractional-steps": Row(
        GPUS % ", capacity: {cores: 8}, sharing: {by: capacity, capacity: {cores: {min: 500m, step: 500m}}}",
        "fractional-steps",
        "1.37",
        {"1.37": ("DRAFractionalCapacityRange",)},
    ),
    "values-of-one-whole-number": Row(
        GPUS % ", capacity: {cores: 8}, sharing: {by: capacity, capacity: {cores: {values: [500m, 1]}}}",
        "fractional-steps",
        "1.37",
        {"1.37": ("DRAFractionalCapacityRange",)},
    ),
    "fractional-values": Row(
        GPUS % ", capacity: {cores: 8}, sharing: {by: capacity, capacity: {cores: {values: [500m, 1500m]}}}",
        "capacity-sharing",
        "1.34",
        SHARING,
    ),
    "fractional-range": Row(
        GPUS % ", capacity: {cores: 8}, sharing: {by: capacity, capacity: {cores: {min: 500m}}}",
        "capacity-sharing",
        "1.34",
        SHARING,
    ),
    "selector-of-shared": Row(
        GPUS % "" + CLAIM % ", selectors: ['!device.allowMultipleAllocations']", "capacity-sharing", "1.34", SHARING
    ),
    "extended-resource": Row(
        GPUS % "" + "deviceClasses: [{name: gpu.example.com, extendedResourceName: example.com/gpu}]",
        "extended-resources",
        "1.34",
        BY_RESOURCE,
    ),
    "container-of-a-class": Row(
        GPUS % "" + f"workloads: [{{name: w, kind: job, container: {{resources: {{{BY_NAME}: 1}}}}}}]",
        "extended-resources",
        "1.34",
        BY_RESOURCE,
    ),
    "init-container-of-a-class": Row(
        GPUS % "" + f"workloads: [{{name: w, kind: job, initContainers: [{{name: i, resources: {{{BY_NAME}: 1}}}}]}}]",
        "extended-resources",
        "1.34",
        BY_RESOURCE,
    ),
    "list-attributes": Row(LIST, "list-attributes", "1.36", LISTS),
    "selector-of-a-list": Row(
        LIST + CLAIM % """, selectors: ["device.attributes['gpu.example.com'].racks.includes('a')"]""",
        "list-attributes",
        "1.36",
        LISTS,
    ),
    "gang": Row(NODE + "workloads: [{name: w, kind: job, gang: true}]", "gangs", "1.35", GANGS, GANG_CONFIGS),
    "gang-within-a-leaf": Row(
        NODE + "topology: {schemes: [topograph], levels: [{name: leaf, count: 1, nodes: 9}]}\n"
        "workloads: [{name: w, kind: job, gang: true, placement: {within: leaf}}]",
        "gang-topology",
        "1.36",
        {minor: (*gates, "TopologyAwareWorkloadScheduling") for minor, gates in GANGS.items()},
        GANG_CONFIGS,
    ),
    "claim-of-a-gang": Row(
        GPUS % "" + "claims: [{name: one, shared: gang, requests: [{deviceClassName: gpu.example.com}]}]\n"
        "workloads: [{name: w, kind: job, gang: true, claims: [one]}]",
        "gang-claims",
        "1.36",
        {minor: (*gates, "DRAWorkloadResourceClaims") for minor, gates in GANGS.items()},
        GANG_CONFIGS,
    ),
    "selector-of-a-normalised-version": Row(
        GPUS % ", attributes: {v: {version: 1.0.0}}"
        + CLAIM % """, selectors: ["device.attributes['gpu.example.com'].v == semver('v1.0', true)"]""",
        "semver-of-two",
        "1.34",
    ),
    "distinct-attribute": Row(
        GPUS % ", pcieRoots: 2" + "claims: [{name: one, requests: [{deviceClassName: gpu.example.com, count: 2}], "
        "constraints: [{distinctAttribute: resource.kubernetes.io/pcieRoot}]}]",
        "distinct-attribute",
        "1.35",
        before("1.36", "DRAConsumableCapacity", since="1.35"),
    ),
}


def test_every_feature_is_in_the_table() -> None:
    """Those of the catalogue that a blueprint can ask for, and no other."""
    assert {row.feature for row in TABLE.values()} - {None} == WORDS.keys()


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("name", TABLE)
def test_a_feature_on_a_minor(tmp_path: Path, name: str, minor: str) -> None:
    """It is named as too new with the first that has it, or everything that it needs is named, and nothing else."""
    row = TABLE[name]
    set_ = f'kubernetes="{minor}"'
    if row.since and minor < row.since:
        with pytest.raises(KwokgenError) as caught:
            rendered(tmp_path, row.spec, set_)
        said = {problem.message: problem.hint for problem in caught.value.problems if problem.code == "feature"}
        message = f"Kubernetes {minor} has no {WORDS[str(row.feature)]}"
        assert said[message] == f"the first that has it is {row.since}"
        return
    done = rendered(tmp_path, row.spec, set_)
    gates, configs = BEFORE if row.since and minor < FIRST_DEFAULT else ((), ())
    needed = requirements(done.cluster)
    assert set(needed.gates) == {*gates, *row.gates.get(minor, ())}
    assert set(needed.runtime_config) == {*configs, *({row.configs[minor]} if minor in row.configs else ())}
    readme = contents(done.bundle())["README.md"].decode()
    assert all(f"`{gate}=true`" in readme for gate in needed.gates)
    assert all(f"`{entry}`" in readme for entry in needed.runtime_config)
