"""Writes what is derived from the catalogue: `make generate`; `make verify` fails when it was forgotten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kwokgen import catalog as facts
from kwokgen import templating
from kwokgen.catalog import KINDS, Catalog

ROOT = Path(__file__).parents[1]
NAMES = ROOT / "schemas" / "names.schema.json"
COMPILED = ROOT / "kwokgen" / "catalog" / facts.COMPILED


def names_schema() -> dict[str, object]:
    """The blueprint's schema with the catalogue's names as enums, so that editors complete them."""
    catalog = Catalog()
    definitions = {
        kind.replace("/", "-"): {"description": f"A name of catalog/{kind}.", "enum": list(catalog.names(kind))}
        for kind in KINDS
        if catalog.names(kind)
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://kwokgen.io/schemas/names.schema.json",
        "$comment": "Generated from kwokgen/catalog by make generate; add a catalogue file instead of editing this.",
        "title": "kwokgen blueprint with the names of the built-in catalogue",
        "allOf": [{"$ref": "blueprint.schema.json"}],
        "properties": {"spec": _object(SPEC)},
        "$defs": definitions,
    }


SPEC = {
    "kubernetes": "kubernetes",
    "controller": {"version": "kwok"},
    "lifecycles": [{"nodes": "stages-node", "pods": "stages-pod"}],
    "pools": [{"machine": "machines", "gpus": {"model": "gpus"}, "detectors": ["detectors"]}],
    "topology": {"schemes": ["topologies"]},
    "faults": [{"fault": "faults", "then": [{"fault": "faults"}]}],
    "claims": [{"requests": [{"model": "gpus"}]}],
    "queues": {"system": "systems"},
    "workloads": [{"kind": "workloads"}],
}
"""Where a blueprint names an entry of the catalogue."""


def _object(part: object) -> dict[str, object]:
    if isinstance(part, dict):
        return {"properties": {key: _object(below) for key, below in part.items()}}
    if isinstance(part, list):
        return {"items": _object(part[0])}
    # A machine may be written out instead of named.
    return {"if": {"type": "string"}, "then": {"$ref": f"#/$defs/{part}"}}


def _entry(kind: str, name: str) -> dict[str, object]:
    data: dict[str, Any] = Catalog().whole(kind, facts.builtin_node(kind, name)).plain()
    template: dict[str, object] = {}
    if "template" in data:
        text = data["template"]
        forms = templating.forms(text, data["parameters"], f"{kind}/{name}")
        template = {"conditions": templating.conditions(text), "forms": forms}
    return {"digest": facts.digest(kind, name, data), "data": data, "compiled": template}


def compiled() -> dict[str, object]:
    """Every built-in entry as data, so that a start reads no YAML of the catalogue."""
    return {f"{kind}/{name}": _entry(kind, name) for kind in KINDS for name in Catalog().names(kind)}


def main() -> None:
    """Writes every derived file."""
    NAMES.write_text(json.dumps(names_schema(), indent=2) + "\n", encoding="utf-8")
    # A line an entry keeps the difference of an edit small.
    lines = (f"{json.dumps(key)}: {json.dumps(entry, ensure_ascii=False)}" for key, entry in compiled().items())
    COMPILED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
