"""Rules of labels and annotations that the API server has and the JSON Schemas have not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen.formats import FORMATS, is_key, is_label_value
from kwokgen.jobrules import Finding

MOST_ANNOTATIONS = 262_144


def findings(meta: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the labels and annotations of an object, or of a pod template, at a path below `metadata`."""
    for found in _labels(meta.get("labels", {})):
        yield found._replace(path=("labels", *found.path))
    for found in _annotations(meta.get("annotations", {})):
        yield found._replace(path=("annotations", *found.path))


def _labels(labels: Mapping[str, str]) -> Iterator[Finding]:
    for key, value in labels.items():
        if not is_key(key):
            yield Finding((key,), f'"{key}" is not {FORMATS["label-key"].what}: {FORMATS["label-key"].allowed}')
        if not is_label_value(value):
            form = FORMATS["label-value"]
            yield Finding((key,), f'"{value}" is not {form.what}: {form.allowed}')


def _annotations(annotations: Mapping[str, str]) -> Iterator[Finding]:
    for key in annotations:
        if not is_key(key):
            yield Finding((key,), f'"{key}" is not the key of an annotation: {FORMATS["label-key"].allowed}')
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        yield Finding((), f"{size} bytes of annotations, an object may have {MOST_ANNOTATIONS}")
