"""Which Stages of a lifecycle play which objects, by KWOK's rules, and what an object is after one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kwokgen import expressions, gotemplate
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.stagelint._filling import filled, merged, read
from kwokgen.stagelint._stage import patches

Thing = Mapping[str, Any]


def matching(lifecycle: Lifecycle, things: Sequence[Thing]) -> list[tuple[Stage, ...]]:
    """The Stages that match each object.

    Raises KwokgenError for an expression that does not end on one.
    """
    asked = [
        expressions.Question(
            lifecycle.entry.pos("stages", number, "selector", "matchExpressions", index, "key"),
            expression["key"],
            thing,
            expression["operator"],
            tuple(expression.get("values", ())),
        )
        for thing in things
        for number, stage in enumerate(lifecycle.stages)
        for index, expression in enumerate(stage.spec["selector"].get("matchExpressions", ()))
    ]
    held = iter(expressions.held(asked))
    return [tuple(stage for stage in lifecycle.stages if _means(stage, thing, held)) for thing in things]


def _means(stage: Stage, thing: Thing, held: Any) -> bool:
    selector = stage.spec["selector"]
    every = [next(held) for _ in selector.get("matchExpressions", ())]
    return labelled(selector, thing) and all(every)


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
