"""The rules of the API server on objects of which any part may be anything: a problem, never an exception."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path as File
from typing import Any

import pytest

from kwokgen import tree
from kwokgen.apirules import _KINDS
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.podrules import WHERE
from kwokgen.problem import Problem
from kwokgen.series import one
from kwokgen.verify import verify
from tests.unit.rendering import documents, load, rendered

Path = tuple[str | int, ...]
WRONG: tuple[Any, ...] = (None, 1, -1, "x", "", [1], [None], [], {}, {"a": 1}, [{}])
FIXED: tuple[Path, ...] = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"))
"""What no patch and no template can take away."""
POD = """
restartPolicy: Never
activeDeadlineSeconds: 9
dnsPolicy: None
dnsConfig: {nameservers: [10.0.0.10]}
hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
nodeSelector: {a: b}
os: {name: linux}
overhead: {cpu: 1}
priorityClassName: p
readinessGates: [{conditionType: a}]
runtimeClassName: r
schedulingGates: [{name: a}]
securityContext: {fsGroup: 1, supplementalGroups: [1]}
tolerations: [{key: a, operator: Exists, effect: NoExecute}]
topologySpreadConstraints: [{topologyKey: a, maxSkew: 1, minDomains: 1, whenUnsatisfiable: DoNotSchedule}]
volumes: [{name: v, emptyDir: {}}, {name: h, hostPath: {path: /h, type: File}}]
resourceClaims: [{name: c, resourceClaimTemplateName: t}]
initContainers: [{name: first, image: i, restartPolicy: Always, startupProbe: {exec: {command: [a]}, successThreshold: 1}}]
containers:
- name: main
  image: i
  imagePullPolicy: Never
  env: [{name: A, value: b}]
  lifecycle: {preStop: {exec: {command: [a]}}}
  securityContext: {runAsUser: 1}
  resources: {requests: {cpu: 1, example.com/gpu: 1}, limits: {cpu: 2, example.com/gpu: 1}, claims: [{name: c}]}
  ports: [{name: web, containerPort: 80, hostPort: 80, protocol: TCP}]
  volumeMounts: [{name: v, mountPath: /v}]
"""
SMALL = """
restartPolicy: Never
containers: [{name: main, image: i, resources: {limits: {cpu: 1}}}]
"""
JOB = """
completionMode: Indexed
completions: 2
parallelism: 2
backoffLimitPerIndex: 1
maxFailedIndexes: 1
ttlSecondsAfterFinished: 9
manualSelector: true
selector: {matchLabels: {a: b}}
managedBy: example.com/a
podReplacementPolicy: Failed
successPolicy: {rules: [{succeededIndexes: 0-1, succeededCount: 1}]}
podFailurePolicy:
  rules:
  - {action: FailIndex, onExitCodes: {containerName: main, operator: In, values: [1, 2]}}
  - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
"""
REQUEST = """
devices:
  requests: [{name: r, exactly: {deviceClassName: d, count: 1, selectors: [{cel: {expression: "true"}}], tolerations: []}}]
  constraints: [{requests: [r], matchAttribute: example.com/a}]
  config: [{requests: [r], opaque: {driver: d.example.com, parameters: {}}}]
"""
SLICE = """
driver: d.example.com
nodeName: n
pool: {name: n, generation: 1, resourceSliceCount: 1}
devices:
- name: one
  attributes: {a: {string: x}, v: {version: 1.2.3}}
  capacity: {memory: {value: 1Gi}}
  taints: [{key: a, value: b, effect: NoSchedule}]
