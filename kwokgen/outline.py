"""What each line of a document says, and where it stands, if kwokgen wrote it: a YAML reader takes much longer."""

from __future__ import annotations

import re
from functools import lru_cache

QUOTED = r'"(?:[^"\\]|\\.)*"'
LINE = re.compile(
    rf"(?P<indent> *)(?P<dashes>(?:- )*)(?:(?P<key>{QUOTED}|[\w/][\w./-]*):(?: |$))?"
    rf"(?P<value>{QUOTED}|[\w./+-]*[\w/]|\{{\}}|\[\]|\|-?|)"
)
"""kwokgen.emit writes no other, apart from those of literal blocks."""


def outline(text: str) -> dict[str, str] | None:
    """Every key and item of a document by its path, with what stands behind it, literal blocks whole.

    None for what kwokgen would have written in another way: only a YAML reader knows what that means.
    """
    made = _Outline()
    taken = all(made.take(line) for line in text.removesuffix("\n").split("\n"))
    return made.found if taken and made.empty is None else None


@lru_cache(maxsize=10_000)
def _parts(line: str) -> tuple[tuple[int, str, str], ...]:
    """The items and the key that a line begins, with their ranks and values; many objects have the same lines."""
    match = LINE.fullmatch(line)
    if match is None:
        return ()
    column, dashes = len(match["indent"]), len(match["dashes"])
    # The items of a list stand below their key, though at the same column.
    parts = [(2 * item + 1, "") for item in range(column, column + dashes, 2)]
    if match["key"] is not None:
        parts.append((2 * (column + dashes), match["key"]))
    return (*((rank, key, "") for rank, key in parts[:-1]), *((rank, key, match["value"]) for rank, key in parts[-1:]))


class _Outline:
    __slots__ = ("above", "empty", "found", "items", "ranks")

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.items: dict[str, int] = {}
        self.ranks: dict[str, int] = {}
        self.above: list[tuple[int, str]] = [(-1, "")]
        self.empty: str | None = ""

    def take(self, line: str) -> bool:
        """Adds a line; False if it is not one of kwokgen's."""
        if self._in_block(line):
            return True
        parts = _parts(line)
        return bool(parts) and all(self._put(*part) for part in parts)

    def _in_block(self, line: str) -> bool:
        rank, path = self.above[-1]
        if not self.found.get(path, "").startswith("|") or (line and not line.startswith(" " * (rank // 2 + 1))):
            return False
        self.found[path] += f"\n{line}"
        return True

    def _put(self, rank: int, key: str, value: str) -> bool:
        while self.above[-1][0] >= rank:
            self.above.pop()
        parent = self.above[-1][1]
        if not key:
            key = f"[{self.items.setdefault(parent, 0)}]"
            self.items[parent] += 1
        path = f"{parent}\n{key}"
        if path in self.found or self.found.get(parent) or self.empty not in {None, parent}:
            return False
        if self.ranks.setdefault(parent, rank) != rank:
            return False
        self.found[path] = value
        self.empty = None if value else path
        self.above.append((rank, path))
        return True
