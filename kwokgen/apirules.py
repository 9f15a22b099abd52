"""Rules that the API server has and its JSON Schemas have not: names, labels, quantities, taints, limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kwokgen import claimrules, devicerules, jobrules
from kwokgen.formats import FORMATS, is_key, is_label, is_label_value, is_quantity, is_subdomain
from kwokgen.model.target import Kubernetes
from kwokgen.problem import quoted
from kwokgen.series import Document

Finding = tuple[tuple[str | int, ...], str]
MOST_BYTES = 1_572_864
"""An object of etcd's default request limit, 1.5 MiB."""
MOST_ANNOTATIONS = 262_144
MOST_DATA = 1_048_576
RESTARTS = ("Always", "OnFailure", "Never")
NODE_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
DNS_LABEL_KINDS = {"Namespace"}
NAMED_BY_LABEL = {"Node", "Job"}
"""Kinds whose names become label values: kubernetes.io/hostname, batch.kubernetes.io/job-name."""


def findings(document: Document, kubernetes: Kubernetes) -> Iterator[Finding]:
    """Everything about an object that the API server of the minor refuses."""
    yield from _metadata(document)
    yield from _size(document)
    group = document["apiVersion"].rpartition("/")[0]
    check = _KINDS.get(document["kind"])
    # Kubernetes' own groups: Volcano has a Job too.
    if check and ("." not in group or group.endswith(".k8s.io")):
        yield from check(document, kubernetes)


def _metadata(document: Document) -> Iterator[Finding]:
    meta, kind = document.get("metadata", {}), document["kind"]
    name = meta.get("name", "")
    test, what = (is_label, "dns-label") if kind in DNS_LABEL_KINDS else (is_subdomain, "dns-subdomain")
    if not test(name):
        yield ("metadata", "name"), f'"{name}" is not {FORMATS[what].what}: {FORMATS[what].allowed}'
    elif kind in NAMED_BY_LABEL and not is_label_value(name):
        yield (
            ("metadata", "name"),
            f'"{name}" has {len(name)} characters, a {kind} may have 63: it is a label\'s value as well',
        )
    yield from _labels(meta.get("labels", {}), ("metadata", "labels"))
    yield from _annotations(meta.get("annotations", {}), ("metadata", "annotations"))


def _labels(labels: Mapping[str, str], path: tuple[str | int, ...]) -> Iterator[Finding]:
    for key, value in labels.items():
        if not is_key(key):
            yield (*path, key), f'"{key}" is not {FORMATS["label-key"].what}: {FORMATS["label-key"].allowed}'
        if not is_label_value(value):
            yield (*path, key), f'"{value}" is not {FORMATS["label-value"].what}: {FORMATS["label-value"].allowed}'


def _annotations(annotations: Mapping[str, str], path: tuple[str | int, ...]) -> Iterator[Finding]:
    for key in annotations:
        if not is_key(key):
            yield (*path, key), f'"{key}" is not the key of an annotation: {FORMATS["label-key"].allowed}'
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        yield path, f"{size} bytes of annotations, an object may have {MOST_ANNOTATIONS}"


def _size(document: Document) -> Iterator[Finding]:
    size = bytes_of(document)
    if size > MOST_BYTES:
        yield (), f"{size} bytes, an object may have {MOST_BYTES}"


def fits_an_annotation(document: Document) -> bool:
    """Whether kubectl's client-side apply can keep the object, in an annotation beside its own."""
    own = document["metadata"].get("annotations", {})
    return bytes_of(document) + sum(len(key) + len(value.encode()) for key, value in own.items()) <= MOST_ANNOTATIONS


