"""Rules of one Stage by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kwokgen import gotemplate
from kwokgen.gotemplate import Action, Template
from kwokgen.problem import Severity
from kwokgen.stagelint._filling import filled, read, repeated

Path = tuple[str | int, ...]
Lists = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
REPLACED: Lists = {
    "Node": {
        "spec": {"taints": ("taints",)},
        "status": {"images": ("images",), "volumesInUse": ("volumesInUse",), "volumesAttached": ("volumesAttached",)},
    },
    "Pod": {
        "status": {
            "containerStatuses": ("containers", "containerStatuses"),
            "initContainerStatuses": ("initContainers", "initContainerStatuses"),
        }
    },
}
"""Lists that a strategic patch replaces whole, and what a template goes through that writes all of one.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/api/core/v1/types.go: no patchMergeKey.
"""
MERGED: Lists = {
    "Node": {"status": {"conditions": ("conditions", "NodeConditions"), "addresses": ("addresses",)}},
    "Pod": {"status": {"conditions": ("conditions",)}},
}
"""Those that a strategic patch merges, and every other sort of patch replaces whole as well."""
APPLIED = "apply"
"""What a template is for that makes another object."""


class Finding(NamedTuple):
    """What is wrong below a Stage's `spec`; `offset` is where in a template."""

    path: Path
    message: str
    hint: str = ""
    severity: Severity = "error"
    offset: int | None = None


class Patch(NamedTuple):
    """A template of a Stage, and what becomes of what it makes; a `sort` of "" is strategic for nodes and pods."""

    path: Path
    text: str
    root: str = "status"
    sort: str = ""
    subresource: str = "status"


def patches(spec: Mapping[str, Any]) -> Iterator[Patch]:
    """Every patch that KWOK makes of a Stage."""
    action = spec.get("next", {})
    for index, patch in enumerate(action.get("patches", ())):
        yield _patch(("next", "patches", index), patch)
    if "statusTemplate" in action and not action.get("patches"):
        yield Patch(("next", "statusTemplate"), action["statusTemplate"])
    for index, step in enumerate(spec.get("steps", ())):
        if "patch" in step:
            yield _patch(("steps", index, "patch"), step["patch"])
        if "apply" in step:
            yield Patch(("steps", index, "apply", "template"), step["apply"].get("template", ""), "", APPLIED, "")


def _patch(path: Path, patch: Mapping[str, str]) -> Patch:
    words = (patch.get(word, "") for word in ("template", "root", "type", "subresource"))
    return Patch((*path, "template"), *words)


def findings(
    kind: str, spec: Mapping[str, Any], functions: frozenset[str], variables: tuple[str, ...]
) -> list[Finding]:
    """What is wrong with a Stage whatever object it plays."""
    found = [*_ignored(spec), *_delay(spec.get("delay", {}))]
    for patch in patches(spec):
        found += _unwritten(patch) if kind in REPLACED else ()
        found += _template(kind, patch, gotemplate.parse(patch.text, functions, variables))
    return found


def _ignored(spec: Mapping[str, Any]) -> Iterator[Finding]:
    action = spec.get("next", {})
    if action.get("patches") and "statusTemplate" in action:
        message = "KWOK ignores a statusTemplate beside patches, and says nothing"
        yield Finding(("next", "statusTemplate"), message, "write it as a patch: root: status, subresource: status")
    if "{{" in action.get("event", {}).get("message", ""):
        message = "an event's message is no template: KWOK sends the braces as they are"
        yield Finding(("next", "event", "message"), message, "write a text that holds for every object", "warning")


def _delay(delay: Mapping[str, Any]) -> Iterator[Finding]:
    path: Path = ("delay", "jitterDurationMilliseconds")
    if "jitterDurationMilliseconds" not in delay or "jitterDurationFrom" in delay:
        return
    if "durationFrom" in delay:
        message = "a spread beside a moment: where the moment is further off than it, KWOK takes the spread instead"
        yield Finding(path, message, "a moment has no spread: leave one of the two out")
    elif delay["jitterDurationMilliseconds"] < delay.get("durationMilliseconds", 0):
        message = f"a jitter below the delay of {delay['durationMilliseconds']} ms: KWOK takes the jitter instead"
        yield Finding(path, message, "jitterDurationMilliseconds is the longest that the delay may be")


