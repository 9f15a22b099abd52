"""Whose the files of a folder are: a bundle's by their first line, or in the way of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from kwokgen.bundle import MARK, Bundle
from kwokgen.problem import KwokgenError, Pos, Problem

STAGING = ".kwokgen"
"""Where files are written before they are moved to their places."""
MANIFESTS = (".yaml", ".yml", ".json")
"""What `kubectl apply -f DIR` reads."""


def refuse(bundle: Bundle, folder: Path) -> None:
    """Raises KwokgenError for everything that stands in the way of a render, all named."""
    _raised(folder, _obstacles(bundle, folder))


def owned(bundle: Bundle, folder: Path) -> dict[str, Path]:
    """The files of the folder that belong to the bundle, by their path below it.

    Raises KwokgenError when it is not a folder, cannot be read, or holds what a render would refuse.
    """
    _raised(folder, _foreign(bundle, folder) if folder.is_dir() else _absent(folder))
    return {path: folder / path for path, owner in _owners(folder) if owner == bundle.name}


def stale(bundle: Bundle, folder: Path) -> Iterator[str]:
    """The files that belong to the bundle and are no longer of it."""
    kept = {file.path for file in bundle.files}
    yield from (path for path, owner in _owners(folder) if owner == bundle.name and path not in kept)


def reason(error: OSError) -> str:
    """What the system says, as a part of a sentence."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def _raised(folder: Path, problems: Iterable[Problem]) -> None:
    try:
        found = tuple(problems)
    except OSError as error:
        found = (Problem(Pos(str(error.filename or folder)), "folder", f"cannot read the folder: {reason(error)}"),)
    if found:
        raise KwokgenError(*found)


def _absent(folder: Path) -> Iterator[Problem]:
    message = "is a file, not a folder" if folder.exists() else "there is no such folder"
    yield Problem(Pos(str(folder)), "folder", message, "render it first: kwokgen render -o")


def _obstacles(bundle: Bundle, folder: Path) -> Iterator[Problem]:
    if not folder.is_dir():
        if folder.exists() or folder.is_symlink():
            message = "is a file, not a folder" if folder.exists() else "is a link to nothing"
            yield Problem(Pos(str(folder)), "folder", message, "name a folder with -o")
        else:
            yield from _unwritable(folder)
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Problem(Pos(str(folder)), "folder", "the folder is not writable")
        return
    if (folder / STAGING).is_symlink() or ((folder / STAGING).exists() and not (folder / STAGING).is_dir()):
        yield Problem(Pos(str(folder / STAGING)), "folder", f"{STAGING} is not a folder of kwokgen's", "move it away")
    yield from _foreign(bundle, folder)


def _unwritable(folder: Path) -> Iterator[Problem]:
    parent = folder.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        yield Problem(Pos(str(folder)), "folder", f"{parent} is a file, not a folder")
    elif not os.access(parent, os.W_OK | os.X_OK):
        yield Problem(Pos(str(folder)), "folder", f"the folder {parent} is not writable")


def _foreign(bundle: Bundle, folder: Path) -> Iterator[Problem]:
    needed = {file.path for file in bundle.files}
    parents = {path.rpartition("/")[0] for path in needed}
    for path, owner in _owners(folder):
        pos, own_folder = Pos(str(folder / path)), _is_own_folder(folder / path)
        if path in parents and not own_folder:
            yield Problem(
                pos, "folder", "is not a folder, and the bundle has files in one of this name", "move it away"
            )
        elif owner is not None and owner != bundle.name and (path in needed or "/" not in path):
            hint = "choose another folder, or delete that bundle's files"
            yield Problem(pos, "folder", f'belongs to the bundle "{owner}", this one is "{bundle.name}"', hint)
        elif owner == bundle.name and path not in needed and path.endswith("/README.md"):
            whole = str((folder / path).parent)
            message = (
                "holds the whole bundle, as a render of several wrote it: one into the folder above would remove it"
            )
            yield Problem(Pos(whole), "folder", message, f"write -o {whole}, or delete it")
        elif owner is None and path in needed:
            yield Problem(pos, "folder", "is not kwokgen's, and the bundle has a file of this name", "move it away")
        elif owner is None and not own_folder and "/" not in path and path.endswith(MANIFESTS):
            yield Problem(pos, "folder", "is not kwokgen's, and kubectl would apply it with the bundle", "move it away")


def _is_own_folder(path: Path) -> bool:
    """Whether it is a folder and no link to one, below which files of somebody else may lie."""
    return path.is_dir() and not path.is_symlink()


def _owners(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Every entry with the bundle it belongs to; without those that another render takes away meanwhile."""
    for path in _entries(folder):
        with suppress(FileNotFoundError):
            yield path, _owner(folder / path)


def _entries(folder: Path) -> Iterator[str]:
    """What is in the folder and its sub-folders one level down, which is as deep as a bundle goes; no dot-files."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        yield entry.name
        if _is_own_folder(entry):
            with suppress(FileNotFoundError):
                yield from (f"{entry.name}/{below.name}" for below in sorted(entry.iterdir()))


def _owner(path: Path) -> str | None:
    """The bundle that a file belongs to; None if it is not a bundle's, or something whose reading might never end."""
    if not path.is_file():
        path.lstat()
        return None
    with path.open("rb") as handle:
        first = handle.readline(256)
    return first[len(MARK) :].decode(errors="replace").strip() if first.startswith(MARK.encode()) else None
