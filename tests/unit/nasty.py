"""Strings that one YAML reader or another takes for something else."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = "y n yes no on off true false null ~ none nan inf Y N Yes NO On OFF True FALSE Null NULL = << <<x -- - ? : _ __"
NUMBERS = (
    "0 1 -1 +1 01 08 017 0o17 0o8 0x1F 0xg 0b11 1_000 1.0 1. .5 -.5 1e3 1E3 1e+3 1.5e-7 12e4 81111e1 1e999 .inf -.Inf"
    " .NaN 12:30:45 190:20:30 0000:43:00.0 2024-01-01 2024-01-01T00:00:00Z 1.30 1.2.3 10.0.0.1 18446744073709551616"
)
MARKS = (
    "--- ... # #a &a *a !a !!str | > |- %a @a `a { } [ ] , ' \" \\ \\n {{.a}} [[a]] {a} [a] a:b a#b"
    " kwokgenslot0q0x kwokgenslot0q kwokgenslot1q7x kwokgen-template-slot-0 /a a/b a.b A-b -a .a a- 😀 é 日本"
)
SPACED = (
    "",
    " ",
    "  ",
    " a",
    "a ",
    "a b",
    "a: b",
    "a #b",
    "- a",
    "? a",
    "--- a",
    "a --- b",
    "!!str a",
    "& a",
    "x" * 5000,
)
UNICODE = (
    "\u00a0",
    "\u00ad",
    "\u2028",
    "\u2029",
    "a\u2028b",
    "\ufeff",
    "a\ufeffb",
    "\ufffd",
    "\U0001f600" * 3,
    "\U0010fffd",
)
LINES = (
    "a\nb",
    "a\nb\n",
    "\n",
    "a\n",
    "\na",
    "ab\n\n",
    "ab\n\ncd\n",
    " a\nb",
    "a \nb",
    "a\n b",
    "ab\n  \ncd",
    "ab \n",
    "ab\n---\ncd",
    "ab\n...\ncd",
    "# kwokgen bundle: x\nab",
    "- a\n- b",
    "a: |\n  b\n",
    "{{ $x := 1 }}\n{{ end }}\n",
    "kwokgenslot0q0x\nkwokgenslot1q0x",
    "a\u2028\nb",
    "word " * 400 + "\nx",
)
PRINTED = (*WORDS.split(), *NUMBERS.split(), *MARKS.split(), *SPACED, *UNICODE, *LINES)
CONTROLS = tuple(
    text.replace("@", control)
    for control in (
        "\0",
        "\x07",
        "\t",
        "\r",
        "\x1b",
        "\x1f",
        "\x7f",
        "\x80",
        "\x85",
        "\x9f",
        "\ufffe",
        "\uffff",
        "\r\n",
    )
    for text in ("@", "a@b", " @", "ab\nc@d", "ab\ncd\n ")
)
CONTROLLED_LINES = ("\x07a\nb", "ab\nc\x7f", "\0\nb", "\ufeffa\nb", "\x9fa\nb", "a\nb\uffff")
"""Texts of lines with a control character at an end."""


def strings(*categories: str) -> st.SearchStrategy[str]:
    """Nasty strings, whole, joined, and drawn from all of Unicode but surrogates and `categories`."""
    listed = st.sampled_from(PRINTED if categories else (*PRINTED, *CONTROLS, *CONTROLLED_LINES))
    alphabet = st.characters(exclude_categories=["Cs", *categories])
    drawn = st.text(st.one_of(alphabet, st.sampled_from("\n :#-x")) if categories else alphabet, max_size=20)
    return st.one_of(listed, drawn, st.lists(listed, max_size=3).map("".join))


def documents(texts: st.SearchStrategy[str], leaves: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[Any]:
    """Mappings as JSON has them, with these texts as keys and values, and more leaves."""
    numbers = st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from([0.5, -1.25, 1000.0, 3.125]))
    every = st.one_of(texts, numbers, *([] if leaves is None else [leaves]))
    short = texts.map(lambda text: text[:300])
    below = st.recursive(
        every,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(short, inner, max_size=4)),
        max_leaves=12,
    )
    return st.dictionaries(short, below, min_size=1, max_size=4)