def _unwritten(patch: Patch) -> Iterator[Finding]:
    """The API server takes the status of nodes and pods from their subresource only, and from it nothing else."""
    path = patch.path[:-1]
    if patch.root == "status" and patch.subresource != "status":
        message = "the API server drops a status that is not written to the subresource status, and says nothing"
        yield Finding((*path, "root"), message, "add subresource: status")
    if patch.root == "spec" and patch.subresource == "status":
        message = "the subresource status takes no spec: the API server drops it, and says nothing"
        yield Finding((*path, "subresource"), message, "leave the subresource out")


def _template(kind: str, patch: Patch, template: Template) -> Iterator[Finding]:
    for mistake in template.mistakes:
        message = f"the template fails: {mistake.message}"
        yield Finding(patch.path, message, _remedy(mistake.message), offset=mistake.offset)
    if not template.mistakes:
        yield from _made(kind, patch, template)


def _remedy(message: str) -> str:
    if "comparison" in message:
        return "write int before the field: (int .a)"
    if "bad character '-'" in message:
        return 'a key with a "-" is read by index: (index .metadata.labels "a-b")'
    return "KWOK logs it for each object, drops the Stage, and does not try again"


def _made(kind: str, patch: Patch, template: Template) -> Iterator[Finding]:
    text = filled(template)
    if not text.lines or not text.text:
        return
    if key := repeated(template):
        message = f"{key} is written anew for each item: of the same key KWOK takes the last, and says nothing"
        yield Finding(patch.path, message, f"write {key}: once, before the range")
    value, wrong = read(text.text)
    if wrong:
        # With another way through its branches it may be YAML.
        severity: Severity = "error" if text.straight else "warning"
        same = text.text.count("\n") == patch.text.count("\n", _begin(patch.text), len(patch.text.rstrip()))
        offset = _of_line(patch.text, wrong.line) if same else None
        message = f"what the template makes is {wrong.message}"
        yield Finding(patch.path, message, "put texts in quotes, or | Quote", severity, offset)
    wanted, form = (list, "list") if patch.sort == "json" else (dict, "mapping")
    if value is not None and not isinstance(value, wanted):
        sort = f"a patch of the type {patch.sort}" if patch.sort else "a patch"
        yield Finding(
            patch.path,
            f"{sort} is a {form}, and the template makes none",
            "KWOK logs it for each object, and drops the Stage",
        )
    elif isinstance(value, dict) and patch.sort != APPLIED:
        yield from _lists(kind, patch, template, value)


def _begin(text: str) -> int:
    return len(text) - len(text.lstrip())


def _of_line(text: str, number: int) -> int:
    """Where a line begins of what KWOK has of a text, which is without the space around it."""
    lines = text[_begin(text) :].splitlines(keepends=True)
    return _begin(text) + sum(map(len, lines[: number - 1]))


def _lists(kind: str, patch: Patch, template: Template, value: Mapping[str, Any]) -> Iterator[Finding]:
    under = {patch.root: value} if patch.root else value
    for known in [REPLACED, *([MERGED] if patch.sort == "merge" else [])]:
        for root, lists in known.get(kind, {}).items():
            for name, sources in lists.items():
                written = (under.get(root) or {}) if isinstance(under.get(root), Mapping) else {}
                if name in written and not _goes_through(template, sources):
                    yield _replaced(patch, name)


def _goes_through(template: Template, sources: tuple[str, ...]) -> bool:
    """Whether a template repeats something for each item of one of the lists, or writes of the list as a whole."""
    taking = (piece for piece in template.pieces if isinstance(piece, Action) and piece.keyword in {"", "range"})
    return any(word.lstrip(".") in sources for piece in taking for word in piece.words)


def _replaced(patch: Patch, name: str) -> Finding:
    sort = patch.sort or "strategic"
    message = f"a {sort} patch replaces the whole list {name}: what else stands in it is gone"
    if name == "taints":
        hint = "add one by type: json: {op: add, path: /taints/-, value: …} after {op: add, path: /taints, value: []}"
        return Finding(patch.path, message, f"{hint} where there are none")
    if sort == "merge":
        return Finding(patch.path, message, "type: strategic merges it by its key")
    return Finding(patch.path, message, "write every one of them: range .spec.containers", "warning")
