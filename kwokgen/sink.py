"""The folder that a bundle goes to: owned, and whole at every moment."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from kwokgen.bundle import Bundle, File
from kwokgen.ownership import STAGING, reason, refuse, stale
from kwokgen.problem import EnvironmentFailure


class Written(NamedTuple):
    """What a render did to a folder: paths below it."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def to_folder(bundle: Bundle, folder: Path) -> Written:
    """Makes the folder hold this bundle and no other; files that are right already are not touched.

    Raises KwokgenError when something in the folder is not ours, EnvironmentFailure when it cannot be written; then
    every file is as it was.
    """
    refuse(bundle, folder)
    try:
        return _replace(bundle, folder)
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {error.filename or folder}: {reason(error)}") from error


def _replace(bundle: Bundle, folder: Path) -> Written:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / STAGING).exists() and _is_right(bundle, folder):
        return Written((), (), len(bundle.files))
    with _staging(folder) as staging:
        # While this one waited for another render, everything may have become different.
        refuse(bundle, folder)
        changed, old = tuple(_changed(bundle, folder)), tuple(stale(bundle, folder))
        _stage(changed, staging)
        _move(changed, staging, folder)
        _remove(old, staging, folder)
    return Written(tuple(file.path for file in changed), old, len(bundle.files) - len(changed))


def _is_right(bundle: Bundle, folder: Path) -> bool:
    """Whether nothing is to be done: then nothing is touched, not even for a lock."""
    return not any(_changed(bundle, folder)) and not any(stale(bundle, folder))


def _changed(bundle: Bundle, folder: Path) -> Iterator[File]:
    return (file for file in bundle.files if not _same(folder / file.path, file.pieces()))


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
        _tidy(staging, folder)
        for left in staging.iterdir():
            if left.name != "lock":
                shutil.rmtree(left)
        yield staging
    finally:
        _tidy(staging, folder)
        shutil.rmtree(staging, ignore_errors=True)
        os.close(lock)


def _tidy(staging: Path, folder: Path) -> None:
    """Takes away the sub-folders that this render, or one that was killed, has made or emptied and left empty."""
    for below in staging.glob("*/*/"):
        with suppress(OSError):
            (folder / below.name).rmdir()


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


def _remove(old: Iterable[str], staging: Path, folder: Path) -> None:
    for path in old:
        # Says to `_tidy`, also after a kill, which sub-folder may be empty.
        (staging / "old" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).unlink(missing_ok=True)
