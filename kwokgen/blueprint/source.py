"""Where blueprints are read: a file or standard input in, its tree out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kwokgen import tree
from kwokgen.encoding import decoded
from kwokgen.model.place import Node
from kwokgen.problem import KwokgenError, Pos, Problem

MOST_BYTES, MOST_OF_TRACE = 2 * 1024 * 1024, 16 * 1024 * 1024


def read(name: str) -> Node:
    """The tree of a file, or of standard input for "-".

    Raises KwokgenError when it cannot be read or is not one YAML document.
    """
    return tree.parse(_text(name), "<stdin>" if name == "-" else name)


def trace(name: str) -> str:
    """The text of a trace of jobs.

    Raises KwokgenError when it cannot be read.
    """
    data = _bytes(name, MOST_OF_TRACE)
    if len(data) > MOST_OF_TRACE:
        message = f"the file is larger than {MOST_OF_TRACE // 1024**2} MiB"
        raise KwokgenError(Problem(Pos(name), "too-large", message, "cut it"))
    return decoded(data, name)


def _text(name: str) -> str:
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else _bytes(name, MOST_BYTES)
    file = "<stdin>" if name == "-" else name
    if len(data) > MOST_BYTES:
        raise KwokgenError(
            Problem(Pos(file), "too-large", f"the file is larger than {MOST_BYTES // 1024} KiB", "is it a blueprint?")
        )
    return decoded(data, file)


def _bytes(name: str, most: int) -> bytes:
    """One byte more than `most`, where there are so many."""
    try:
        with Path(name).open("rb") as handle:
            return handle.read(most + 1)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a file name"
        raise KwokgenError(Problem(Pos(name), "unreadable", f"cannot read the file: {reason.lower()}")) from None
