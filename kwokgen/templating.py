"""Jinja2 templates of catalogue entries: values in as JSON, one document out as data, slots kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kwokgen import tree
from kwokgen.problem import KwokgenError, Pos, Problem
from kwokgen.series import Document, Join, Slot

MARK = "kwokgen-template-slot-"


def render(template: str, values: Mapping[str, Any], at: Pos) -> Document:
    """The document that a template of the entry at `at` makes of `values`.

    Raises KwokgenError at the template's line for a word it does not know or text that is not YAML.
    """
    from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    slots: list[Slot | Join] = []
    environment = ImmutableSandboxedEnvironment(
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: json.dumps(_marked(value, slots), ensure_ascii=False),
        autoescape=False,
    )
    try:
        text = environment.from_string(template).render(dict(values))
    except TemplateSyntaxError as error:
        raise KwokgenError(_problem(at, error.lineno, str(error.message))) from None
    except TemplateError as error:
        raise KwokgenError(_problem(at, 0, str(error))) from None
    document: Document = _slotted(tree.parse(text, at.file).plain(), slots)
    return document


def _problem(at: Pos, line: int, message: str) -> Problem:
    pos = Pos(at.file, at.line + line, 1) if line else at
    return Problem(pos, "template", f"the template fails: {message}")


def _marked(value: Any, slots: list[Slot | Join]) -> Any:
    if isinstance(value, Slot | Join):
        slots.append(value)
        return f"{MARK}{len(slots) - 1}"
    if isinstance(value, Mapping):
        return {key: _marked(below, slots) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(below, slots) for below in value]
    return value


def _slotted(value: Any, slots: list[Slot | Join]) -> Any:
    if isinstance(value, str) and value.startswith(MARK):
        return slots[int(value.removeprefix(MARK))]
    if isinstance(value, dict):
        return {key: _slotted(below, slots) for key, below in value.items()}
    if isinstance(value, list):
        return [_slotted(below, slots) for below in value]
    return value
