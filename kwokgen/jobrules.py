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


COUNTS = (
    *("activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completions"),
    *("maxFailedIndexes", "parallelism", "ttlSecondsAfterFinished"),
)
GENERATED = ("job-name", "batch.kubernetes.io/job-name", "controller-uid", "batch.kubernetes.io/controller-uid")
"""The labels that the API server gives to the pods of a Job, and selects them by."""


class Finding(NamedTuple):
    """What the API server refuses, or ignores, at a path; `hint` is how to mend it."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def at(path: tuple[str | int, ...], found: Iterator[Finding]) -> Iterator[Finding]:
    """Findings below a path."""
    return (each._replace(path=(*path, *each.path)) for each in found)


def findings(spec: Mapping[str, Any]) -> Iterator[Finding]:
    """Everything that is wrong with the numbers and policies of a JobSpec, at paths below it."""
    pod = spec.get("template", {}).get("spec", {})
    # https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy has what the server fills in.
    restart = pod.get("restartPolicy", "Always")
    for key in COUNTS:
        if spec.get(key, 0) < 0:
            yield Finding((key,), f"{spec[key]} is below 0", "leave it out, or write 0 or more")
    # Without both the server makes both 1.
    if spec.get("completionMode") == "Indexed" and "completions" not in spec and "parallelism" in spec:
        yield Finding(("completions",), "a job with completionMode: Indexed has completions", "write completions")
    yield from _per_index(spec, restart)
    if "podFailurePolicy" not in spec:
        return
    if restart != "Never":
        message = f"pods that restart their containers ({restart}) have no podFailurePolicy"
        yield Finding(("podFailurePolicy",), message, "write restartPolicy: Never")
    containers = [each["name"] for section in ("containers", "initContainers") for each in pod.get(section, ())]
    for index, rule in enumerate(spec["podFailurePolicy"].get("rules", ())):
        path = ("podFailurePolicy", "rules", index)
        yield from at(path, _rule(rule, containers, per_index="backoffLimitPerIndex" in spec))


def selector_findings(spec: Mapping[str, Any], name: str) -> Iterator[Finding]:
    """What is wrong with the selector of a JobSpec, which the API server writes itself: ValidateGeneratedSelector."""
    labels = spec.get("selector", {}).get("matchLabels", {})
    if not spec.get("manualSelector"):
        if any(key not in GENERATED or (key.endswith("job-name") and value != name) for key, value in labels.items()):
            hint = "leave the selector out, or write manualSelector: true and give the pods its labels"
            yield Finding(("selector",), "the API server writes the selector of a Job", hint)
        return
    given = spec.get("template", {}).get("metadata", {}).get("labels", {})
    if "selector" not in spec:
        yield Finding(("manualSelector",), "there is no selector", "leave manualSelector out")
    elif any(given.get(key) != value for key, value in labels.items()):
        hint = "give them to spec.template.metadata.labels"
        yield Finding(("selector",), "the pods lack the labels that the selector asks for", hint)


def _per_index(spec: Mapping[str, Any], restart: str) -> Iterator[Finding]:
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
    yield from at(("onExitCodes",), _exit_codes(rule.get("onExitCodes") or {}, containers))
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
