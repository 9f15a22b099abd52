"""The JSON Schemas of Kubernetes' kinds, as kubernetes-validate ships them, and our own of others'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from kwokgen import schemas
from kwokgen.conform import found
from kwokgen.jobrules import Finding
from kwokgen.objectformats import TIME, is_time
from kwokgen.series import Document
from kwokgen.validators import draft

OURS = {
    ("kwok.x-k8s.io", "Stage"): "kwok/stage",
    ("config.kwok.x-k8s.io", "KwokConfiguration"): "kwok/kwokconfiguration",
    ("workload.codeflare.dev", "AppWrapper"): "appwrapper/appwrapper",
    ("kubeflow.org", "PyTorchJob"): "kubeflow/pytorchjob",
    ("jobset.x-k8s.io", "JobSet"): "jobset/jobset",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "lws/leaderworkerset",
    ("ray.io", "RayCluster"): "ray/raycluster",
    ("ray.io", "RayJob"): "ray/rayjob",
    ("trainer.kubeflow.org", "TrainJob"): "kubeflow/trainjob",
    ("trainer.kubeflow.org", "TrainingRuntime"): "kubeflow/trainingruntime",
    ("batch.volcano.sh", "Job"): "volcano/job",
    ("kueue.x-k8s.io", "ClusterQueue"): "kueue/clusterqueue",
    ("kueue.x-k8s.io", "Cohort"): "kueue/cohort",
    ("kueue.x-k8s.io", "LocalQueue"): "kueue/localqueue",
    ("kueue.x-k8s.io", "ResourceFlavor"): "kueue/resourceflavor",
    ("kueue.x-k8s.io", "WorkloadPriorityClass"): "kueue/workloadpriorityclass",
    ("kueue.x-k8s.io", "Topology"): "kueue/topology",
    ("scheduling.run.ai", "Queue"): "kai/queue",
    ("kai.scheduler", "Topology"): "kai/topology",
    ("scheduling.volcano.sh", "Queue"): "volcano/queue",
    ("topology.volcano.sh", "HyperNode"): "volcano/hypernode",
    ("topology.node.k8s.io", "NodeResourceTopology"): "scheduler-plugins/noderesourcetopology",
    ("monitoring.coreos.com", "PodMonitor"): "prometheus-operator/podmonitor",
    ("monitoring.coreos.com", "PrometheusRule"): "prometheus-operator/prometheusrule",
    ("monitoring.coreos.com", "ScrapeConfig"): "prometheus-operator/scrapeconfig",
}
"""Schemas that kwokgen ships, by group and kind."""
KUBERNETES = "urn:kubernetes:"
"""Begins what they call a definition of Kubernetes."""
_TEXT, _NUMBER, _TIME = {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date-time"}
OWNER = {
    "apiVersion": _TEXT,
    "blockOwnerDeletion": {"type": "boolean"},
    "controller": {"type": "boolean"},
    "kind": _TEXT,
    "name": _TEXT,
    "uid": _TEXT,
}
METADATA = {
    "annotations": {"type": "object", "additionalProperties": _TEXT},
    "creationTimestamp": _TIME,
    "deletionGracePeriodSeconds": _NUMBER,
    "deletionTimestamp": _TIME,
    "finalizers": {"type": "array", "items": _TEXT},
    "generateName": _TEXT,
    "generation": _NUMBER,
    "labels": {"type": "object", "additionalProperties": _TEXT},
    "managedFields": {"type": "array", "items": {"type": "object"}},
    "name": _TEXT,
    "namespace": _TEXT,
    "ownerReferences": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": OWNER,
            "required": ["apiVersion", "kind", "name", "uid"],
            "additionalProperties": False,
        },
    },
    "resourceVersion": _TEXT,
    "selfLink": _TEXT,
    "uid": _TEXT,
}
"""Of objects that others define, without a look into Kubernetes' definitions, which takes long.

