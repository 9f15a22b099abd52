"""NodeResourceTopologies: what each NUMA node of a node has, for schedulers that keep pods within one."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Numa
from kwokgen.resources import node
from kwokgen.resources._common import metadata
from kwokgen.series import Document, Run, Series, Shape

KIND = "NodeResourceTopology"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()
VERSION = "topology.node.k8s.io/v1alpha2"
"""https://github.com/k8stopologyawareschedwg/noderesourcetopology-api/blob/v0.1.2/pkg/apis/topology/v1alpha2/types.go ."""


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each node of the pools with a policy, named as the node."""
    for pool in cluster.pools:
        if pool.numa:
            yield Series(
                file=f"45-numa-{pool.name}.yaml",
                runs=(Run(Shape((_document(cluster, pool.numa),)), 0, pool.count - 1),),
                at=pool.at,
                by=__name__,
                columns={"name": node.columns(pool)["name"]},
                chunk=node.NODES_A_FILE,
                pool=pool.name,
            )


def _document(cluster: Cluster, numa: Numa) -> Document:
    """Its attributes are those that the plugin of scheduler-plugins reads: pkg/noderesourcetopology/nodeconfig."""
    said = {"topologyManagerPolicy": numa.policy, "topologyManagerScope": numa.scope}
    return {
        "apiVersion": VERSION,
        "kind": KIND,
        "metadata": metadata(cluster, node.NAME),
        "attributes": [{"name": name, "value": value} for name, value in said.items()],
        "zones": [
            {
                "name": f"node-{index}",
                "type": "Node",
                "resources": [
                    {"name": name, "capacity": has, "allocatable": free, "available": free}
                    for name, (has, free) in zone.items()
                ],
            }
            for index, zone in enumerate(numa.zones)
        ],
    }
