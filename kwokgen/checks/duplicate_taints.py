"""Taints: a node has each key and effect once."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.taint import FAKE_TAINT
from kwokgen.problem import Problem

ID = "duplicate-taint"
SUMMARY = "A node has one taint of a key and an effect"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Taints that the API server refuses because another one has their key and effect."""
    for pool in cluster.pools:
        yield from _twice(pool)


def _twice(pool: Pool) -> Iterator[Problem]:
    own = pool.taints != pool.own_taints
    seen = {(FAKE_TAINT.key, FAKE_TAINT.effect)} if own else set()
    for index, taint in enumerate(pool.own_taints):
        key = (taint.key, taint.effect)
        if key in seen:
            fake = own and key == (FAKE_TAINT.key, FAKE_TAINT.effect)
            hint = "kwokgen writes it by itself: leave it out, or say fakeTaint: false" if fake else "keep one of them"
            yield Problem(
                pool.at.pos("taints", index), ID, f"the taint {taint.key}:{taint.effect} is there twice", hint
            )
        seen.add(key)
