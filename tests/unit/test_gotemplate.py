"""Go templates: what Go itself takes and refuses, in its words; compared with text/template of Go 1.26."""

from __future__ import annotations

import pytest

from kwokgen.gotemplate import Action, parse

FUNCTIONS = frozenset({"Now", "Quote", "and", "eq", "index", "int", "or", "printf"})
RIGHT = [
    "",
    "a: b",
    "{{ .a.b | Quote }}",
    "{{ $now := Now }}a: {{ $now | Quote }}",
    "{{ range .a }}{{ .b }}{{ else }}c{{ end }}",
    "{{ range $i, $a := .a }}{{ $i }}{{ $a.b }}{{ if eq $i 0 }}{{ continue }}{{ end }}{{ break }}{{ end }}",
    "{{ if .a }}{{ else if and .b (or .c .d) }}{{ else }}{{ end }}",
    "{{ with $a := .a }}{{ $a }}{{ else with .b }}{{ . }}{{ end }}",
    '{{ define "a" }}{{ $.b }}{{ end }}{{ template "a" . }}{{ block "b" .c }}{{ end }}',
    '{{- /* a }} comment */ -}}{{/* b */}}a {{- "}}" -}} b',
    '{{ printf "%d \\" }} `" (int .a) }}{{ `raw " }}` }}{{ \'c\' | printf "%c" }}',
    '{{ (index .a 0).b.c }}{{ $.a }}{{ nil | Quote }}{{ eq (int .a) 1 }}{{ eq .a "1" }}',
    "{{ 1.5e3 }}{{ -0x1f }}{{ .5 }}{{- 3 -}}",
    "a: } {\n}}",
    "{{ with index .a 0 }}{{ eq .b 1 }}{{ end }}",
]
WRONG = {
    "{{ .a": (0, "unclosed action"),
    "a {{": (2, "unclosed action"),
    '{{ "a }}': (3, "unterminated quoted string"),
    "{{ `a }}": (3, "unterminated raw quoted string"),
    "{{ 'a }}": (3, "unterminated character constant"),
    "{{/* a }}": (2, "unclosed comment"),
    "{{/* a */ }}": (9, "comment ends before closing delimiter"),
    "{{ }}": (0, "missing value for command"),
    "{{ if }}{{ end }}": (3, "missing value for if"),
    "{{ .a | }}": (6, "missing command for command"),
    "{{ .a | 1 }}": (8, "non executable command in pipeline stage 2"),
    "{{ (Now }}": (3, "unclosed left paren"),
    "{{ Now) }}": (6, "unexpected right paren"),
    "{{ .a-b }}": (5, "bad character '-' after .a"),
    "{{ $a+1 }}": (5, "bad character '+' after $a"),
    "{{ .a..b }}": (5, "unexpected '.' in operand"),
    "{{ .a, .b }}": (5, "unexpected ',' in operand"),
    "{{ .a ; }}": (6, "unexpected ';' in command"),
    "{{ .a if }}": (6, "unexpected <if> in operand"),
    "{{ if .a }}": (3, "unexpected EOF: {{if}} has no end"),
    "{{ range .a }}{{ if .b }}{{ end }}": (3, "unexpected EOF: {{range}} has no end"),
    "{{ end }}": (3, "unexpected {{end}}"),
    "{{ if .a }}{{ end .b }}": (14, "unexpected .b in end"),
    "{{ else }}": (3, "unexpected {{else}}"),
    "{{ if .a }}{{ else }}{{ else }}{{ end }}": (24, "unexpected {{else}}"),
    "{{ if .a }}{{ else with .b }}{{ end }}": (19, "unexpected with in else of if"),
    "{{ break }}": (3, "{{break}} outside {{range}}"),
    "{{ $a }}": (3, 'undefined variable "$a"'),
    "{{ $a = 1 }}": (3, 'undefined variable "$a"'),
    "{{ if .a }}{{ $b := 1 }}{{ end }}{{ $b }}": (36, 'undefined variable "$b"'),
    "{{ if .a }}{{ $b := 1 }}{{ else }}{{ $b }}{{ end }}": (37, 'undefined variable "$b"'),
    '{{ $a := 1 }}{{ define "b" }}{{ $a }}{{ end }}': (32, 'undefined variable "$a"'),
    '{{ if .a }}{{ define "b" }}{{ end }}{{ end }}': (14, "unexpected <define> in command"),
    "{{ template .a }}": (3, "template needs a name in quotes"),
    '{{ template "a" }}': (12, 'template "a" not defined'),
    "{{ eq .a 1 }}": (3, "eq: incompatible types for comparison: a number of the object is no Go number"),
    "{{ .a | nope }}": (8, 'function "nope" not defined'),
}


@pytest.mark.parametrize("text", RIGHT)
def test_what_go_takes(text: str) -> None:
    assert parse(text, FUNCTIONS).mistakes == ()


@pytest.mark.parametrize(("text", "expected"), WRONG.items(), ids=WRONG)
def test_what_go_refuses(text: str, expected: tuple[int, str]) -> None:
    assert [tuple(mistake) for mistake in parse(text, FUNCTIONS).mistakes] == [expected]


def test_every_function_that_is_not_there_is_named() -> None:
    """A mistake of the grammar ends a template, one of its words does not."""
    found = parse("{{ a .b | c }}{{ (d) }}", FUNCTIONS).mistakes
    assert [mistake.message for mistake in found] == [f'function "{name}" not defined' for name in "acd"]


def test_variables_that_are_set_outside() -> None:
    """Those of a profile that is made once a pool."""
    assert parse("{{ range $name, $value := $capacity }}{{ $name }}{{ end }}", FUNCTIONS, ["$capacity"]).mistakes == ()


def test_pieces_are_trimmed_as_they_are_written() -> None:
    assert parse("a \n {{- $b := Now -}} \n c{{/* d */}} {{ $b | Quote }}", FUNCTIONS).pieces == (
        "a",
        Action("", ("$b", ":=", "Now"), "$b"),
        "c",
        "",
        " ",
        Action("", ("$b", "|", "Quote")),
        "",
    )
