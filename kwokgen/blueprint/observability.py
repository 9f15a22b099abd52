"""Observability: the instruments of the catalogue, where they are asked for."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import entries
from kwokgen.model.instruments import Instrument, Observability
from kwokgen.model.place import Place


def resolve(scope: Scope, spec: Data, at: Place) -> Observability:
    """What is asked for, with every instrument there is."""
    item, where = spec["observability"], at.below("observability")
    if item["grafana"] and not item["prometheus"] and scope.intact(where):
        message = "the dashboard shows what the rules record, and there are no rules"
        scope.fail(where.pos("grafana"), "observability", message, "write prometheus: true as well")
    if item["labels"] and not item["prometheus"] and scope.intact(where):
        message = "there are no rules or scrapes that could have labels"
        scope.fail(where.key("labels"), "observability", message, "write prometheus: true, or leave them out")
    return Observability(
        prometheus=item["prometheus"],
        grafana=item["grafana"],
        labels=item["labels"],
        instruments=_instruments(scope, where) if item["prometheus"] else (),
        at=where,
    )


def _instruments(scope: Scope, at: Place) -> tuple[Instrument, ...]:
    names = scope.catalog.names("instruments")
    found = (scope.fact("instruments", name, at.pos("prometheus"), "instrument") for name in names)
    return tuple(entries.instrument(fact) for fact in found if fact)
