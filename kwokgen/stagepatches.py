"""Stages that patches have changed, held against what KWOK makes of them; each problem at the patch that wrote the part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kwokgen import expressions, stagelint
from kwokgen.mergepatch import reaches
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.labels import INSTANCE, LIFECYCLE
from kwokgen.model.lifecycle import Stage
from kwokgen.patches import means
from kwokgen.problem import Pos, Problem, Related, errors
from kwokgen.series import Document, Series

Path = tuple[str | int, ...]
KIND = "Stage"


class _Changed(NamedTuple):
    """A Stage, its patches in order, and the place that asked for it."""

    document: Document
    patches: tuple[Patch, ...]
    at: Pos

    def pos(self, path: Path) -> Pos | None:
        """Where the last patch wrote a part of the spec; None for one that no patch wrote."""
        written = [patch for patch in self.patches if reaches(patch.merge, ("spec", *path))]
        return written[-1].at.pos("merge", "spec", *path) if written else None


def check(cluster: Cluster, series: Sequence[Series]) -> tuple[Problem, ...]:
    """What is wrong with the parts of Stages that patches wrote."""
    # A Stage is a series of its own, and has no slots.
    rows = [(one, document) for one in series for run in one.runs for document in run.shape.documents]
    stages = [(one, document) for one, document in rows if document["kind"] == KIND]
    changed = [_Changed(document, _meant(cluster, document), one.at.pos()) for one, document in stages]
    changed = [stage for stage in changed if stage.patches]
    asked = [one for stage in changed for one in _questions(stage)]
    found = (*expressions.changed(asked), *_findings(cluster, changed))
    # What is wrong by itself would be said again by what it does to others.
    return found if errors(found) else (*found, *_between(cluster, changed))


def _meant(cluster: Cluster, document: Document) -> tuple[Patch, ...]:
    return tuple(patch for patch in cluster.patches if means(patch, None, document))


def _findings(cluster: Cluster, changed: Sequence[_Changed]) -> Iterator[Problem]:
    for stage in changed:
        spec = stage.document["spec"]
        kind = spec["resourceRef"]["kind"]
        for finding in stagelint.findings(kind, spec, cluster.controller.kwok.called(kind), ()):
            if pos := stage.pos(finding.path):
                related = (Related(stage.at, f"asked for the Stage {stage.document['metadata']['name']}"),)
                yield stagelint.problem(pos, spec, finding)._replace(related=related)


def _between(cluster: Cluster, changed: Sequence[_Changed]) -> Iterator[Problem]:
    """What patches do to the Stages of a lifecycle together that is right without them."""
    named = {stage.document["metadata"]["name"]: stage for stage in changed}
    for lifecycle in cluster.lifecycles:
        names = {f"{cluster.name}-{lifecycle.name}-{stage.step}": stage for stage in lifecycle.stages}
        patched = {stage.step: named[name] for name, stage in names.items() if name in named}
        if not patched:
            continue
        functions = cluster.controller.kwok.called(lifecycle.kind)
        known = {problem.message for problem in stagelint.between(lifecycle, functions)}
        stages = tuple(_with(stage, patched.get(stage.step)) for stage in lifecycle.stages)
        for problem in stagelint.between(lifecycle._replace(stages=stages), functions):
            if problem.message not in known:
                meant = next((each for step, each in patched.items() if f'"{step}"' in problem.message), None)
                blamed = meant or next(iter(patched.values()))
                yield problem._replace(pos=blamed.patches[-1].at.pos("merge"))


def _with(stage: Stage, changed: _Changed | None) -> Stage:
    """The Stage as it was patched, but for what guards it to its own nodes or pods, which no sample has."""
    if changed is None:
        return stage
    spec = changed.document["spec"]
    selector = spec.get("selector", {})
    labels = {key: text for key, text in selector.get("matchLabels", {}).items() if key != INSTANCE}
    own = [one for one in selector.get("matchExpressions", ()) if one["key"] != f'.metadata.labels["{LIFECYCLE}"]']
    return stage._replace(spec=spec | {"selector": selector | {"matchLabels": labels, "matchExpressions": own}})


def _questions(stage: _Changed) -> Iterator[expressions.Question]:
    spec = stage.document["spec"]
    things = stagelint.STANDARD.get(spec["resourceRef"]["kind"], {"any": {}}).values()
    for index, each in enumerate(spec.get("selector", {}).get("matchExpressions", ())):
        asked = each.get("jq", each)
        pos = stage.pos(("selector", "matchExpressions", index))
        if pos and "key" in asked:
            values = tuple(asked.get("values", ()))
            yield from (expressions.Question(pos, asked["key"], one, asked["operator"], values) for one in things)
    for name in ("durationFrom", "jitterDurationFrom"):
        said: Mapping[str, Any] = spec.get("delay", {}).get(name, {})
        expression = said.get("expressionFrom") or said.get("jq", {}).get("expression")
        if expression and (pos := stage.pos(("delay", name))):
            yield from (expressions.Question(pos, expression, one) for one in things)
