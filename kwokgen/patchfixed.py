"""What a patch cannot change of an object: what makes it itself, and what keeps its pods on the bundle's nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kwokgen.mergepatch import reaches
from kwokgen.model.cluster import Patch
from kwokgen.problem import Problem
from kwokgen.series import Series

FIXED = (
    ("apiVersion",),
    ("kind",),
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "labels", "app.kubernetes.io/managed-by"),
    ("metadata", "labels", "app.kubernetes.io/instance"),
)
"""What makes an object itself, and part of its bundle."""
FIXED_OF = {
    "ResourceSlice": (
        ("spec", "driver"),
        ("spec", "nodeName"),
        ("spec", "pool"),
        ("spec", "allNodes"),
        ("spec", "nodeSelector"),
        ("spec", "perDeviceNodeSelection"),
        ("metadata", "labels", "kwokgen.io/pool"),
    ),
    "AppWrapper": (("spec", "components"),),
    "ConfigMap": (("data",),),
    "Deployment": (("spec", "template", "spec", "affinity"),),
    "Job": (("spec", "template", "spec", "affinity"), ("spec", "template", "spec", "tolerations")),
    "JobSet": (("spec", "replicatedJobs"),),
    "LeaderWorkerSet": (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "affinity"),
        ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "tolerations"),
    ),
    "RayCluster": (
        ("spec", "headGroupSpec", "template", "spec", "affinity"),
        ("spec", "headGroupSpec", "template", "spec", "tolerations"),
        ("spec", "workerGroupSpecs"),
    ),
    "RayJob": (
        ("spec", "rayClusterSpec", "headGroupSpec", "template", "spec", "affinity"),
        ("spec", "rayClusterSpec", "headGroupSpec", "template", "spec", "tolerations"),
        ("spec", "rayClusterSpec", "workerGroupSpecs"),
        ("spec", "clusterSelector"),
    ),
    "Pod": (("spec", "affinity"), ("spec", "tolerations")),
    "TrainJob": (("spec", "runtimeRef"), ("spec", "runtimePatches")),
    "TrainingRuntime": (("spec", "template", "spec", "replicatedJobs"),),
    "PyTorchJob": (
        ("spec", "pytorchReplicaSpecs", "Master", "template", "spec", "affinity"),
        ("spec", "pytorchReplicaSpecs", "Master", "template", "spec", "tolerations"),
        ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "affinity"),
        ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "tolerations"),
    ),
    "Node": (
        ("spec", "taints"),
        ("status", "addresses"),
        ("status", "conditions"),
        ("status", "capacity"),
        ("status", "allocatable"),
        ("metadata", "labels", "kwokgen.io/pool"),
        ("metadata", "labels", "kwokgen.io/shard"),
        ("metadata", "labels", "kubernetes.io/hostname"),
    ),
}
FIXED_OF_GROUP = {("batch.volcano.sh", "Job"): (("spec", "tasks"),)}
"""Of kinds that two groups have; `FIXED_OF` is Kubernetes' own then."""

_TAINTS = "the pods tolerate those of their pools: write taints on the pool, or make these nodes a pool of their own"
_CONDITIONS = "a Stage makes nodes Ready: write detectors on the pool, or faults for what is wrong from birth"
_LIST = "a list is replaced whole, and it keeps pods on the bundle's nodes"
ELSEWHERE = {
    ("spec", "clusterSelector"): "the cluster of its own is on the bundle's nodes",
    ("spec", "runtimeRef"): "the runtime of its own keeps pods on the bundle's nodes",
    ("spec", "runtimePatches"): "the runtime of its own keeps pods on the bundle's nodes: patch that",
    ("spec", "components"): _LIST,
    ("spec", "replicatedJobs"): _LIST,
    ("spec", "tasks"): _LIST,
    ("spec", "template", "spec", "replicatedJobs"): _LIST,
    ("spec", "workerGroupSpecs"): _LIST,
    ("spec", "rayClusterSpec", "workerGroupSpecs"): _LIST,
    ("spec", "template", "spec", "affinity"): "it keeps pods on the bundle's nodes: write pools on the workload",
    ("spec", "template", "spec", "tolerations"): "they follow from the taints of the workload's pools",
    ("spec", "taints"): _TAINTS,
    ("status", "addresses"): "they follow from the network of the pool: write addresses there",
    ("status", "conditions"): _CONDITIONS,
    ("status", "capacity"): "a Stage holds it to the pool's: change that, or make these nodes a pool of their own",
    ("status", "allocatable"): "a Stage holds it to the pool's: change that, or make these nodes a pool of their own",
    ("data",): "the controllers are restarted for what the blueprint says only: write controller and lifecycles there",
}
"""Where to change what a patch cannot; for all others it follows from the blueprint."""


def problems(patch: Patch, series: Sequence[Series]) -> Iterator[Problem]:
    """What a patch says and may not, one for each path."""
    for path in _paths(patch.kind, series):
        if reaches(patch.merge, path):
            dotted = ".".join(path)
            # Pods are at the end of paths of several beginnings.
            known = (ELSEWHERE[end] for end in (path, ("spec", "template", *path[-2:])) if end in ELSEWHERE)
            hint = next(known, "what an object is called, and whose it is, follows from the blueprint")
            yield Problem(
                patch.at.key("merge", *path), "patch", f"a patch cannot change {dotted} of a {patch.kind}", hint
            )


def _paths(kind: str, series: Sequence[Series]) -> Iterator[tuple[str, ...]]:
    """What makes the objects of a kind, which of its groups the bundle has."""
    documents = (document for one in series for run in one.runs for document in run.shape.documents)
    groups = {each["apiVersion"].rpartition("/")[0] for each in documents if each["kind"] == kind}
    yield from FIXED
    others = {group for group, other in FIXED_OF_GROUP if other == kind}
    if not groups or groups - others:
        yield from FIXED_OF.get(kind, ())
    for group in sorted(groups & others):
        yield from FIXED_OF_GROUP[group, kind]
