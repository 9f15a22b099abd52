"""A line on a terminal's stderr while a large bundle is written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from kwokgen.bundle import Bundle, File

FIRST_SECONDS = 0.5
"""A render that is done sooner shows nothing."""


@dataclass(slots=True, eq=False, repr=False)
class _Line:
    """How many bytes have passed; a file that is compared, compared again and written passes three times."""

    name: str
    started: float
    shown: float
    size: int = 0

    def pieces(self, file: File) -> Iterator[bytes]:
        for piece in file.pieces():
            self.size += len(piece)
            now = time.monotonic()
            if now - self.shown > FIRST_SECONDS / 2 and now - self.started > FIRST_SECONDS:
                self.shown = now
                sys.stderr.write(f"\r{self.name}: {self.size / 1e6:,.0f} MB {file.path}\033[K")
                sys.stderr.flush()
            yield piece

    def clear(self) -> None:
        if self.shown > self.started:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def watched(bundle: Bundle) -> tuple[Bundle, Callable[[], None]]:
    """The bundle with its progress shown, and the function that clears the line; as it is without a terminal."""
    if not sys.stderr.isatty():
        return bundle, lambda: None
    now = time.monotonic()
    line = _Line(bundle.name, now, now)
    files = tuple(file._replace(pieces=partial(line.pieces, file)) for file in bundle.files)
    return bundle._replace(files=files), line.clear
