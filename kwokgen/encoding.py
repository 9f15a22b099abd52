"""Bytes of a file to text."""

from __future__ import annotations

from kwokgen.problem import KwokgenError, Pos, Problem


def decoded(data: bytes, file: str) -> str:
    """The text of a file; a byte order mark is left out.

    Raises KwokgenError at the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise KwokgenError(Problem(Pos(file, line, column), "encoding", message, "save the file as UTF-8")) from None
