"""Names of devices: DNS labels, each once in a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwokgen.formats import FORMATS, is_label
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "device-name"
SUMMARY = "Names of devices are DNS labels, each once in a pool"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Devices that cannot have their names."""
    for devices in cluster.published:
        pos, names = devices.at.pos("deviceName"), Counter(device.name for device in devices.devices)
        if wrong := [name for name in names if not is_label(name)]:
            form = FORMATS["dns-label"]
            yield Problem(pos, ID, f'the device name "{wrong[-1]}" is not {form.what}: {form.allowed}')
        if twice := [name for name, number in names.items() if number > 1]:
            yield Problem(pos, ID, f'two devices are named "{twice[0]}"')
