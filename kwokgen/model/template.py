"""The template of a catalogue entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Template(NamedTuple):
    """Jinja2 text of one document, or of a list of them; `forms` is what it makes, by the `conditions` that hold, compiled for built-in ones.

    It begins at `line` of its file, or behind it if it is a `block`, whose lines are those of the file.
    """

    text: str
    file: str
    conditions: tuple[str, ...] = ()
    forms: Mapping[str, Any] = {}
    line: int = 1
    block: bool = False
