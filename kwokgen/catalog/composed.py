"""Named steps: what Stages of several lifecycles have in common, put in where a Stage `does` one.

The tree of the step goes below that of the Stage, so that what is wrong with it has its place in the step's own file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kwokgen.model.place import Entry, Node, Place
from kwokgen.problem import KwokgenError, Problem

HEAD = ("summary", "source", "checked", "kind")
"""What a step says of itself."""
NEEDED = ("selector", "next", "sample")


def of(kind: str) -> str | None:
    """The folder of the steps that lifecycles of a folder may do; None where entries are no lifecycles."""
    sort, _, things = kind.partition("/")
    return f"steps/{things}" if sort == "stages" else None


def used(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The steps that the Stages of a lifecycle do."""
    return tuple(stage["does"] for stage in data.get("stages", ()) if "does" in stage)


def put_in(lifecycle: Node, step: Callable[[Node], Node]) -> Node:
    """The lifecycle with every Stage whole; `step` finds what a name stands for.

    Raises KwokgenError with every name that leads nowhere.
    """
    stages: list[Node] = []
    problems: list[Problem] = []
    for written in _items(lifecycle.child("stages")):
        try:
            stages.append(_whole(written, step))
        except KwokgenError as error:
            problems += error.problems
    if problems:
        raise KwokgenError(*problems)
    entry = _entries(lifecycle)["stages"]
    whole = Entry(entry.key_pos, Node(entry.node.pos, tuple(stages)))
    return Node(lifecycle.pos, _entries(lifecycle) | {"stages": whole})


def _whole(stage: Node, step: Callable[[Node], Node]) -> Node:
    does, own = stage.child("does"), dict(_entries(stage))
    if does is None:
        return stage
    shared = {key: entry for key, entry in _entries(step(does)).items() if key not in HEAD}
    when = own.pop("when", None)
    whole = Node(stage.pos, shared | own)
    return _guarded(whole, when.node) if when else whole


def _guarded(stage: Node, when: Node) -> Node:
    """A Stage for which more must hold."""
    selector = _entries(stage)["selector"]
    written = selector.node.child("matchExpressions")
    both = (*_items(written), *_items(when))
    asked = Entry(when.pos, Node(written.pos if written else when.pos, both))
    guarded = Node(selector.node.pos, _entries(selector.node) | {"matchExpressions": asked})
    return Node(stage.pos, _entries(stage) | {"selector": Entry(selector.key_pos, guarded)})


def _entries(node: Node) -> dict[str, Entry]:
    return node.value if isinstance(node.value, dict) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.value if node and isinstance(node.value, tuple) else ()


def lacking(data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    """Every Stage of a lifecycle that is not whole."""
    for index, stage in enumerate(data["stages"]):
        pos = at.pos("stages", index)
        if missing := [key for key in NEEDED if key not in stage]:
            message = f'the Stage "{stage["step"]}" has no {" and no ".join(missing)}'
            yield Problem(pos, "catalog", message, "write it, or the named step that has it: does: complete")
        elif "when" in stage:
            message = "when goes beside the named step that a Stage does, and it does none"
            yield Problem(at.key("stages", index, "when"), "catalog", message, "write selector.matchExpressions")
