"""Schemas of ours beside the definitions of others: where ours says something else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kwokgen import schemas

KUBERNETES = "urn:kubernetes:"


def unlike(name: str, definition: Path, version: str) -> list[str]:
    """Each field of our schema that is none of a CustomResourceDefinition's, or of another type, or need not be there though it must."""
    from ruamel.yaml import YAML

    versions = YAML(typ="safe", pure=True).load(definition)["spec"]["versions"]
    (theirs,) = [each["schema"]["openAPIV3Schema"] for each in versions if each["name"] == version]
    ours = schemas.load(name)
    return list(_unlike(ours, theirs, "", ours.get("$defs", {})))


def _unlike(ours: dict[str, Any], theirs: dict[str, Any], where: str, named: dict[str, Any]) -> Iterator[str]:
    # What is Kubernetes' own is held against that.
    if ours.get("$ref", "").startswith(KUBERNETES):
        return
    ours = named[ours["$ref"].removeprefix("#/$defs/")] if "$ref" in ours else ours
    if ours.get("type", "of any") not in (theirs.get("type"), ["string", "integer"], "of any"):
        yield where
    if "enum" in theirs and set(ours.get("enum", ())) != set(theirs["enum"]):
        yield f"{where}: enum"
    if set(theirs.get("required", ())) - set(ours.get("required", ())):
        yield f"{where}: required"
    for key, below in ours.get("properties", {}).items():
        own = theirs.get("properties", {}).get(key, theirs.get("additionalProperties"))
        if isinstance(own, dict):
            yield from _unlike(below, own, f"{where}.{key}", named)
        else:
            yield f"{where}.{key}"
    if "items" in ours:
        yield from _unlike(ours["items"], theirs["items"], f"{where}[]", named)
