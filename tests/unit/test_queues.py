"""Queues: what each system is told of one blueprint, and that all of it fits together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kwokgen import schemas
from kwokgen.apischema import findings
from kwokgen.needs import requirements
from tests.unit.rendering import objects, rendered

SPEC = """
namespaces: [{name: r}, {name: p}]
pools:
- {name: big, count: 2, machine: {cpu: 64, memory: 64Gi, ephemeral-storage: 1Ti, pods: 110}, gpus: {driver: gpu.example.com, count: 8, resource: example.com/gpu}, expose: extended-resource, taints: [{key: gpu, effect: NoSchedule}]}
- {name: small, count: 3, machine: {cpu: 500m, memory: 1Gi, pods: 20}}
queues:
  system: SYSTEM
  cohorts: [{name: top}]
  list:
  - {name: research, cohort: teams, quota: [{pool: big, gpus: 8}, {pool: small, resources: {pods: 40}}], borrow: true}
  - {name: product, cohort: teams, quota: [{pool: big, gpus: 8, resources: {memory: 49152Mi}}], borrow: [{pool: big, gpus: 4}]}
workloads:
- {name: train, kind: job, pods: 4, gpus: 2, pools: [big], queue: research, priority: 10, gang: true, container: {resources: {cpu: 4, memory: 1Gi, ephemeral-storage: 1Gi}}}
- {name: serve, kind: job, namespace: p, gpus: 1, pools: [big], queue: product, priority: -1, container: {resources: {cpu: 1, memory: 2Gi}}}
"""
SYSTEMS = ("default", "kai", "kueue", "volcano", "yunikorn")


def under(folder: Path, system: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Every object of the blueprint under a system."""
    done = rendered(folder, SPEC.replace("SYSTEM", system))
    return {key: yaml.safe_load(text) for key, text in objects(done).items()}