"""
COUNTERS = """
driver: d.example.com
nodeName: n
pool: {name: n, generation: 1, resourceSliceCount: 1}
sharedCounters: [{name: s, counters: {c: {value: 1}}}]
"""


def template(pod: str = POD) -> dict[str, Any]:
    """A pod template with everything that a rule reads."""
    return {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}, "spec": load(pod)}


def job() -> dict[str, Any]:
    """The spec of a Job with everything that a rule reads."""
    return {**load(JOB), "template": template()}


def served() -> dict[str, Any]:
    """What finds its pods by their labels and restarts them."""
    pods = template(POD.replace("Never", "Always"))
    return {"selector": {"matchLabels": {"a": "b"}}, "template": pods}


def ray() -> dict[str, Any]:
    """A Ray cluster of a head and a worker group."""
    return {
        "headGroupSpec": {"rayStartParams": {}, "template": template(SMALL)},
        "workerGroupSpecs": [
            {"groupName": "w", "minReplicas": 1, "maxReplicas": 1, "rayStartParams": {}, "template": template(SMALL)}
        ],
    }


def child(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """An object of the group batch without a name."""
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


RESOURCE = "resource.k8s.io/v1"
OBJECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "Pod": ("v1", {"spec": template()["spec"]}),
    "Node": (
        "v1",
        {
            "spec": {
                "taints": [{"key": "a", "effect": "NoSchedule"}],
                "podCIDR": "10.0.0.0/24",
                "podCIDRs": ["10.0.0.0/24"],
            },
            "status": {"capacity": {"cpu": 1}, "phase": ""},
        },
    ),
    "Namespace": ("v1", {"spec": {}}),
    "ServiceAccount": ("v1", {}),
    "ConfigMap": ("v1", {"data": {"a": "b"}}),
    "DaemonSet": ("apps/v1", {"spec": served()}),
    "Deployment": ("apps/v1", {"spec": served()}),
    "ReplicaSet": ("apps/v1", {"spec": served()}),
    "Job": ("batch/v1", {"spec": job()}),
    "CronJob": ("batch/v1", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job()}}}),
    "PriorityClass": ("scheduling.k8s.io/v1", {"value": 1}),
    "ResourceSlice": (RESOURCE, {"spec": load(SLICE)}),
    "ResourceClaim": (RESOURCE, {"spec": load(REQUEST)}),
    "ResourceClaimTemplate": (RESOURCE, {"spec": {"spec": load(REQUEST)}}),
    "DeviceClass": (RESOURCE, {"spec": {"selectors": [{"cel": {"expression": "true"}}], "config": []}}),
    "DeviceTaintRule": (
        "resource.k8s.io/v1beta2",
        {"spec": {"deviceSelector": {"driver": "d"}, "taint": {"key": "a", "effect": "NoExecute"}}},
    ),
    "VolcanoJob": ("batch.volcano.sh/v1alpha1", {"spec": {"tasks": [{"replicas": 1, "template": template()}]}}),
    "JobSet": ("jobset.x-k8s.io/v1alpha2", {"spec": {"replicatedJobs": [{"name": "r", "template": {"spec": job()}}]}}),
    "PyTorchJob": ("kubeflow.org/v1", {"spec": {"pytorchReplicaSpecs": {"Master": {"template": template()}}}}),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        {"spec": {"leaderWorkerTemplate": {"leaderTemplate": template(SMALL), "workerTemplate": template()}}},
    ),
    "RayCluster": ("ray.io/v1", {"spec": ray()}),
    "RayJob": ("ray.io/v1", {"spec": {"rayClusterSpec": ray(), "submitterPodTemplate": template(SMALL)}}),
    "AppWrapper": ("workload.codeflare.dev/v1beta2", {"spec": {"components": [{"template": child("Job", job())}]}}),
}
"""An object of every kind that has rules, with every part that they read."""
COUNTING = {"ResourceSlice": (RESOURCE, {"spec": load(COUNTERS)})}


def document(kind: str, version: str, rest: dict[str, Any]) -> dict[str, Any]:
    """An object of a kind."""
    meta = {
        "name": "x",
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "creationTimestamp": "2026-12-01T10:00:00Z",
        "finalizers": ["example.com/a"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "n", "uid": "u", "controller": True}],
    }
    return {"apiVersion": version, "kind": kind.removeprefix("Volcano"), "metadata": meta, **deepcopy(rest)}


DOCUMENTS = [document(kind, *rest) for kinds in (OBJECTS, COUNTING) for kind, rest in kinds.items()]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """One that has no patches."""
    return rendered(tmp_path_factory.mktemp("none"), "pools: [{name: a, count: 1, machine: {cpu: 1}}]").cluster


def found(cluster: Cluster, document: dict[str, Any]) -> tuple[Problem, ...]:
    """What is wrong with an object."""
    at = Place(tree.parse("a: b", "blueprint"))
    return verify(cluster, (one(document, file="objects.yaml", at=at, by="case.yaml"),))


def replaced(value: Any, other: Any, path: Path = ()) -> Iterator[Any]:
    """A value with each of its parts replaced, one at a time."""
    steps: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        below = (*path, step)
        for part in (*(() if below in FIXED else (other,)), *replaced(value[step], other, below)):
            done = value.copy()
            done[step] = part
            yield done


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document["kind"])
def test_the_rules_take_an_object_that_is_right(cluster: Cluster, document: dict[str, Any]) -> None:
    """Nothing that follows would be tried if the whole were refused."""
    assert found(cluster, document) == ()


def test_every_kind_that_has_rules_is_tried() -> None:
    """A rule of a new kind has its object here."""
    kinds = {(document["apiVersion"].rpartition("/")[0], document["kind"]) for document in DOCUMENTS}
    assert set(WHERE) <= kinds
    assert set(_KINDS) <= {kind for _, kind in kinds}


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document["kind"])
def test_no_part_of_an_object_ends_a_rule(cluster: Cluster, document: dict[str, Any]) -> None:
    """Whatever stands in place of any part: the schema refuses it before a rule reads it, or the rule takes it."""
    for other in WRONG:
        for wrong in replaced(document, other):
            found(cluster, wrong)


def test_a_container_is_limited_to_the_huge_pages_that_it_asks_for(tmp_path: File) -> None:
    """The API server refuses a request for them that is not its limit."""
    spec = """
    pools: [{name: a, count: 1, machine: {cpu: 8, memory: 8Gi, hugepages-2Mi: 4Gi}}]
    workloads: [{name: w, kind: job, container: {resources: {cpu: 1, hugepages-2Mi: 4Mi}}}]
    """
    (made,) = documents(rendered(tmp_path, spec), "Job").values()
    resources = made["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "1", "hugepages-2Mi": "4Mi"}, "limits": {"hugepages-2Mi": "4Mi"}}
