"""Rules that the API server has and its JSON Schemas have not: names, labels, quantities, taints, limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from kwokgen import claimrules, devicerules, fieldrules, jobrules, jobwords, metarules, podrules
from kwokgen.fieldrules import EACH, Formed, Number, Rule, Words
from kwokgen.formats import FORMATS, is_label, is_label_value, is_subdomain
from kwokgen.jobrules import at
from kwokgen.model.target import Kubernetes
from kwokgen.objectformats import NETWORK, POLICY
from kwokgen.problem import quoted
from kwokgen.series import Document

Finding = tuple[tuple[str | int, ...], str] | jobrules.Finding
"""A path, a message, and a hint if there is one."""
MOST_BYTES = 1_572_864
"""An object of etcd's default request limit, 1.5 MiB."""
MOST_DATA = 1_048_576
HIGHEST_PRIORITY = 1_000_000_000
RESTARTS = ("Always", "OnFailure", "Never")
NODE_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
DNS_LABEL_KINDS = {"Namespace"}
NAMED_BY_LABEL = {"Node", "Job"}
"""Kinds whose names become label values: kubernetes.io/hostname, batch.kubernetes.io/job-name."""
OWN_GROUPS = {"", "apps", "batch"}
"""Groups whose kinds are held to core/validation's ValidateObjectMeta: their finalizers have a domain."""
SECURITY = ("metadata", "labels")
MODES = ("audit", "enforce", "warn")
NAMESPACE: tuple[Rule, ...] = (
    *(
        Words((*SECURITY, f"pod-security.kubernetes.io/{mode}"), ("baseline", "privileged", "restricted"))
        for mode in MODES
    ),
    *(Formed((*SECURITY, f"pod-security.kubernetes.io/{mode}-version"), POLICY) for mode in MODES),
)
DEPLOYMENT: tuple[Rule, ...] = tuple(
    Number(("spec", key)) for key in ("minReadySeconds", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit")
)
NODE: tuple[Rule, ...] = (
    Formed(("spec", "podCIDR"), NETWORK, optional=True),
    Formed(("spec", "podCIDRs", EACH), NETWORK),
)


def findings(document: Document, kubernetes: Kubernetes) -> Iterator[Finding]:
    """Everything about an object that the API server of the minor refuses."""
    yield from _metadata(document)
    yield from _size(document)
    yield from podrules.findings(document)
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
    own = document["apiVersion"].rpartition("/")[0] in OWN_GROUPS
    yield from at(("metadata",), metarules.findings(meta, domains=own))
    yield from at(("metadata", "ownerReferences"), metarules.owner_findings(meta.get("ownerReferences", ())))


def _size(document: Document) -> Iterator[Finding]:
    size = bytes_of(document)
    if size > MOST_BYTES:
        yield (), f"{size} bytes, an object may have {MOST_BYTES}"


def fits_an_annotation(document: Document) -> bool:
    """Whether kubectl's client-side apply can keep the object, in an annotation beside its own."""
    own = document["metadata"].get("annotations") or {}
    kept = sum(len(key) + len((value or "").encode()) for key, value in own.items())
    return bytes_of(document) + kept <= metarules.MOST_ANNOTATIONS


def bytes_of(document: Document) -> int:
    """The size of an object as kubectl's client-side apply keeps it in an annotation."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _node(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidateNode."""
    seen = set()
    for index, taint in enumerate(document.get("spec", {}).get("taints", ())):
        path = ("spec", "taints", index)
        yield from devicerules.taint_findings(taint, path, NODE_EFFECTS)
        if (taint["key"], taint["effect"]) in seen:
            yield path, f"the taint {taint['key']}:{taint['effect']} is there twice"
        seen.add((taint["key"], taint["effect"]))
    for part in ("capacity", "allocatable"):
        yield from at(("status", part), podrules.quantities(document.get("status", {}).get(part, {})))
    yield from fieldrules.findings(document, NODE)


def _job(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    spec, name = document.get("spec", {}), document["metadata"]["name"]
    policy = spec.get("template", {}).get("spec", {}).get("restartPolicy", "Always")
    if spec.get("completionMode") == "Indexed":
        longest = f"{name}-{spec.get('completions', 1) - 1}"
        if len(longest) > 63:
            yield ("metadata", "name"), f'"{longest}" has {len(longest)} characters, the host name of a pod may have 63'
    if policy not in {"Never", "OnFailure"}:
        path = ("spec", "template", "spec", "restartPolicy")
        yield path, f'"{policy}" is not Never or OnFailure'
    for found in (jobrules.findings(spec), jobrules.selector_findings(spec, name), jobwords.findings(spec)):
        yield from at(("spec",), found)


def _deployment(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec."""
    spec = document.get("spec", {})
    template, selector = spec.get("template", {}), spec.get("selector", {})
    labels = template.get("metadata", {}).get("labels", {})
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        yield ("spec", "selector"), "the pods lack the labels that the selector asks for"
    policy = template.get("spec", {}).get("restartPolicy", "Always")
    if policy != "Always":
        yield ("spec", "template", "spec", "restartPolicy"), f'"{policy}" is not Always'
    yield from fieldrules.findings(document, DEPLOYMENT)


def _namespace(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/pod-security-admission/admission/admission.go, ValidateNamespace."""
    yield from fieldrules.findings(document, NAMESPACE)


def _plain_pod(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    policy = document.get("spec", {}).get("restartPolicy", "Always")
    if policy not in RESTARTS:
        yield ("spec", "restartPolicy"), f'"{policy}" is not one of {quoted(RESTARTS)}'


def _priority_class(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass."""
    value = document.get("value", 0)
    if value > HIGHEST_PRIORITY and not document["metadata"]["name"].startswith("system-"):
        message = f"{value} is above {HIGHEST_PRIORITY}, what is higher is the system's"
        yield jobrules.Finding(("value",), message, f"write at most {HIGHEST_PRIORITY}")


def _config_map(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidateConfigMap."""
    size = sum(len(text.encode()) for text in document.get("data", {}).values())
    if size > MOST_DATA:
        yield (
            ("data",),
            f"{size} bytes of data, a ConfigMap may have {MOST_DATA}: run the controller outside, or with stages: crd",
        )


_KINDS: dict[str, Callable[[Document, Kubernetes], Iterator[Finding]]] = {
    "Namespace": _namespace,
    "Node": _node,
    "ResourceSlice": devicerules.slice_findings,
    "DeviceClass": claimrules.class_findings,
    "DeviceTaintRule": claimrules.rule_findings,
    "ResourceClaim": claimrules.claim_findings,
    "ResourceClaimTemplate": claimrules.claim_findings,
    "Deployment": _deployment,
    "Job": _job,
    "Pod": _plain_pod,
    "PriorityClass": _priority_class,
    "ConfigMap": _config_map,
}