def test_a_queue_has_all_there_is_of_what_no_quota_names(tmp_path: Path) -> None:
    """C36: or Kueue lets in nothing that asks for it; in the order of coveredResources, which its webhook asks for."""
    spec = under(tmp_path, "kueue")["ClusterQueue", "", "research"]["spec"]
    (group,) = spec["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "ephemeral-storage", "memory", "pods", "example.com/gpu"]
    found = {each["name"]: [one["nominalQuota"] for one in each["resources"]] for each in group["flavors"]}
    assert found == {"t-big": ["128", "2Ti", "128Gi", "220", "8"], "t-small": ["1500m", "0", "3Gi", "40", "0"]}
    assert all([one["name"] for one in each["resources"]] == group["coveredResources"] for each in group["flavors"])


def test_what_may_be_borrowed_is_said_of_what_the_quota_names(tmp_path: Path) -> None:
    done = under(tmp_path, "kueue")
    (group,) = done["ClusterQueue", "", "product"]["spec"]["resourceGroups"]
    limits = {one["name"]: one.get("borrowingLimit") for one in group["flavors"][0]["resources"]}
    assert limits == {"cpu": None, "memory": "0", "example.com/gpu": "4"}
    (group,) = done["ClusterQueue", "", "research"]["spec"]["resourceGroups"]
    assert not any("borrowingLimit" in one for each in group["flavors"] for one in each["resources"])


def test_a_flavor_puts_up_with_what_its_jobs_do(tmp_path: Path) -> None:
    """C02: in the same words: Kueue adds those that a job has not, and a second apply would take them away again."""
    done = under(tmp_path, "kueue")
    flavor = done["ResourceFlavor", "", "t-big"]["spec"]
    assert flavor["nodeLabels"] == {"app.kubernetes.io/instance": "t", "kwokgen.io/pool": "big"}
    assert flavor["tolerations"] == pod(done, "r", "train-0")["spec"]["tolerations"]


def pod(done: dict[tuple[str, str, str], dict[str, Any]], namespace: str, job: str) -> dict[str, Any]:
    template: dict[str, Any] = done["Job", namespace, job]["spec"]["template"]
    return template


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_job_says_its_queue_and_its_priority_in_the_systems_words(system: str, tmp_path: Path) -> None:
    """C34: a pod without KAI's label is no pod of its."""
    done = under(tmp_path, system)
    job, meta, spec = done["Job", "r", "train-0"], pod(done, "r", "train-0"), pod(done, "r", "train-0")["spec"]
    labels, notes = job["metadata"]["labels"], job["metadata"].get("annotations", {})
    assert job["spec"].get("suspend", False) == (system == "kueue")
    assert spec.get("schedulerName") == {"kai": "kai-scheduler", "volcano": "volcano", "yunikorn": "yunikorn"}.get(
        system
    )
    if system == "kueue":
        assert labels["kueue.x-k8s.io/queue-name"] == "research"
        assert done["WorkloadPriorityClass", "", labels["kueue.x-k8s.io/priority-class"]]["value"] == 10
        assert "priorityClassName" not in spec
    else:
        assert done["PriorityClass", "", spec["priorityClassName"]]["value"] == 10
    if system == "volcano":
        assert notes["scheduling.volcano.sh/group-min-member"] == "4"
        assert meta["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] == "research"
    if system == "kai":
        assert labels["kai.scheduler/queue"] == meta["metadata"]["labels"]["kai.scheduler/queue"] == "research"
        assert notes["kai.scheduler/batch-min-member"] == "4"
    if system == "yunikorn":
        assert meta["metadata"]["labels"]["yunikorn.apache.org/queue"] == "root.teams.research"
        assert meta["metadata"]["labels"]["yunikorn.apache.org/app-id"] == "train-0"


@pytest.mark.parametrize("system", SYSTEMS)
def test_gangs_are_kubernetes_own_unless_the_scheduler_has_its_own(system: str, tmp_path: Path) -> None:
    done = under(tmp_path, system)
    own = system in {"default", "kueue"}
    assert (("PodGroup", "r", "train-0") in done) == own
    assert ("schedulingGroup" in pod(done, "r", "train-0")["spec"]) == own
    assert bool(requirements(rendered(tmp_path, SPEC.replace("SYSTEM", system)).cluster).gates) == own


def test_placeholders_put_up_with_what_the_pods_do(tmp_path: Path) -> None:
    """C02: YuniKorn makes them of the task group alone."""
    made = pod(under(tmp_path, "yunikorn"), "r", "train-0")
    (group,) = json.loads(made["metadata"]["annotations"]["yunikorn.apache.org/task-groups"])
    assert group["tolerations"] == made["spec"]["tolerations"]
    assert group["affinity"] == made["spec"]["affinity"]
    assert group["minMember"] == 4
    assert group["minResource"] == {"cpu": "4", "ephemeral-storage": "1Gi", "memory": "1Gi", "example.com/gpu": "2"}
    assert group["name"] == made["metadata"]["annotations"]["yunikorn.apache.org/task-group-name"]


def test_yunikorns_file_has_its_form(tmp_path: Path) -> None:
    text = under(tmp_path, "yunikorn")["ConfigMap", "yunikorn", "yunikorn-configs"]["data"]["queues.yaml"]
    found = yaml.safe_load(text)
    validator = Draft202012Validator(schemas.load("yunikorn/queues"))
    assert list(validator.iter_errors(found)) == []
    (teams,) = [each for each in found["partitions"][0]["queues"][0]["queues"] if each["name"] == "teams"]
    research, product = teams["queues"]
    assert research["resources"] == {"guaranteed": {"example.com/gpu": "8", "pods": "40"}}
    assert product["resources"]["max"] == {"memory": "48Gi", "example.com/gpu": "12"}
    found["partitions"][0]["queues"][0]["queue"] = found["partitions"][0]["queues"][0].pop("queues")
    assert not validator.is_valid(found)


def test_quotas_of_the_default_scheduler_are_of_namespaces(tmp_path: Path) -> None:
    """C46: in the server's spelling."""
    done = under(tmp_path, "default")
    hard = done["ResourceQuota", "p", "product"]["spec"]["hard"]
    assert hard == {"requests.memory": "48Gi", "requests.example.com/gpu": "8"}
    assert done["ResourceQuota", "r", "research"]["spec"]["hard"]["pods"] == "40"
    assert not {kind for kind, _, _ in done} & {"ClusterQueue", "LocalQueue", "ResourceFlavor", "Queue"}


def test_a_priority_needs_no_queue(tmp_path: Path) -> None:
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: job, priority: -7}]"
    done = {key: yaml.safe_load(text) for key, text in objects(rendered(tmp_path, spec)).items()}
    assert done["PriorityClass", "", "t-priority-minus-7"]["value"] == -7
    assert pod(done, "t", "w-0")["spec"]["priorityClassName"] == "t-priority-minus-7"


CLAIMS = """
pools: [{name: g, count: 1, machine: {cpu: 8}, gpus: {model: l40s, count: 4}}]
deviceClasses: [{name: big, selectors: ["device.driver == 'gpu.nvidia.com'"]}]
claims:
- {name: own, requests: [{deviceClassName: big, count: 2}]}
- {name: all, requests: [{deviceClassName: gpu.nvidia.com}]}
queues: {system: kueue, list: [{name: q, quota: [{pool: g, gpus: 3}], weight: 2}]}
workloads: [{name: w, kind: job, claims: [own, all]}]
"""


