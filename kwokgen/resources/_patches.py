"""Lines of JSON patches in the words of a Go template, which KWOK reads as YAML."""

from __future__ import annotations

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


def without(taint: Taint) -> list[str]:
    """Adds a taint to a node that has it not, and leaves all others alone."""
    return [
        "{{ $found := false }}",
        "{{ range .spec.taints }}",
        f"{{{{ if and (eq .key {dumps(taint.key)}) (eq .effect {dumps(taint.effect)}) }}}}{{{{ $found = true }}}}{{{{ end }}}}",
        "{{ end }}",
        "{{ if not .spec.taints }}",
        "- {op: add, path: /spec/taints, value: []}",
        "{{ end }}",
        "{{ if not $found }}",
        f"- {{op: add, path: /spec/taints/-, value: {dumps(written(taint))}}}",
        "{{ end }}",
    ]


def removed(taint: Taint) -> list[str]:
    """Takes a taint away, and no other."""
    return [
        "{{ range $index, $taint := .spec.taints }}",
        f"{{{{ if and (eq $taint.key {dumps(taint.key)}) (eq $taint.effect {dumps(taint.effect)}) }}}}",
        f"- {{op: test, path: /spec/taints/{{{{ $index }}}}/key, value: {dumps(taint.key)}}}",
        "- {op: remove, path: /spec/taints/{{ $index }}}",
        "{{ end }}",
        "{{ end }}",
    ]
