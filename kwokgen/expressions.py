"""jq of Stages that did not come with kwokgen, evaluated on objects in a bounded process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kwokgen.formats import is_duration, is_moment
from kwokgen.jqchild import BEGUN
from kwokgen.model.cluster import Cluster
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.problem import EnvironmentFailure, KwokgenError, Pos, Problem

SECONDS = 10
"""More than the child's own limit of CPU time, in case the machine is busy."""
MOST = 5_000
"""Questions to one child, which has a fraction of its time for them: that of a large catalogue is not to be too little."""

ENDS = "KWOK logs it once, and ends with a nil pointer as soon as another Stage matches the same object"
"""Seen of 0.8: the Stage is kept half read, without a weight, for https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/lifecycle/lifecycle.go#L522"""


class Question(NamedTuple):
    """An expression over an object; an operator of None is a moment, not a selector."""

    pos: Pos
    expression: str
    sample: Mapping[str, Any]
    operator: str | None = None
    values: tuple[str, ...] = ()


def check(cluster: Cluster) -> tuple[Problem, ...]:
    """Expressions that fail, never end, or do not match their sample; built-in Stages are the tests' to check."""
    questions = [
        question
        for lifecycle in cluster.own_lifecycles
        for stage in lifecycle.stages
        for question in _questions(lifecycle, stage)
    ]
    if not questions:
        return ()
    answers, stuck = _answers(questions)
    found = [_problem(question, answer) for question, answer in zip(questions, answers, strict=False)]
    found += [_valued(question) for question in questions]
    found += _compared_apart(questions)
    return tuple(problem for problem in (*found, stuck) if problem)


def held(questions: Sequence[Question]) -> list[bool]:
    """Whether each condition holds.

    Raises KwokgenError for one that does not end.
    """
    answers, stuck = _answers(questions)
    if stuck:
        raise KwokgenError(stuck)
    return [_holds(question, _present(answer)) for question, answer in zip(questions, answers, strict=True)]


def _questions(lifecycle: Lifecycle, stage: Stage) -> Iterator[Question]:
    at = lifecycle.entry.below("stages", stage.number)
    for index, expression in enumerate(stage.spec["selector"].get("matchExpressions", ())):
        pos = at.pos("selector", "matchExpressions", index, "key")
        values = tuple(expression.get("values", ()))
        yield Question(pos, expression["key"], stage.sample, expression["operator"], values)
    until = stage.spec.get("delay", {}).get("durationFrom")
    if until:
        yield Question(at.pos("delay", "until"), until["expressionFrom"], stage.sample)


def changed(questions: Sequence[Question]) -> tuple[Problem, ...]:
    """What is wrong with expressions whatever object they are asked of; some do not hold, and may not."""
    answers, stuck = _answers(questions) if questions else ([], None)
    found = [_never_right(question, answer) for question, answer in zip(questions, answers, strict=False)]
    return tuple(problem for problem in (*found, *map(_valued, questions), stuck) if problem)


def _never_right(question: Question, answer: Mapping[str, Any]) -> Problem | None:
    if "syntax" in answer:
        return Problem(question.pos, "stage", f"not jq: {answer['syntax']}", ENDS)
    if "cannot be subtracted" in answer.get("error", ""):
        message = f"the expression is never what is meant: it {answer['error']}"
        return Problem(question.pos, "stage", message, _hint(question, []))
    results = _present(answer)[:1]
    if question.operator is None and results and not _is_time(results[0]):
        message = f"{json.dumps(results[0])} is no time and no duration"
        hint = "such as 1m30s or 2026-01-01T00:00:00Z; KWOK says nothing and takes the plain time"
        return Problem(question.pos, "stage", message, hint)
    return None


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and (not value or is_moment(value) or is_duration(value))


def _answers(questions: Sequence[Question]) -> tuple[list[dict[str, Any]], Problem | None]:
    """What jq made of each, up to the one that a child did not survive, which is a problem."""
    answers: list[dict[str, Any]] = []
    for first in range(0, len(questions), MOST):
        asked = questions[first : first + MOST]
        answers += (found := _asked(asked))
        if len(found) < len(asked):
            message = "the expression does not end, or takes too much memory"
            return answers, Problem(asked[len(found)].pos, "stage", message)
    return answers, None


def _asked(questions: Sequence[Question]) -> list[dict[str, Any]]:
    """What a child made of them until it ended.

    Raises EnvironmentFailure for one that did not begin.
    """
    asked = json.dumps([[question.expression, question.sample] for question in questions])
    command = [sys.executable, "-I", "-m", "kwokgen.jqchild"]
    try:
        done = subprocess.run(command, input=asked, text=True, capture_output=True, check=False, timeout=SECONDS)
        said, why = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        # What it said until then comes as bytes, whatever `text` says: https://github.com/python/cpython/issues/87597
        said, why = bytes(error.stdout or b"").decode(), ""
    if not said.startswith(BEGUN):
        raise EnvironmentFailure(f"jq does not begin: {(why.splitlines() or ['no answer'])[-1]}")
    return [json.loads(line) for line in said.splitlines() if line.endswith("}")]


def _present(answer: Mapping[str, Any]) -> list[Any]:
    return [result for result in answer.get("results", ()) if result is not None]


COMPARISON = re.compile(r"\s*(?P<path>\.[^|<>=!,()\s]+)\s*[<>]=?\s*-?[0-9.]+\s*")
"""Of a field with a number, and nothing else."""


def _compared_apart(questions: Sequence[Question]) -> Iterator[Problem]:
    """Comparisons of a text, or of nothing, with a number: jq has an order between them, and no mistake."""
    compared = [(question, found) for question in questions if (found := COMPARISON.fullmatch(question.expression))]
    fields = [question._replace(expression=found["path"]) for question, found in compared]
    answers, _ = _answers(fields) if fields else ([], None)
    for question, answer in zip(fields, answers, strict=False):
        for result in answer.get("results", ()):
            if not isinstance(result, int | float):
                message = f"a comparison with a number of {json.dumps(result)}: to jq null < any number < any text"
                yield Problem(question.pos, "stage", message, "make it a number: (… | tonumber? // 0)")


def _valued(question: Question) -> Problem | None:
    """KWOK plays nothing of a Stage whose operator it cannot use: In and NotIn have values, the others have none."""
    if question.operator is None or (question.operator in {"In", "NotIn"}) == bool(question.values):
        return None
    needs = "has no values" if question.values else "needs values"
    return Problem(question.pos, "stage", f"{question.operator} {needs}", ENDS)


def _problem(question: Question, answer: Mapping[str, Any]) -> Problem | None:
    if "syntax" in answer:
        return Problem(question.pos, "stage", f"not jq: {answer['syntax']}", ENDS)
    results = _present(answer)
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


def _holds(question: Question, results: list[Any]) -> bool:
    """KWOK's rules: an error is no data; In is any, NotIn is none, and numbers of the object never compare."""
    texts = {result if isinstance(result, str) else json.dumps(result) for result in results if _compared(result)}
    present = bool(texts & set(question.values))
    answers = {"In": present, "NotIn": not present, "Exists": bool(results), "DoesNotExist": not results}
    return answers[question.operator or ""]


def _compared(result: Any) -> bool:
    return isinstance(result, str | bool)


def _hint(question: Question, results: list[Any]) -> str:
    if any(not _compared(result) for result in results):
        return "KWOK compares texts: add | tostring"
    if "-" in question.expression.split('"')[0]:
        return 'a "-" outside of quotes is a subtraction: write .metadata.labels["a-b"]'
    return ""
