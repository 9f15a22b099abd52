"""The words of a Go template: texts, and what stands between braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = "[ \t\r\n]"
_BEGIN = re.compile(rf"\{{\{{(?P<trim>-(?={_SPACE}))?")
_END = re.compile(rf"{_SPACE}*(?P<trim>(?<={_SPACE})-)?\}}\}}")
_END_OF_COMMENT = re.compile(rf"(?P<trim>{_SPACE}-)?\}}\}}")
_SPACES = re.compile(rf"{_SPACE}*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\[^\n])*"|`[^`]*`)|(?P<char>'(?:[^'\\\n]|\\[^\n])*')|(?P<set>:?=)|(?P<pipe>\|)
    |(?P<open>\()|(?P<close>\))|(?P<comma>,)|(?P<variable>\$\w*)|(?P<field>\.[^\W\d]\w*)
    |(?P<number>[+-]?(?:0[xXoObB][0-9a-fA-F_]+|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+)i?(?!\w))|(?P<dot>\.)|(?P<word>\w+)""",
    re.VERBOSE,
)
_NAMES = {"variable", "field", "word"}
_FOLLOWING = re.compile(rf"{_SPACE}|[.,|:)(]|\}}\}}|\Z")
_UNCLOSED = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
}


class Token(NamedTuple):
    """A word, the sort of word it is, and where in the text it stands."""

    sort: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        """Where the next may stand."""
        return self.offset + len(self.text)


class TemplateError(Exception):
    """What ends a template: the rest of it cannot be understood."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset, self.message = offset, message


class Braces(NamedTuple):
    """The words between two pairs of braces; none of a comment."""

    offset: int
    tokens: tuple[Token, ...]
    comment: bool = False


def pieces(text: str) -> Iterator[str | Braces]:
    """Texts, trimmed as the braces beside them say, and what stands in braces, in order.

    Raises TemplateError where a word begins that is none.
    """
    here = 0
    while begin := _BEGIN.search(text, here):
        before = text[here : begin.start()]
        yield before.rstrip(" \t\r\n") if begin["trim"] else before
        tokens, end = _inside(text, begin)
        yield Braces(begin.start(), tuple(tokens or ()), tokens is None)
        here = _after_spaces(text, end.end()) if end["trim"] else end.end()
    yield text[here:]


def _inside(text: str, begin: re.Match[str]) -> tuple[list[Token] | None, re.Match[str]]:
    """The words up to the closing braces; None of a comment."""
    comment = _COMMENT.match(text, begin.end() + bool(begin["trim"]))
    if comment:
        end = _END_OF_COMMENT.match(text, comment.end())
        if end is None:
            raise TemplateError(comment.end(), "comment ends before closing delimiter")
        return None, end
    here, tokens = begin.end(), []
    while not (end := _END.match(text, here)):
        here = _after_spaces(text, here)
        tokens.append(_token(text, here, begin.start()))
        here = tokens[-1].end
    return tokens, end


def _token(text: str, here: int, begin: int) -> Token:
    if here == len(text):
        raise TemplateError(begin, "unclosed action")
    found = _TOKEN.match(text, here)
    if not found or not found.lastgroup:
        unclosed = "unclosed comment" if text.startswith("/*", here) else f"unexpected {text[here]!r} in command"
        raise TemplateError(here, _UNCLOSED.get(text[here], unclosed))
    if found.lastgroup in _NAMES and not _FOLLOWING.match(text, found.end()):
        raise TemplateError(found.end(), f"bad character {text[found.end()]!r} after {found[0]}")
    return Token(found.lastgroup, found[0], here)


def _after_spaces(text: str, here: int) -> int:
    found = _SPACES.match(text, here)
    return found.end() if found else here
