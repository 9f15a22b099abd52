"""The CustomResourceDefinition of Stages, which the cluster must have before it takes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen import schemas
from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.series import Series, one

KIND = "CustomResourceDefinition"
IMMUTABLE = (("spec", "scope"), ("spec", "names"))


def build(cluster: Cluster) -> Iterator[Series]:
    """The CRD, with `stages: crd`; an existing controller brought its own."""
    if cluster.controller.crd and cluster.controller.run != "existing":
        group = "kwok.x-k8s.io"
        document = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": KIND,
            "metadata": metadata(cluster, f"stages.{group}"),
            "spec": {
                "group": group,
                "names": {"kind": "Stage", "listKind": "StageList", "plural": "stages", "singular": "stage"},
                "scope": "Cluster",
                "versions": [_version()],
            },
        }
        yield one(document, file="05-crds.yaml", at=cluster.controller.at, by=__name__)


def _version() -> dict[str, Any]:
    properties = schemas.load("kwok/stage")["properties"]
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _structural(properties["spec"]),
            "status": status,
        },
    }
    return {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }


def _structural(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON Schema in the words that a CRD takes."""
    done = {key: value for key, value in schema.items() if key not in ("deprecated", "properties", "items")}
    if done.get("additionalProperties") is False:
        del done["additionalProperties"]
    if "properties" in schema:
        done["properties"] = {name: _structural(below) for name, below in schema["properties"].items()}
    if "items" in schema:
        done["items"] = _structural(schema["items"])
    return done
