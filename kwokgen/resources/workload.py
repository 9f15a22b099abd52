"""Workloads: the catalogue's template of their kind, stamped for every job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen.jobrules import POLICIES
from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import JOB
from kwokgen.model.length import MOST_SECONDS
from kwokgen.model.lifecycle import in_seconds
from kwokgen.model.workload import Workload
from kwokgen.problem import KwokgenError
from kwokgen.resources import _failures, _places, _pods, _queues
from kwokgen.resources._common import owned
from kwokgen.resources._queues import Marks
from kwokgen.series import Column, Document, Run, Series, Shape, Slot
from kwokgen.templating import Roles, documents, missing, strays

KIND = "Job"
FILE = "80-workloads.yaml"
BEFORE = "15-for-workloads.yaml"
"""Where the documents of a template stand before the last, long before it.

Webhooks look for them when they see that one, in what a watch has told them: Kueue's of TrainJobs refused one whose
TrainingRuntime had been created just before it ("runtime 'w-0' not found").
"""
WAVES, DIGITS = "waves/", len(str(MOST_SECONDS))
"""Where jobs stand that come at a time: in the file of its second since the start."""
SCRIPT = f"{WAVES}apply.sh"
_SCRIPT = """\
# Applies each wave at its second, and at once what is late: sh waves/apply.sh, with flags of kubectl apply
set -eu
cd "$(dirname "$0")"
start=$(date +%s)
for wave in [0-9]*.yaml; do
  # A number that begins with 0 is octal.
  second=$(echo "${wave%.yaml}" | sed 's/^0*//')
  wait=$((start + ${second:-0} - $(date +%s)))
  [ "$wait" -le 0 ] || sleep "$wait"
  kubectl apply "$@" -f "$wave"
done
"""
IMMUTABLE = tuple(
    ("spec", field)
    for field in (
        *("template", "completions", "completionMode", "selector"),
        *("backoffLimitPerIndex", "managedBy", "podFailurePolicy", "successPolicy"),
        # Of Volcano's Job.
        *("tasks", "queue"),
    )
)
"""https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/batch/validation/validation.go, ValidateJobSpecUpdate."""
IMMUTABLE_OF = {
    "AppWrapper": (("spec", "components"),),
    "JobSet": (("spec", "replicatedJobs"),),
    "Pod": (("spec",),),
    "RayCluster": (("spec", "headGroupSpec"), ("spec", "workerGroupSpecs")),
    "RayJob": (("spec", "rayClusterSpec"),),
    "TrainJob": (("spec", "runtimeRef"),),
    "TrainingRuntime": (("spec",),),
}
"""The same of kinds that others define, and what their controllers look at once.

https://github.com/kubernetes-sigs/jobset/blob/v0.11.1/pkg/webhooks/jobset_webhook.go, ValidateUpdate;
https://github.com/project-codeflare/appwrapper/blob/v1.2.0/internal/webhook/appwrapper_webhook.go, validateAppWrapperUpdate.
"""
WORDS = ("name", "namespace", "labels", "pod")
"""What makes an object one of its bundle, and keeps its pods on the bundle's nodes."""
PATIENT = tuple(
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
)
"""https://github.com/kubernetes/kubernetes/blob/v1.37.0/plugin/pkg/admission/defaulttolerationseconds/admission.go ."""
BESIDE = (("spec", "completionMode"), ("spec", "parallelism"))
"""What `updatable` reads besides the path itself."""


def updatable(path: tuple[str, ...], job: Mapping[str, Any]) -> bool:
    """Whether an update can make an immutable path what it is in `job`: an indexed job grows with its parallelism."""
    spec = job.get("spec")
    if path != ("spec", "completions") or not isinstance(spec, dict):
        return False
    return spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism", 1)


def build(cluster: Cluster) -> Iterator[Series]:
    """A series a workload.

    Raises KwokgenError for a template that fails, or that leaves out one of `WORDS`.
    """
    for workload in cluster.workloads:
        marks = _queues.marks(cluster, workload)
        values: dict[str, Any] = {
            "name": Slot("name"),
            "namespace": workload.namespace,
            "labels": owned(cluster, {**workload.labels, **marks.job_labels}),
            "annotations": {**workload.annotations, **marks.job_annotations},
            "pods": workload.pods,
            "parallelism": workload.parallelism,
            "together": workload.parallelism if workload.gang else 1,
            "workers": workload.pods - 1 or None,
            "queue": workload.queue,
            "priorityClass": _queues.priority_class(cluster, workload),
            "networkTopology": _places.of_volcano_job(cluster, workload),
            "selector": {JOB: Slot("name")},
            "restartPolicy": workload.restart_policy,
            "suspend": workload.suspend or marks.suspend,
            **dict.fromkeys(POLICIES),
            **workload.policies,
            **_roles(cluster, workload),
        }
        values |= _bare(values) if workload.kind.bare else {}
        made = documents(workload.template, values)
        problems = missing(workload.template, (*WORDS, *_of_roles(workload), *_of_queues(marks))) or strays(
            workload.template, made, values
        )
        if problems:
            raise KwokgenError(*problems)
        *before, job = made
        own = _series(cluster, workload, FILE, (job,))._replace(parts=_waves(cluster, workload))
        yield from [_series(cluster, workload, BEFORE, tuple(before)), own] if before else [own]


