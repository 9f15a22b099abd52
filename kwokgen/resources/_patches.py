"""Lines of JSON patches in the words of a Go template, which KWOK reads as YAML."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps

from kwokgen.emit import quoted
from kwokgen.model.taint import Taint


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


def _same(name: str, taint: Taint) -> str:
    """In the words of a Go template, whether a value is the taint."""
    return f"and (eq {name}.key {dumps(taint.key)}) (eq {name}.effect {dumps(taint.effect)})"


def tainted(taint: Taint, held: str, path: str, value: str) -> Iterator[str]:
    """Adds a taint, as `value`, to the list `held` that stands at `path`, or sets its value there; all others stay."""
    yield "{{ $found := false }}"
    yield f"{{{{ range $index, $taint := {held} }}}}"
    yield f"{{{{ if {_same('$taint', taint)} }}}}{{{{ $found = true }}}}"
    yield f'{{{{ if ne (or $taint.value "") {dumps(taint.value or "")} }}}}'
    yield f"- {{op: replace, path: {path}/{{{{ $index }}}}, value: {value}}}"
    yield from ("{{ end }}", "{{ end }}", "{{ end }}")
    yield f"{{{{ if not {held} }}}}"
    yield f"- {{op: add, path: {path}, value: []}}"
    yield "{{ end }}"
    yield "{{ if not $found }}"
    yield f"- {{op: add, path: {path}/-, value: {value}}}"
    yield "{{ end }}"


def without(taint: Taint, held: str) -> Iterator[str]:
    """Takes a taint out of what a template has of a device, and no other."""
    yield "{{ $left := list }}"
    yield f"{{{{ range {held}.taints }}}}"
    yield f"{{{{ if not ({_same('', taint)}) }}}}{{{{ $left = append $left . }}}}{{{{ end }}}}"
    yield "{{ end }}"
    yield f'{{{{ $_ := set {held} "taints" $left }}}}'


def untainted(taint: Taint, held: str, path: str) -> Iterator[str]:
    """Takes a taint away from the list `held` that stands at `path`, and no other."""
    at = f"{path}/{{{{ $index }}}}"
    yield f"{{{{ range $index, $taint := {held} }}}}"
    yield f"{{{{ if {_same('$taint', taint)} }}}}"
    yield f"- {{op: test, path: {at}/key, value: {dumps(taint.key)}}}"
    yield f"- {{op: remove, path: {at}}}"
    yield from ("{{ end }}", "{{ end }}")