def test_claims_of_all_classes_of_a_driver_are_counted_as_its_gpus(tmp_path: Path) -> None:
    """By a mapping in Kueue's own Configuration, which the bundle asks for."""
    done = rendered(tmp_path, CLAIMS)
    (said,) = [line for line in requirements(done.cluster).others if "Configuration" in line]
    wanted = json.loads(said.partition("`")[2].rstrip("`"))
    mapping = {"name": "gpu.nvidia.com/devices", "deviceClassNames": ["big", "gpu.nvidia.com"]}
    assert wanted["resources"] == {"deviceClassMappings": [mapping]}
    assert wanted["featureGates"] == {"DynamicResourceAllocation": True}
    assert "fairSharing" in wanted
    queue = yaml.safe_load(objects(done)["ClusterQueue", "", "q"])
    (group,) = queue["spec"]["resourceGroups"]
    assert group["flavors"][0]["resources"] == [{"name": "gpu.nvidia.com/devices", "nominalQuota": "3"}]


def test_what_is_left_out_is_not_written(tmp_path: Path) -> None:
    done = rendered(tmp_path, CLAIMS.replace("system: kueue", "system: volcano"))
    assert yaml.safe_load(objects(done)["Queue", "", "q"])["spec"] == {"weight": 2, "reclaimable": True}


UNUSED = """
pools:
- {name: g, count: 2, machine: {cpu: 8, memory: 8Gi}, gpus: {model: l40s, count: 4}}
- {name: c, count: 1, machine: {cpu: 4, pods: 10}}
queues: {system: kueue, list: [{name: all}, {name: some, quota: [{pool: g, gpus: 2}]}]}
"""


def test_a_queue_without_jobs_takes_any_that_come(tmp_path: Path) -> None:
    """Kueue lets in nothing that asks for what a queue does not cover."""
    done = objects(rendered(tmp_path, UNUSED))
    (group,) = yaml.safe_load(done["ClusterQueue", "", "all"])["spec"]["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "memory", "pods", "gpu.nvidia.com/devices"]
    found = {each["name"]: [one["nominalQuota"] for one in each["resources"]] for each in group["flavors"]}
    assert found == {"t-g": ["16", "16Gi", "220", "8"], "t-c": ["4", "0", "10", "0"]}
    (group,) = yaml.safe_load(done["ClusterQueue", "", "some"])["spec"]["resourceGroups"]
    assert [one["nominalQuota"] for one in group["flavors"][0]["resources"]] == ["16", "16Gi", "220", "2"]


TAKEN = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {type: kwok}
  tolerations: [{key: kwok.x-k8s.io/node, operator: Exists, effect: NoSchedule}]
  topologyName: gpu-topo
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors: [{name: h100, resources: [{name: cpu, nominalQuota: "1000"}, {name: nvidia.com/gpu, nominalQuota: "64"}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: gpu-topo}
spec: {levels: [{nodeLabel: topology.kubernetes.io/zone}, {nodeLabel: fabric.topograph.run/tier-0}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: fabric.topograph.run/tier-0}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack-0}
spec:
  tier: 1
  tierName: rack
  members: [{type: Node, selector: {labelMatch: {matchLabels: {fabric.topograph.run/tier-0: sw11}}}}]
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: spine-0}
spec:
  tier: 2
  members: [{type: HyperNode, selector: {exactMatch: {name: rack-0}}}]
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec: {weight: 1, reclaimable: true, capability: {cpu: "100", nvidia.com/gpu: "64"}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: kq}
spec:
  parentQueue: p
  resources:
    cpu: {quota: -1, limit: -1, overQuotaWeight: 1}
    memory: {quota: -1, limit: -1, overQuotaWeight: 1}
    gpu: {quota: 8, limit: -1, overQuotaWeight: 1}
"""
"""Objects of the systems' own documents."""


@pytest.mark.parametrize(
    "document", list(yaml.safe_load_all(TAKEN)), ids=lambda document: document["apiVersion"] + document["kind"]
)
def test_our_schemas_take_what_the_systems_take_and_no_field_renamed(document: dict[str, Any]) -> None:
    assert list(findings(document, "1.37")) == []
    for path in named(document, ()):
        assert list(findings(misspelt(document, path), "1.37")) != [], path


FREE = {"metadata", "nodeLabels", "capability", "matchLabels"}
"""Keys whose content has names of one's own."""


def named(value: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Every field below `spec`, and `value`."""
    if isinstance(value, list):
        return [found for index, each in enumerate(value) for found in named(each, (*path, index))]
    if not isinstance(value, dict):
        return []
    keys = [key for key in value if path or key in {"spec", "value"}]
    below = [found for key in keys if key not in FREE for found in named(value[key], (*path, key))]
    return [*((*path, key) for key in keys), *below]


def misspelt(value: Any, path: tuple[Any, ...]) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [misspelt(each, rest) if index == step else each for index, each in enumerate(value)]
    if rest:
        return value | {step: misspelt(value[step], rest)}
    return {key: below for key, below in value.items() if key != step} | {f"{step}x": value[step]}
