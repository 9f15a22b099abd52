"""Rules of claims, classes and DeviceTaintRules that the API server has and the JSON Schemas have not.

https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/apis/resource/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kwokgen.devicerules import Finding, Path, named_once, taint_findings
from kwokgen.formats import FORMATS, is_subdomain
from kwokgen.model.target import Kubernetes, Limits
from kwokgen.series import Document

ALTERNATIVES = "firstAvailable"


def rule_findings(document: Document, _kubernetes: Kubernetes) -> Iterator[Finding]:
    """What is wrong with a DeviceTaintRule."""
    spec, path = document.get("spec", {}), ("spec", "deviceSelector")
    yield from taint_findings(spec.get("taint", {}), ("spec", "taint"))
    # https://github.com/kubernetes/api/blob/v0.37.2/resource/v1beta2/types.go, DeviceTaintRuleSpec.DeviceSelector
    if "deviceSelector" not in spec:
        yield path, "without a selector the rule taints nothing"
    elif not spec["deviceSelector"].keys() & {"driver", "pool"}:
        yield path, "without driver or pool the rule would taint devices of the whole cluster"


def class_findings(document: Document, kubernetes: Kubernetes) -> Iterator[Finding]:
    """What is wrong with a DeviceClass."""
    spec = document.get("spec", {})
    yield from _selectors(spec, ("spec",), kubernetes.limits)
    yield from _config(spec.get("config", []), ("spec", "config"))


def claim_findings(document: Document, kubernetes: Kubernetes) -> Iterator[Finding]:
    """What is wrong with a claim or a template."""
    path: Path = ("spec", "devices")
    if document["kind"] == "ResourceClaimTemplate":
        path = ("spec", *path)
    devices: Mapping[str, Any] = document
    for step in path:
        devices = devices.get(str(step), {})
    requests = devices.get("requests", [])
    flat = document["apiVersion"].endswith("/v1beta1")
    limits = kubernetes.limits
    yield from _most(devices, "requests", path, limits.requests_per_claim)
    yield from _most(devices, "constraints", path, limits.constraints_per_claim)
    yield from named_once(requests, (*path, "requests"))
    for index, request in enumerate(requests):
        yield from _request(request, (*path, "requests", index), "deviceClassName" if flat else "exactly", limits)
    total = sum(_least(request) for request in requests)
    if total > limits.devices_per_claim:
        yield path, f"{total} devices, a claim may have {limits.devices_per_claim}: pods would wait for ever"
    yield from _constraints(devices.get("constraints", []), (*path, "constraints"))
    yield from _config(devices.get("config", []), (*path, "config"))
    yield from _references(devices, path)


def _most(holder: Mapping[str, Any], key: str, path: Path, most: int | None) -> Iterator[Finding]:
    number = len(holder.get(key, ()))
    if most and number > most:
        yield (*path, key), f"{number} {key}, there may be {most}"


def _request(request: Mapping[str, Any], path: Path, one: str, limits: Limits) -> Iterator[Finding]:
    if bool(request.get(one)) == bool(request.get(ALTERNATIVES)):
        has = "both" if request.get(one) else "neither"
        yield path, f"a request has {one} or {ALTERNATIVES}, this has {has}"
        return
    yield from _most(request, ALTERNATIVES, path, limits.alternatives_per_request)
    for step, ask in _asks(request):
        yield from _ask(ask, (*path, *step), limits)


def _asks(request: Mapping[str, Any]) -> Sequence[tuple[Path, Mapping[str, Any]]]:
    """What a request may be met by, each with its path below the request."""
    listed = request.get(ALTERNATIVES)
    if listed:
        return [((ALTERNATIVES, index), ask) for index, ask in enumerate(listed)]
    return [(("exactly",), request["exactly"])] if "exactly" in request else [((), request)]


def _ask(ask: Mapping[str, Any], path: Path, limits: Limits) -> Iterator[Finding]:
    if not is_subdomain(ask["deviceClassName"]):
        form = FORMATS["dns-subdomain"]
        yield (*path, "deviceClassName"), f'"{ask["deviceClassName"]}" is not {form.what}: {form.allowed}'
    yield from _selectors(ask, path, limits)
    yield from _most(ask, "tolerations", path, limits.tolerations_per_request)


def _least(request: Mapping[str, Any]) -> int:
    return min(0 if ask.get("allocationMode") == "All" else ask.get("count", 1) for _, ask in _asks(request))


def _selectors(holder: Mapping[str, Any], path: Path, limits: Limits) -> Iterator[Finding]:
    yield from _most(holder, "selectors", path, limits.selectors_per_request)
    for index, selector in enumerate(holder.get("selectors", [])):
        if "cel" not in selector:
            yield (*path, "selectors", index), "a selector has cel"


def _constraints(constraints: Sequence[Mapping[str, Any]], path: Path) -> Iterator[Finding]:
    for index, constraint in enumerate(constraints):
        if not constraint.keys() & {"matchAttribute", "distinctAttribute"}:
            yield (*path, index), "a constraint has matchAttribute or distinctAttribute"


def _config(config: Sequence[Mapping[str, Any]], path: Path) -> Iterator[Finding]:
    for index, entry in enumerate(config):
        if "opaque" not in entry:
            yield (*path, index), "the parameters of a driver are in opaque"


def _references(devices: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    names = {request["name"] for request in devices.get("requests", [])}
    for section in ("constraints", "config"):
        for index, entry in enumerate(devices.get(section, [])):
            for name in entry.get("requests", []):
                if name.partition("/")[0] not in names:
                    yield (*path, section, index, "requests"), f'there is no request "{name}"'
