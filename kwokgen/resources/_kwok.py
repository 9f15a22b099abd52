"""KWOK's configuration: which nodes a controller plays, how, and in which order it hands out addresses."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from kwokgen import emit
from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import INSTANCE, SHARD
from kwokgen.resources import _usage
from kwokgen.resources._stages import stages
from kwokgen.series import Document

PORT = 10247
CONTROLLER = "kwokgen.io/controller"
"""The label of a controller's pods."""
FIRST_POD_NETWORK = 64
"""Shard n hands out pod addresses of 10.(64+n).0.0/16: a pool of addresses is a process's own, so that two controllers
of one network give addresses twice. Nodes have theirs in 10.128.0.0/9."""


def name(cluster: Cluster, shard: int) -> str:
    """The first keeps its name when others join it."""
    return f"kwok-{cluster.name}" + (f"-{shard}" if shard else "")


def configuration(cluster: Cluster, shard: int) -> str:
    """The file of one controller; Stages are in it unless they are objects of the cluster."""
    return _text([_options(cluster, shard, _selector(cluster, shard))], cluster, shard)


def kwokctl(cluster: Cluster) -> str:
    """The file for `kwokctl create cluster`, which makes its controller manage all nodes and fail on a selector."""
    return _text([_options(cluster, 0, "")], cluster, 0)


def _text(documents: list[Document], cluster: Cluster, shard: int) -> str:
    inside: Iterable[Document] = () if cluster.controller.crd else stages(cluster, shard)
    return "".join(emit.dump(document) for document in (*documents, *_usage.documents(cluster), *inside))


def _options(cluster: Cluster, shard: int, selector: str) -> Document:
    large = ceil(cluster.nodes / cluster.controller.shards) > 1_000
    options: dict[str, Any] = {
        "cidr": f"10.{FIRST_POD_NETWORK + shard}.0.0/16",
        # An API server that does not stream lists refuses KWOK's wish to, once a node, and KWOK logs an error each time.
        "enablePodsOnNodeSyncListPager": not cluster.kubernetes.watch_list,
        "enablePodsOnNodeSyncStreamWatch": cluster.kubernetes.watch_list,
        "nodeLeaseDurationSeconds": cluster.controller.lease_seconds,
        "nodeLeaseParallelism": 16 if large else 4,
        "nodePlayStageParallelism": 8 if large else 4,
        "nodePort": PORT,
        "podPlayStageParallelism": 16 if large else 4,
        # KWOK 0.8 ends when one of the four is missing.
        "podsOnNodeSyncParallelism": 4,
    }
    if cluster.controller.crd:
        options["enableCRDs"] = ["Stage"]
    if selector:
        options |= {"manageAllNodes": False, "manageNodesWithLabelSelector": selector}
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "metadata": {"name": name(cluster, shard)},
        "options": options,
    }


def _selector(cluster: Cluster, shard: int) -> str:
    own = f"{INSTANCE}={cluster.name}"
    if cluster.controller.shards == 1:
        return own
    return f"{own},{SHARD} in ({','.join(cluster.controller.shard_values(shard))})"
