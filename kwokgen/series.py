"""Series: a few documents said many times. A shape is built once, its varying leaves are slots, columns fill them in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn

from kwokgen.model.place import Place

Sort = Literal["name", "text", "hex", "int"]
"""How a slot is written: int is bare, all others double-quoted; text is escaped, name and hex need it not."""
Column = Callable[[int], str]
Document = dict[str, Any]


class _Unwritten:
    """A value that only stamping knows; to use it earlier is a mistake of a builder."""

    __slots__ = ()
    __hash__ = object.__hash__

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a slot has no value yet: compute this in the column")

    __str__ = __format__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __mod__ = __rmod__ = __mul__ = __bool__ = __len__ = __iter__ = _refuse


class Slot(_Unwritten):
    """A leaf that differs from row to row, named by its column."""

    __slots__ = ("column", "sort")

    def __init__(self, column: str, sort: Sort = "name") -> None:
        self.column = column
        self.sort = sort


class Join(_Unwritten):
    """A string made of texts and slots, quoted as a whole."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | Slot, ...]) -> None:
        self.parts = parts


class Shape:
    """Documents that are stamped together, and must not be parted: all slices of a node.

    They never change once it is built; `stamp` is what `emit` has made of them, None before.
    """

    __slots__ = ("documents", "stamp")

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self.documents = documents
        self.stamp: Any = None


class Run(NamedTuple):
    """A shape for the rows `first` to `last`, both included."""

    shape: Shape
    first: int
    last: int

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.last - self.first + 1


class Series(NamedTuple):
    """Documents of one sort in the order of their index.

    `file` is the bundle file they stand in, `chunk` how many rows a file takes at most (0: all), `at` the place that asked for
    them, `by` what wrote them, `pool` the pool they belong to. `parts` are files that stand for `file`, each with its last row.
    """

    file: str
    runs: tuple[Run, ...]
    at: Place
    by: str
    columns: Mapping[str, Column] = MappingProxyType({})
    chunk: int = 0
    pool: str | None = None
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(run.rows for run in self.runs)

    @property
    def document_count(self) -> int:
        """How many documents it is."""
        return sum(run.rows * len(run.shape.documents) for run in self.runs)

    def with_runs(self, runs: tuple[Run, ...]) -> Series:
        """The same columns with other shapes."""
        return self._replace(runs=runs)

    def part(self, first: int, last: int) -> Series:
        """The rows of a range."""
        begin = bisect_left(self.runs, first, key=lambda run: run.last)
        end = bisect_right(self.runs, last, key=lambda run: run.first)
        kept = (Run(run.shape, max(run.first, first), min(run.last, last)) for run in self.runs[begin:end])
        return self._replace(runs=tuple(kept))

    def kinds(self) -> Iterator[tuple[str, int]]:
        """Each kind of its documents with its number."""
        for run in self.runs:
            for document in run.shape.documents:
                yield document["kind"], run.rows


def one(document: Document, *, file: str, at: Place, by: str, pool: str | None = None) -> Series:
    """A series of a single object."""
    return Series(file=file, runs=(Run(Shape((document,)), 0, 0),), at=at, by=by, pool=pool)


def filled(value: Any, columns: Mapping[str, Column], index: int) -> Any:
    """A shape's part with the values of one row."""
    if isinstance(value, Slot):
        return int(columns[value.column](index)) if value.sort == "int" else columns[value.column](index)
    if isinstance(value, Join):
        return "".join(part if isinstance(part, str) else columns[part.column](index) for part in value.parts)
    if isinstance(value, dict):
        return {key: filled(below, columns, index) for key, below in value.items()}
    if isinstance(value, list):
        return [filled(below, columns, index) for below in value]
    return value
