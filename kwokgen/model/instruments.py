"""Instruments: what is recorded of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from kwokgen.model.place import Place


class Rule(NamedTuple):
    """A series `record` that the PromQL `expr` makes; `unit` is Grafana's word, `legend` the label that tells lines apart."""

    record: str
    title: str
    unit: str
    legend: str | None
    labels: Mapping[str, str]
    expr: str


class Instrument(NamedTuple):
    """Rules over the metrics of one program.

    `systems` are the forms of queue systems that have it, None for all; `of` is which of KWOK's own metrics it reads; `scrapes`
    what the cluster's Prometheus must scrape for it, empty where the bundle sees to that.
    """

    name: str
    systems: frozenset[str] | None
    of: Literal["pods", "gpus"] | None
    scrapes: str
    rules: tuple[Rule, ...]


class Observability(NamedTuple):
    """What is asked for; `labels` are those by which a Prometheus chooses, `instruments` all of the catalogue."""

    prometheus: bool
    grafana: bool
    labels: Mapping[str, str]
    instruments: tuple[Instrument, ...]
    at: Place
