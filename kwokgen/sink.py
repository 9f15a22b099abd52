"""Where bundles go: a stream, or a folder that is owned, and whole at every moment."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kwokgen.bundle import MARK, Bundle, File
from kwokgen.problem import EnvironmentFailure, KwokgenError, Pos, Problem

STAGING = ".kwokgen"
MANIFESTS = (".yaml", ".yml", ".json")
"""What `kubectl apply -f DIR` reads."""


class Written(NamedTuple):
    """What a render did to a folder: paths below it."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def to_stream(pieces: Iterable[bytes], stream: BinaryIO) -> None:
    """Everything that `kubectl apply -f -` reads.

    Raises BrokenPipeError when the reader is gone, EnvironmentFailure for any other failure.
    """
    try:
        stream.writelines(pieces)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EnvironmentFailure(f"cannot write to standard output: {_reason(error)}") from error


def to_folder(bundle: Bundle, folder: Path) -> Written:
    """Makes the folder hold this bundle and no other; files that are right already are not touched.

    Raises KwokgenError when something in the folder is not ours, EnvironmentFailure when it cannot be written; then
    every file is as it was.
    """
    refuse(bundle, folder)
    try:
        return _replace(bundle, folder)
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {error.filename or folder}: {_reason(error)}") from error


def owned(bundle: Bundle, folder: Path) -> dict[str, Path]:
    """The files of the folder that belong to the bundle, by their path below it.

    Raises KwokgenError when it is not a folder, or cannot be read.
    """
    try:
        if not folder.is_dir():
            reason = "is a file, not a folder" if folder.exists() else "there is no such folder"
            raise KwokgenError(Problem(Pos(str(folder)), "folder", reason, "render it first: kwokgen render -o"))
        return {path: folder / path for path in _entries(folder) if _owner(folder / path) == bundle.name}
    except OSError as error:
        raise KwokgenError(Problem(Pos(str(error.filename or folder)), "folder", _reason(error))) from None


def _reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)


def _replace(bundle: Bundle, folder: Path) -> Written:
    folder.mkdir(parents=True, exist_ok=True)
    changed = tuple(file for file in bundle.files if not _same(folder / file.path, file.pieces()))
    stale = tuple(_stale(bundle, folder))
    if changed or stale or (folder / STAGING).exists():
        with _staging(folder) as staging:
            _stage(changed, staging)
            _move(changed, staging, folder)
            _remove(stale, folder)
    unchanged = len(bundle.files) - len(changed)
    return Written(tuple(file.path for file in changed), stale, unchanged)


def _same(path: Path, pieces: Iterator[bytes]) -> bool:
    try:
        with path.open("rb", buffering=0) as old:
            return all(_read(old, len(piece)) == piece for piece in pieces) and not old.read(1)
    except FileNotFoundError:
        return False


def _read(stream: FileIO, size: int) -> bytes:
    """Exactly `size` bytes, or what is left: an unbuffered read may give less."""
    parts = []
    while size and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """An empty folder for new files, this process's alone, gone afterwards."""
    staging = folder / STAGING
    lock = _locked(staging)
    try:
        for left in staging.iterdir():
            if left.name != "lock":
                shutil.rmtree(left)
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        os.close(lock)


def _locked(staging: Path) -> int:
    while True:
        staging.mkdir(exist_ok=True)
        try:
            handle = os.open(staging / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        except FileNotFoundError:
            continue
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _still(staging / "lock", handle):
            return handle
        # The render before this one has ended and taken its lock file away.
        os.close(handle)


def _still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _stage(files: Iterable[File], staging: Path) -> None:
    for file in files:
        path = staging / "new" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=0) as new:
            for piece in file.pieces():
                _write(new, piece)


def _write(stream: FileIO, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[stream.write(view) :]


def _move(files: Iterable[File], staging: Path, folder: Path) -> None:
    for file in files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        (staging / "new" / file.path).replace(target)


def _remove(stale: Iterable[str], folder: Path) -> None:
    for path in stale:
        (folder / path).unlink(missing_ok=True)
        parent = (folder / path).parent
        if parent != folder and not any(parent.iterdir()):
            parent.rmdir()


def _stale(bundle: Bundle, folder: Path) -> Iterator[str]:
    kept = {file.path for file in bundle.files}
    for path in _entries(folder):
        if path not in kept and _owner(folder / path) == bundle.name:
            yield path


def _entries(folder: Path) -> Iterator[str]:
    """Files of the folder and of its sub-folders one level down, which is as deep as a bundle goes; no dot-files."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from (f"{entry.name}/{below.name}" for below in sorted(entry.iterdir()) if not below.is_dir())
        elif not entry.is_dir():
            yield entry.name


def _owner(path: Path) -> str | None:
    """The bundle that a file belongs to; None if it is not a bundle's."""
    with path.open("rb") as handle:
        first = handle.readline(256)
    return first[len(MARK) :].decode(errors="replace").strip() if first.startswith(MARK.encode()) else None


def refuse(bundle: Bundle, folder: Path) -> None:
    """Raises KwokgenError for everything that stands in the way, all named."""
    try:
        problems = tuple(_obstacles(bundle, folder))
    except OSError as error:
        problems = (Problem(Pos(str(error.filename or folder)), "folder", f"cannot read the folder: {_reason(error)}"),)
    if problems:
        raise KwokgenError(*problems)


def _obstacles(bundle: Bundle, folder: Path) -> Iterator[Problem]:
    if not folder.is_dir():
        if folder.exists() or folder.is_symlink():
            yield Problem(Pos(str(folder)), "folder", "is a file, not a folder", "name a folder with -o")
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
    for path in _entries(folder):
        owner = _owner(folder / path)
        pos = Pos(str(folder / path))
        if owner is not None and owner != bundle.name and (path in needed or "/" not in path):
            hint = "choose another folder, or delete that bundle's files"
            yield Problem(pos, "folder", f'belongs to the bundle "{owner}", this one is "{bundle.name}"', hint)
        elif owner is None and path in needed:
            yield Problem(pos, "folder", "is not kwokgen's, and the bundle has a file of this name", "move it away")
        elif owner is None and "/" not in path and path.endswith(MANIFESTS):
            yield Problem(pos, "folder", "is not kwokgen's, and kubectl would apply it with the bundle", "move it away")
