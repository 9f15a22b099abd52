"""Names of devices: DNS labels, with the last index."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.formats import FORMATS, is_label
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "device-name"
SUMMARY = "Names of devices are DNS labels"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Pools whose devices cannot have their names."""
    for pool in cluster.pools:
        if pool.gpus and pool.slices and not is_label(pool.gpus.device(pool.gpus.count - 1)):
            name, form = pool.gpus.device(pool.gpus.count - 1), FORMATS["dns-label"]
            pos = pool.at.pos("gpus", "deviceName")
            yield Problem(pos, ID, f'the device name "{name}" is not {form.what}: {form.allowed}')
