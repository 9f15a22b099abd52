"""Which Stages of a lifecycle play which objects, by KWOK's rules, and what an object is after one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kwokgen import expressions, gotemplate
from kwokgen.mergepatch import merged
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.stagelint._filling import filled, read
from kwokgen.stagelint._stage import patches

Thing = Mapping[str, Any]


def matching(lifecycle: Lifecycle, things: Sequence[Thing]) -> list[tuple[Stage, ...]]:
    """The Stages that match each object.

    Raises KwokgenError for an expression that does not end on one.
    """
    # One expression after the other: to compile one takes as long as to ask it of a hundred objects.
    asked = [
        expressions.Question(pos, expression["key"], thing, expression["operator"], tuple(expression.get("values", ())))
        for stage in lifecycle.stages
        for index, expression in enumerate(stage.spec["selector"].get("matchExpressions", ()))
        for pos in [lifecycle.entry.pos("stages", stage.number, "selector", "matchExpressions", index, "key")]
        for thing in things
    ]
    held = iter(expressions.held(asked))
    means = {stage.step: _means(stage.spec["selector"], things, held) for stage in lifecycle.stages}
    return [tuple(stage for stage in lifecycle.stages if means[stage.step][number]) for number in range(len(things))]


def _means(selector: Mapping[str, Any], things: Sequence[Thing], held: Iterator[bool]) -> list[bool]:
    """Whether a selector means each object; `held` goes on with its expressions, each of all objects."""
    rows = [list(islice(held, len(things))) for _ in selector.get("matchExpressions", ())]
    return [labelled(selector, thing) and all(row[number] for row in rows) for number, thing in enumerate(things)]


def labelled(selector: Mapping[str, Any], thing: Thing) -> bool:
    """Whether an object has the labels and annotations that a selector names."""
    meta = thing.get("metadata") or {}
    wanted = {"labels": selector.get("matchLabels", {}), "annotations": selector.get("matchAnnotations", {})}
    return all(pairs.items() <= (meta.get(part) or {}).items() for part, pairs in wanted.items())


def after(stage: Stage, functions: frozenset[str]) -> Thing | None:
    """The sample of a Stage when it was played; None where its templates need the object to be known."""
    thing: Any = stage.sample
    for patch in patches(stage.spec):
        template = gotemplate.parse(patch.text, functions)
        text = filled(template)
        if template.mistakes or patch.sort == "json" or not (text.straight and text.known):
            return None
        value, _ = read(text.text)
        if not isinstance(value, dict):
            return None
        thing = merged(thing, {patch.root: value} if patch.root else value, strategic=patch.sort != "merge")
    return thing if thing is not stage.sample else None