def _bare(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a template whose object is the pod itself."""
    meta, spec = values["pod"]["metadata"], values["pod"]["spec"]
    labels, annotations = ({**values[key], **meta.get(key, {})} for key in ("labels", "annotations"))
    # What admission adds to a list that a second apply takes whole: a pod's tolerations may not be taken away.
    tolerations = [*spec.get("tolerations", ()), *PATIENT]
    return {
        "name": Slot("pod"),
        "labels": labels,
        "annotations": annotations,
        "pod": {**spec, "tolerations": tolerations},
    }


def _roles(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    """The pods of each role: of the first as `lead`, of the others as `roles`, or of all where none leads; and of the last."""
    parts = [(part, _pods.template(cluster, workload, part)) for part in workload.parts]
    pods = {"lead": parts[0][1], "pod": parts[-1][1], "apart": bool(workload.roles)}
    if not workload.kind.roles:
        return pods
    if workload.kind.leads:
        (first, pod), *parts = parts
        if not workload.roles and workload.pods > 1:
            parts = [(first._replace(pods=workload.pods - 1, parallelism=workload.parallelism - 1), pod)]
    return {**pods, "roles": Roles(_role(workload, part, pod) for part, pod in parts)}


def _role(workload: Workload, part: Workload, pod: Document) -> dict[str, Any]:
    together = part.parallelism if workload.gang else 1
    name = part.role or workload.kind.roles[-1]
    return {"name": name, "pods": part.pods, "parallelism": part.parallelism, "together": together, "pod": pod}


def _series(cluster: Cluster, workload: Workload, file: str, made: tuple[Document, ...]) -> Series:
    return Series(
        file=file,
        runs=(Run(Shape(made), 0, workload.count * _objects(workload) - 1),),
        at=workload.at,
        by=workload.template.file,
        columns=_columns(cluster, workload),
    )


def _waves(cluster: Cluster, workload: Workload) -> tuple[tuple[str, int], ...]:
    """The files of jobs that come one after another, each with the last one in it; none where all are there at once."""
    if workload.arrival is None:
        return ()
    moments = workload.arrival.moments(cluster.seed, workload.name, workload.count)
    each = _objects(workload)
    last = {f"{WAVES}{moment // 1000:0{DIGITS}d}.yaml": index * each - 1 for index, moment in enumerate(moments, 1)}
    return tuple(last.items())


def files(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """The script that applies the waves, if there are any."""
    if any(workload.arrival for workload in cluster.workloads):
        yield SCRIPT, _SCRIPT


def _of_roles(workload: Workload) -> Iterator[str]:
    """What else a template must take, or not all of the pods are made."""
    if workload.kind.leads:
        yield "lead"
    if workload.kind.roles and (workload.kind.more_roles or not workload.kind.leads):
        yield "roles"


def _of_queues(marks: Marks) -> Iterator[str]:
    """What else a template must take, or its jobs pass their queue by."""
    if marks.suspend:
        yield "suspend"
    if marks.job_annotations:
        yield "annotations"


def named(workload: Workload) -> Column:
    """The names of its jobs, and of what belongs to each of them."""
    return lambda index: f"{workload.name}-{index}"


def _columns(cluster: Cluster, workload: Workload) -> dict[str, Column]:
    own = {"name": named(workload), "run": lambda index: _run(cluster, workload, index)}
    of_jobs = own | _failures.columns(workload)
    if not workload.kind.bare:
        return of_jobs
    pods = workload.pods
    of_pods = {key: _of_pods(column, pods) for key, column in of_jobs.items()}
    return of_pods | {"pod": lambda index: f"{workload.name}-{index // pods}-{index % pods}"}


def _of_pods(column: Column, pods: int) -> Column:
    return lambda index: column(index // pods)


def _objects(workload: Workload) -> int:
    """How many objects a job is."""
    return workload.pods if workload.kind.bare else 1


def _run(cluster: Cluster, workload: Workload, index: int) -> str:
    """The job's run time in seconds, to the millisecond."""
    if workload.run is None:
        return ""
    return in_seconds(workload.run.drawn(cluster.seed, "run", workload.name, index))
