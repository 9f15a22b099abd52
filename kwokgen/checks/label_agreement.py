"""Labels of the GPU operator and the kubelet: they say of a node what its slices and its status say."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.gpu import Agreement, Gpus
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem

ID = "label-agreement"
SUMMARY = "Node labels of the vendor and the kubelet say the same as devices and machines"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Labels of the blueprint's own that say another thing than the devices; the operator's follow from them."""
    for pool in cluster.pools:
        yield from _of_kubelet(pool)
        if pool.gpus and pool.slices and pool.gpus.devices.devices:
            for agreement in pool.gpus.agreements:
                yield from _held(pool, pool.gpus, agreement)


def _of_kubelet(pool: Pool) -> Iterator[Problem]:
    for key, own in (("kubernetes.io/arch", pool.machine.arch), ("kubernetes.io/os", "linux")):
        if (label := pool.labels.get(key, own)) != own:
            hint = "leave out the label, or write arch on the pool" if key.endswith("arch") else "leave out the label"
            yield Problem(pool.at.pos("labels", key), ID, f'the label {key} is "{label}", its nodes have "{own}"', hint)


def _held(pool: Pool, gpus: Gpus, agreement: Agreement) -> Iterator[Problem]:
    label = pool.labels.get(agreement.label)
    told = agreement.told(gpus.devices.devices[0])
    # A label's driver version has a zero that a semantic version has not.
    if label is None or told is None or label in {told, told.rjust(2, "0")} or agreement.said == "version":
        return
    pos = pool.at.pos("labels", agreement.label)
    message = f'the label {agreement.label} is "{label}", by the devices\' {agreement.of} it would be "{told}"'
    yield Problem(pos, ID, message, "leave out the label")
