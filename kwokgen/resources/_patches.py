"""Lines of JSON patches in the words of a Go template, which KWOK reads as YAML."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps

from kwokgen.emit import quoted
from kwokgen.model.taint import Taint
from kwokgen.resources._common import taint as written


def text(value: str) -> str:
    """A string in quotes, which the template leaves as it is."""
    return quoted(value).replace("{{", '{{ "{{" }}')


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def added(path: str, value: str) -> str:
    """Sets a string."""
    return f"- {{op: add, path: {path}, value: {text(value)}}}"


def present(taint: Taint) -> str:
    """In jq, whether an entry of a list is the taint."""
    return f".key == {dumps(taint.key)} and .effect == {dumps(taint.effect)}"


def same(name: str, taint: Taint) -> str:
    """In the words of a Go template, whether a value is the taint."""
    return f"and (eq {name}.key {dumps(taint.key)}) (eq {name}.effect {dumps(taint.effect)})"


def without(taint: Taint) -> Iterator[str]:
    """Adds a taint to a node that has it not, and leaves all others alone."""
    yield "{{ $found := false }}"
    yield "{{ range .spec.taints }}"
    yield f"{{{{ if {same('', taint)} }}}}{{{{ $found = true }}}}{{{{ end }}}}"
    yield "{{ end }}"
    yield "{{ if not .spec.taints }}"
    yield "- {op: add, path: /spec/taints, value: []}"
    yield "{{ end }}"
    yield "{{ if not $found }}"
    yield f"- {{op: add, path: /spec/taints/-, value: {dumps(written(taint))}}}"
    yield "{{ end }}"


def dropped(taint: Taint) -> Iterator[str]:
    """Takes a taint away from a node, and no other."""
    yield "{{ range $index, $taint := .spec.taints }}"
    yield f"{{{{ if {same('$taint', taint)} }}}}"
    yield f"- {{op: test, path: /spec/taints/{{{{ $index }}}}/key, value: {dumps(taint.key)}}}"
    yield "- {op: remove, path: /spec/taints/{{ $index }}}"
    yield from ("{{ end }}", "{{ end }}")
