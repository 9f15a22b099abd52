"""Writes what is derived from the catalogue: `make generate`; `make verify` fails when it was forgotten."""

from __future__ import annotations

import json
from pathlib import Path

from kwokgen.catalog import KINDS, Catalog

FILE = Path(__file__).parents[1] / "schemas" / "names.schema.json"


def names_schema() -> dict[str, object]:
    """The catalogue's names as enums, so that editors complete them."""
    catalog = Catalog()
    definitions = {
        kind.replace("/", "-"): {"description": f"A name of catalog/{kind}.", "enum": list(catalog.names(kind))}
        for kind in KINDS
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://kwokgen.io/schemas/names.schema.json",
        "$comment": "Generated from kwokgen/catalog by make generate; add a catalogue file instead of editing this.",
        "title": "Names of the catalogue",
        "$defs": definitions,
    }


def main() -> None:
    """Writes every derived file."""
    FILE.write_text(json.dumps(names_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
