"""Where blueprints are read: a file or standard input in, its tree out."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path, PurePath

from kwokgen import tree
from kwokgen.blueprint import assignments
from kwokgen.encoding import decoded
from kwokgen.model.place import Node
from kwokgen.problem import KwokgenError, Pos, Problem

MOST_BYTES, MOST_OF_TRACE = 2 * 1024 * 1024, 16 * 1024 * 1024


def read(name: str) -> Node:
    """The tree of a file, or of standard input for "-".

    Raises KwokgenError when it cannot be read or is not one YAML document.
    """
    return tree.parse(_text(name), "<stdin>" if name == "-" else name)


def trace(name: str, beside: str) -> str:
    """The text of a trace of jobs that the file `beside` names; one that a `--set` names may stand anywhere.

    Raises KwokgenError when it cannot be read, or when the name leads out of the folder.
    """
    folder = Path(beside).parent
    path = str(folder / name)
    if not assignments.is_argument(beside) and (way := _way_out(name, folder)):
        hint = "a trace stands beside the file that names it, or in a folder below: such as jobs.csv"
        raise KwokgenError(Problem(Pos(path), "unreadable", way, hint))
    data = _bytes(path, MOST_OF_TRACE, regular=True)
    if len(data) > MOST_OF_TRACE:
        message = f"the file is larger than {MOST_OF_TRACE // 1024**2} MiB"
        raise KwokgenError(Problem(Pos(path), "too-large", message, "cut it"))
    return decoded(data, path)


def _way_out(name: str, folder: Path) -> str:
    """How a name leads out of a folder: the blueprint may be a stranger's, and messages show what stands in a trace."""
    if Path(name).is_absolute():
        return "the path is absolute"
    if PurePath(os.path.normpath(name)).parts[:1] == ("..",):
        return "the path leads out of the folder"
    # What the system takes for no name is refused when it is opened.
    inside = Path(os.path.realpath(folder / name.replace("\0", ""))).is_relative_to(os.path.realpath(folder))
    return "" if inside else "a link on the way leads out of the folder"


def _text(name: str) -> str:
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else _bytes(name, MOST_BYTES)
    file = "<stdin>" if name == "-" else name
    if len(data) > MOST_BYTES:
        raise KwokgenError(
            Problem(Pos(file), "too-large", f"the file is larger than {MOST_BYTES // 1024} KiB", "is it a blueprint?")
        )
    return decoded(data, file)


def _bytes(name: str, most: int, *, regular: bool = False) -> bytes:
    """One byte more than `most`, where there are so many."""
    try:
        with open(name, "rb", opener=_at_once) as handle:
            mode = os.fstat(handle.fileno()).st_mode
            if regular and not stat.S_ISREG(mode):
                raise _unreadable(name, "not a regular file")
            os.set_blocking(handle.fileno(), True)
            data = handle.read(most + 1)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a file name"
        raise _unreadable(name, reason.lower()) from None
    if stat.S_ISFIFO(mode) and not data:
        raise _unreadable(name, "nobody writes to the pipe")
    return data


def _at_once(name: str, flags: int) -> int:
    """Opens a file; for the writer of a pipe that has none it would wait without an end."""
    return os.open(name, flags | os.O_NONBLOCK)


def _unreadable(name: str, reason: str) -> KwokgenError:
    return KwokgenError(Problem(Pos(name), "unreadable", f"cannot read the file: {reason}"))
