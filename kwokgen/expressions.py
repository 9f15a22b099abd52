"""jq of Stages that did not come with kwokgen, evaluated on the sample that each must match, in a bounded process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kwokgen.formats import is_moment
from kwokgen.model.cluster import Cluster
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.problem import Pos, Problem

SECONDS = 10
"""More than the child's own limit of CPU time, in case the machine is busy."""


class _Question(NamedTuple):
    """An expression over a sample; an operator of None is a moment, not a selector."""

    pos: Pos
    expression: str
    sample: Mapping[str, Any]
    operator: str | None = None
    values: tuple[str, ...] = ()


def check(cluster: Cluster) -> tuple[Problem, ...]:
    """Expressions that fail, never end, or do not match their sample; built-in Stages are the tests' to check."""
    questions = [
        question
        for lifecycle in cluster.lifecycles
        if not lifecycle.builtin
        for stage in lifecycle.stages
        for question in _questions(lifecycle, stage)
    ]
    if not questions:
        return ()
    answers = _answers(questions)
    found = [_problem(question, answer) for question, answer in zip(questions, answers, strict=False)]
    found += [_valued(question) for question in questions]
    if len(answers) < len(questions):
        stuck = questions[len(answers)]
        found.append(Problem(stuck.pos, "stage", "the expression does not end, or takes too much memory"))
    return tuple(problem for problem in found if problem)


def _questions(lifecycle: Lifecycle, stage: Stage) -> Iterator[_Question]:
    at = lifecycle.entry.below("stages", stage.number)
    for index, expression in enumerate(stage.spec["selector"].get("matchExpressions", ())):
        pos = at.pos("selector", "matchExpressions", index, "key")
        values = tuple(expression.get("values", ()))
        yield _Question(pos, expression["key"], stage.sample, expression["operator"], values)
    until = stage.spec.get("delay", {}).get("durationFrom")
    if until:
        yield _Question(at.pos("delay", "until"), until["expressionFrom"], stage.sample)


def _answers(questions: list[_Question]) -> list[dict[str, Any]]:
    """What jq made of each, up to the one that the child did not survive."""
    asked = json.dumps([[question.expression, question.sample] for question in questions])
    command = [sys.executable, "-I", "-m", "kwokgen.jqchild"]
    try:
        done = subprocess.run(command, input=asked, text=True, capture_output=True, check=False, timeout=SECONDS)
        said = done.stdout
    except subprocess.TimeoutExpired as error:
        # What it said until then comes as bytes, whatever `text` says: https://github.com/python/cpython/issues/87597
        said = bytes(error.stdout or b"").decode()
    return [json.loads(line) for line in said.splitlines() if line.endswith("}")]


def _valued(question: _Question) -> Problem | None:
    """KWOK plays nothing of a Stage whose operator it cannot use: In and NotIn have values, the others have none."""
    if question.operator is None or (question.operator in {"In", "NotIn"}) == bool(question.values):
        return None
    needs = "has no values" if question.values else "needs values"
    return Problem(question.pos, "stage", f"{question.operator} {needs}", "KWOK would play nothing of the Stage")


def _problem(question: _Question, answer: Mapping[str, Any]) -> Problem | None:
    if "syntax" in answer:
        return Problem(question.pos, "stage", f"not jq: {answer['syntax']}")
    results = [result for result in answer["results"] if result is not None]
    if question.operator is None:
        good = len(answer["results"]) == 1 and isinstance(answer["results"][0], str) and is_moment(answer["results"][0])
        said = answer.get("error") or f"gives {json.dumps(answer['results'])}"
        hint = "it must give one time such as 2026-01-01T00:00:00Z; KWOK says nothing and takes the plain time"
        return (
            None if good else Problem(question.pos, "stage", f"the moment cannot be found on the sample: {said}", hint)
        )
    subtracts = "cannot be subtracted" in answer.get("error", "")
    # Without its values, or with too many, an operator holds for another reason, which is said.
    if not subtracts and (_holds(question, results) or _valued(question)):
        return None
    said = answer.get("error") or f"gives {json.dumps(results)}"
    what = "the expression is never what is meant" if subtracts else f"{question.operator} does not hold on the sample"
    return Problem(question.pos, "stage", f"{what}: it {said}", _hint(question, results))


def _holds(question: _Question, results: list[Any]) -> bool:
    """KWOK's rules: an error is no data; In is any, NotIn is none, and numbers of the object never compare."""
    texts = {result if isinstance(result, str) else json.dumps(result) for result in results if _compared(result)}
    present = bool(texts & set(question.values))
    answers = {"In": present, "NotIn": not present, "Exists": bool(results), "DoesNotExist": not results}
    return answers[question.operator or ""]


def _compared(result: Any) -> bool:
    return isinstance(result, str | bool)


def _hint(question: _Question, results: list[Any]) -> str:
    if any(not _compared(result) for result in results):
        return "KWOK compares texts: add | tostring"
    if "-" in question.expression.split('"')[0]:
        return 'a "-" outside of quotes is a subtraction: write .metadata.labels["a-b"]'
    return ""
