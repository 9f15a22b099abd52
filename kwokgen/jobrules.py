"""Rules of what a Job does with failed pods, for what a blueprint says and for a Job after every patch.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/batch/validation/validation.go, ValidateJobSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kwokgen.formats import FORMATS
from kwokgen.problem import quoted

POLICIES = ("backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes", "podFailurePolicy")
"""The fields of a JobSpec that say it, in its own words; a workload has them as well."""


class Finding(NamedTuple):
    """What the API server refuses, or ignores, at a path below `spec`."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def findings(spec: Mapping[str, Any]) -> Iterator[Finding]:
    """Everything that is wrong with the policies of a JobSpec."""
    pod = spec["template"]["spec"]
    yield from _per_index(spec, pod.get("restartPolicy"))
    if "podFailurePolicy" not in spec:
        return
    if pod.get("restartPolicy") != "Never":
        message = f"pods that restart their containers ({pod.get('restartPolicy')}) have no podFailurePolicy"
        yield Finding(("podFailurePolicy",), message, "write restartPolicy: Never")
    containers = [each["name"] for section in ("containers", "initContainers") for each in pod.get(section, ())]
    for index, rule in enumerate(spec["podFailurePolicy"].get("rules", ())):
        path = ("podFailurePolicy", "rules", index)
        for found in _rule(rule, containers, per_index="backoffLimitPerIndex" in spec):
            yield found._replace(path=(*path, *found.path))


def _per_index(spec: Mapping[str, Any], restart: str | None) -> Iterator[Finding]:
    most = spec.get("maxFailedIndexes")
    if "backoffLimitPerIndex" not in spec:
        if most is not None:
            hint = "write backoffLimitPerIndex as well"
            yield Finding(("maxFailedIndexes",), "indexes fail one by one only with backoffLimitPerIndex", hint)
        return
    if spec.get("completionMode") != "Indexed":
        yield Finding(("backoffLimitPerIndex",), "only jobs with completionMode: Indexed have it")
    if restart != "Never":
        # The server takes it, and the Job controller counts nothing: no pod fails.
        message = f"pods that restart their containers ({restart}) are never tried again by their index"
        yield Finding(("backoffLimitPerIndex",), message, "write restartPolicy: Never")
    if most is not None and most > spec.get("completions", 1):
        message = f"{most} failed indexes are more than the job's {spec.get('completions', 1)}"
        yield Finding(("maxFailedIndexes",), message)


def _rule(rule: Mapping[str, Any], containers: Sequence[str], *, per_index: bool) -> Iterator[Finding]:
    if rule.get("action") == "FailIndex" and not per_index:
        hint = "write backoffLimitPerIndex as well"
        yield Finding(("action",), "an index fails alone only with backoffLimitPerIndex", hint)
    if bool(rule.get("onExitCodes")) == bool(rule.get("onPodConditions")):
        said = (
            "both onExitCodes and onPodConditions" if rule.get("onExitCodes") else "neither exit codes nor conditions"
        )
        yield Finding((), f"the rule has {said}", "a rule has one of onExitCodes and onPodConditions")
    for found in _exit_codes(rule.get("onExitCodes") or {}, containers):
        yield found._replace(path=("onExitCodes", *found.path))
    for index, pattern in enumerate(rule.get("onPodConditions") or ()):
        if not FORMATS["label-key"].test(pattern["type"]):
            message = f'"{pattern["type"]}" is not the type of a condition: {FORMATS["label-key"].allowed}'
            yield Finding(("onPodConditions", index, "type"), message)


def _exit_codes(codes: Mapping[str, Any], containers: Sequence[str]) -> Iterator[Finding]:
    name, values = codes.get("containerName"), list(codes.get("values", ()))
    if name is not None and name not in containers:
        message = f'the pods have no container "{name}". available: {quoted(containers)}'
        yield Finding(("containerName",), message, "leave it out for all of them")
    if codes.get("operator") == "In" and 0 in values:
        yield Finding(("values", values.index(0)), "0 is no failure", "operator NotIn may have it")
    ordered = sorted(set(values))
    if values != ordered:
        text = f"write [{', '.join(map(str, ordered))}]"
        yield Finding(("values",), "exit codes stand in ascending order, each once", text)