https://github.com/kubernetes/apimachinery/blob/v0.37.0/pkg/apis/meta/v1/types.go, ObjectMeta and OwnerReference.
"""


def findings(document: Document, minor: str) -> Iterator[Finding]:
    """Where a document differs from its kind's schema, with the words that say so; unknown keys are differences."""
    version, kind = document["apiVersion"], document["kind"]
    validator = _validator(version, kind, minor)
    if validator is None:
        yield Finding((), f"Kubernetes {minor} has no {kind} of {version}")
        return
    for error in validator.iter_errors(document):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            yield from (Finding((*path, key), f'unknown field "{key}"') for key in _extra(error))
        else:
            yield Finding(path, _words(error), _hint(error))


def _extra(error: Any) -> Iterator[str]:
    return (key for key in error.instance if key not in error.schema.get("properties", {}))


def _words(error: Any) -> str:
    if error.validator == "type":
        wanted = error.validator_value
        allowed = wanted if isinstance(wanted, str) else " or ".join(name for name in wanted if name != "null")
        return f"must be of type {allowed}, not {found(error.instance, '')}"
    if error.validator == "format":
        return f'"{error.instance}" is not {TIME.what}: {TIME.allowed}'
    return str(error.message)


def _hint(error: Any) -> str:
    wanted = {error.validator_value} if isinstance(error.validator_value, str) else error.validator_value
    scalar = error.validator == "type" and isinstance(error.instance, bool | int | float)
    return "write it in quotes" if scalar and "string" in wanted else ""


@cache
def _validator(version: str, kind: str, minor: str) -> Any:
    """The kept validator of a kind; None if the minor does not have it."""
    if (ours := OURS.get((version.rpartition("/")[0], kind))) is not None:
        meta = {"type": "object", "properties": METADATA, "additionalProperties": False}
        whole = {"allOf": [schemas.load(ours), {"properties": {"metadata": meta}}]}
        return draft()(whole, registry=_lazily(minor), format_checker=_times())
    reference = _references(minor).get((version, kind))
    if reference is None:
        return None
    return draft()({"$ref": reference}, registry=_registry(minor), format_checker=_times())


@cache
def _times() -> Any:
    """Holds moments against their form: what is no moment the API server cannot read."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("date-time")(lambda value: not isinstance(value, str) or is_time(value))
    return checker


def known(minor: str) -> bool:
    """Whether there are schemas of a minor: those of the newest come with a release of kubernetes-validate."""
    return _file(minor).is_file()


def _file(minor: str) -> Path:
    spec = find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("kubernetes_validate")
    return Path(spec.origin).parent / "kubernetes-json-schema" / f"v{minor}.0-local-strict" / "_definitions.json"


@cache
def _definitions(minor: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_file(minor).read_bytes())
    return content


@cache
def _references(minor: str) -> dict[tuple[str, str], str]:
    """Every kind of a minor by its full apiVersion: two groups may have a kind of one name."""
    done = {}
    for name, definition in _section(minor).items():
        for key in definition.get("x-kubernetes-group-version-kind", ()):
            version = f"{key['group']}/{key['version']}" if key["group"] else key["version"]
            done[version, key["kind"]] = f"kubernetes#/{_section_name(minor)}/{name}"
    return done


def _section_name(minor: str) -> str:
    return "$defs" if "$defs" in _definitions(minor) else "definitions"


def _section(minor: str) -> dict[str, Any]:
    section: dict[str, Any] = _definitions(minor)[_section_name(minor)]
    return section


@cache
def _lazily(minor: str) -> Any:
    """Finds definitions of Kubernetes that a schema of ours refers to: most refer to none, and reading them takes long."""
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    def retrieve(uri: str) -> Resource[Any]:
        if not uri.startswith(KUBERNETES):
            return cast("Resource[Any]", _registry(minor)[uri])
        reference = f"kubernetes#/{_section_name(minor)}/{uri.removeprefix(KUBERNETES)}"
        return DRAFT202012.create_resource({"$ref": reference})

    return Registry(retrieve=retrieve)  # type: ignore[call-arg]  # attrs names it for a private field


@cache
def _registry(minor: str) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    resource = DRAFT202012.create_resource(_definitions(minor))
    return Registry().with_resource("kubernetes", resource).with_resource("_definitions.json", resource)
