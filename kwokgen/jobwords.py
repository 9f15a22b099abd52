"""Rules of the words of a Job, and of when it has succeeded, that the API server has and the JSON Schemas have not.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/batch/validation/validation.go, ValidateJobSpec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen import fieldrules
from kwokgen.fieldrules import EACH, Formed, Rule, Words
from kwokgen.jobrules import Finding, at
from kwokgen.objectformats import MANAGER

FAILED = ("podFailurePolicy", "rules", EACH)
JOB: tuple[Rule, ...] = (
    Words(("completionMode",), ("Indexed", "NonIndexed")),
    Words(("podReplacementPolicy",), ("Failed", "TerminatingOrFailed")),
    Words((*FAILED, "action"), ("Count", "FailIndex", "FailJob", "Ignore")),
    Words((*FAILED, "onExitCodes", "operator"), ("In", "NotIn")),
    Words((*FAILED, "onPodConditions", EACH, "status"), ("False", "True", "Unknown"), optional=True),
    Formed(("managedBy",), MANAGER),
)
MOST_RULES = 20
INTERVAL = r"\+?([0-9]{1,10})(?:-\+?([0-9]{1,10}))?"


def findings(spec: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the words of a JobSpec and with its successPolicy, at paths below it."""
    yield from fieldrules.findings(spec, JOB)
    if "podFailurePolicy" in spec and spec.get("podReplacementPolicy") == "TerminatingOrFailed":
        message = "a job with a podFailurePolicy replaces pods that have failed only"
        yield Finding(("podReplacementPolicy",), message, "write Failed, or leave it out")
    if "successPolicy" in spec:
        yield from at(("successPolicy",), _success(spec))


def _success(spec: Mapping[str, Any]) -> Iterator[Finding]:
    rules = spec["successPolicy"].get("rules", ())
    if spec.get("completionMode") != "Indexed":
        yield Finding((), "only jobs with completionMode: Indexed have it")
    elif not 1 <= len(rules) <= MOST_RULES:
        yield Finding(("rules",), f"{len(rules)} rules, there may be 1 to {MOST_RULES}")
    else:
        for index, rule in enumerate(rules):
            yield from at(("rules", index), _rule(rule, spec.get("completions", 1)))


def _rule(rule: Mapping[str, Any], completions: int) -> Iterator[Finding]:
    listed, count, most = rule.get("succeededIndexes"), rule.get("succeededCount"), completions
    if listed is None and count is None:
        yield Finding((), "the rule has neither succeededCount nor succeededIndexes", "write one of them")
    if listed is not None:
        found = _indexes(listed, completions)
        if found is None:
            message = f'"{listed}" are not indexes below {completions} in ascending order'
            yield Finding(("succeededIndexes",), message, "such as 0,2-4")
        most = completions if found is None else found
    if count is not None and not 0 <= count <= most:
        yield Finding(("succeededCount",), f"{count} is not between 0 and the {most} indexes that it is of")


def _indexes(text: str, completions: int) -> int | None:
    """How many indexes a text lists; None if it is no list of indexes."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        found = re.fullmatch(INTERVAL, interval)
        first, end = (int(found[1]), int(found[2] or found[1])) if found else (-1, -1)
        if not last < first <= end < completions or (found and found[2] and first == end):
            return None
        total, last = total + end - first + 1, end
    return total
