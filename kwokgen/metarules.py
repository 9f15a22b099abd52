"""Rules of an object's metadata that the API server has and the JSON Schemas have not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kwokgen.formats import FORMATS, is_key, is_label_value
from kwokgen.jobrules import Finding, at

MOST_ANNOTATIONS = 262_144
OWNER = ("apiVersion", "kind", "name", "uid")
DELETION = ("foregroundDeletion", "orphan")
"""Finalizers that say what becomes of what an object owns, of which it has one."""
STANDARD = (*DELETION, "kubernetes")
"""Finalizers without a domain."""


def findings(meta: Mapping[str, Any], *, domains: bool) -> Iterator[Finding]:
    """What is wrong with the metadata of an object, or of a pod template, at a path below it.

    Kubernetes' own kinds ask for `domains` of finalizers:
    https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidateObjectMeta.
    """
    yield from at(("labels",), label_findings(meta.get("labels", {})))
    yield from at(("annotations",), _annotations(meta.get("annotations", {})))
    yield from at(("finalizers",), _finalizers(meta.get("finalizers", ()), domains=domains))


def label_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    """What is wrong with the keys and values of labels."""
    for key, value in labels.items():
        if not is_key(key):
            yield Finding((key,), f'"{key}" is not {FORMATS["label-key"].what}: {FORMATS["label-key"].allowed}')
        if not is_label_value(value):
            form = FORMATS["label-value"]
            yield Finding((key,), f'"{value}" is not {form.what}: {form.allowed}')


def owner_findings(owners: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """What is wrong with the owners of an object; those of a pod template nobody reads.

    https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences.
    """
    for index, owner in enumerate(owners):
        for key in OWNER:
            if not owner[key]:
                yield Finding((index, key), f"the {key} of an owner is not empty")
        version = owner["apiVersion"]
        if version.count("/") > 1 or version.endswith("/"):
            yield Finding((index, "apiVersion"), f'"{version}" is not a version, or a group/version')
        if (version, owner["kind"]) == ("v1", "Event"):
            yield Finding((index,), "an Event owns nothing")
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        yield Finding((), "two owners are its controller, an object has one", "write controller: true once")


def _annotations(annotations: Mapping[str, str]) -> Iterator[Finding]:
    for key in annotations:
        if not is_key(key):
            yield Finding((key,), f'"{key}" is not the key of an annotation: {FORMATS["label-key"].allowed}')
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        yield Finding((), f"{size} bytes of annotations, an object may have {MOST_ANNOTATIONS}")


def _finalizers(names: Sequence[str], *, domains: bool) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateFinalizers."""
    for index, name in enumerate(names):
        if not is_key(name):
            yield Finding((index,), f'"{name}" is not the name of a finalizer: {FORMATS["label-key"].allowed}')
        elif domains and "/" not in name and name not in STANDARD:
            yield Finding((index,), f'the finalizer "{name}" has no domain', f'write "example.com/{name}"')
    if set(DELETION) <= set(names):
        yield Finding((), f"an object has one of {' and '.join(DELETION)}", "leave one out")