def bytes_of(document: Document) -> int:
    """The size of an object as kubectl's client-side apply keeps it in an annotation."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _node(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    seen = set()
    for index, taint in enumerate(document.get("spec", {}).get("taints", ())):
        path = ("spec", "taints", index)
        yield from devicerules.taint_findings(taint, path, NODE_EFFECTS)
        if (taint["key"], taint["effect"]) in seen:
            yield path, f"the taint {taint['key']}:{taint['effect']} is there twice"
        seen.add((taint["key"], taint["effect"]))
    for part in ("capacity", "allocatable"):
        yield from _quantities(document.get("status", {}).get(part, {}), ("status", part))


def _quantities(quantities: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Finding]:
    for name, value in quantities.items():
        if not FORMATS["resource"].test(name):
            yield (*path, name), f'"{name}" is not {FORMATS["resource"].what}: {FORMATS["resource"].allowed}'
        if not is_quantity(str(value)):
            yield (*path, name), f'"{value}" is not {FORMATS["quantity"].what}: {FORMATS["quantity"].allowed}'


def _job(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    spec, name = document["spec"], document["metadata"]["name"]
    pod = spec["template"]["spec"]
    path: tuple[str | int, ...] = ("spec", "template", "spec")
    if spec.get("completionMode") == "Indexed":
        longest = f"{name}-{spec.get('completions', 1) - 1}"
        if len(longest) > 63:
            yield ("metadata", "name"), f'"{longest}" has {len(longest)} characters, the host name of a pod may have 63'
    if pod.get("restartPolicy") not in {"Never", "OnFailure"}:
        yield (*path, "restartPolicy"), f'"{pod.get("restartPolicy")}" is not Never or OnFailure'
    meta = spec["template"].get("metadata", {})
    yield from _labels(meta.get("labels", {}), ("spec", "template", "metadata", "labels"))
    yield from _annotations(meta.get("annotations", {}), ("spec", "template", "metadata", "annotations"))
    yield from (((("spec", *found.path)), found.message) for found in jobrules.findings(spec))
    yield from _pod(pod, path)


def _deployment(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec."""
    spec = document["spec"]
    pod, labels = spec["template"]["spec"], spec["template"].get("metadata", {}).get("labels", {})
    path: tuple[str | int, ...] = ("spec", "template", "spec")
    if any(labels.get(key) != value for key, value in spec["selector"].get("matchLabels", {}).items()):
        yield ("spec", "selector"), "its pods have not the labels that it looks for"
    if pod.get("restartPolicy", "Always") != "Always":
        yield (*path, "restartPolicy"), f'"{pod["restartPolicy"]}" is not Always'
    yield from _labels(labels, ("spec", "template", "metadata", "labels"))
    yield from _annotations(
        spec["template"].get("metadata", {}).get("annotations", {}), ("spec", "template", "metadata", "annotations")
    )
    yield from _pod(pod, path)


def _plain_pod(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    pod = document["spec"]
    if pod.get("restartPolicy", "Always") not in RESTARTS:
        yield ("spec", "restartPolicy"), f'"{pod["restartPolicy"]}" is not one of {quoted(RESTARTS)}'
    yield from _pod(pod, ("spec",))


def _pod(pod: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Finding]:
    declared = {claim["name"] for claim in pod.get("resourceClaims", ())}
    used = set()
    if not pod.get("containers"):
        yield (*path, "containers"), "a pod has one container at the least"
    for section in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(section, ())):
            where = (*path, section, index)
            if not container.get("image"):
                yield where, f'the container "{container["name"]}" has no image'
            if not is_label(container["name"]):
                yield (*where, "name"), f'"{container["name"]}" is not {FORMATS["dns-label"].what}'
            resources = container.get("resources", {})
            for part in ("requests", "limits"):
                yield from _quantities(resources.get(part, {}), (*where, "resources", part))
            names = {claim["name"] for claim in resources.get("claims", ())}
            for name in sorted(names - declared):
                yield (*where, "resources", "claims"), f'the pod declares no claim "{name}"'
            used |= names
    for name in sorted(declared - used):
        yield (*path, "resourceClaims"), f'no container uses the claim "{name}"'


def _config_map(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidateConfigMap."""
    size = sum(len(text.encode()) for text in document.get("data", {}).values())
    if size > MOST_DATA:
        yield (
            ("data",),
            f"{size} bytes of data, a ConfigMap may have {MOST_DATA}: run the controller outside, or with stages: crd",
        )


_KINDS: dict[str, Callable[[Document, Kubernetes], Iterator[Finding]]] = {
    "Node": _node,
    "ResourceSlice": devicerules.slice_findings,
    "DeviceClass": claimrules.class_findings,
    "DeviceTaintRule": claimrules.rule_findings,
    "ResourceClaim": claimrules.claim_findings,
    "ResourceClaimTemplate": claimrules.claim_findings,
    "Deployment": _deployment,
    "Job": _job,
    "Pod": _plain_pod,
    "ConfigMap": _config_map,
}
