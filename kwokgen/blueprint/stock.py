"""Stock: how many devices of each class the nodes of a pool have, and what they are counted as."""

from __future__ import annotations

import re

from kwokgen.celselects import selects
from kwokgen.model import quota
from kwokgen.model.claim import DeviceClass
from kwokgen.model.device import Device
from kwokgen.model.pool import Pool

OF_DRIVER = r"""\s*device\.driver *== *(['"])([^'"]+)\1\s*"""
Chosen = list[tuple[Device, bool | None]]
"""Devices that are, or None may be, of a class."""


def stock(classes: tuple[DeviceClass, ...], pools: tuple[Pool, ...]) -> quota.Stock:
    """The devices of every class, which its selectors select, or may."""
    derived = _derived(pools)
    chosen = {entry.name: {pool.name: _chosen(entry, pool, derived) for pool in pools} for entry in classes}
    return quota.Stock(
        devices={name: {pool: len(found) for pool, found in each.items()} for name, each in chosen.items()},
        resources={entry.resource: entry.name for entry in classes if entry.resource},
        unsure=frozenset(
            name for name, each in chosen.items() if any(sure is None for found in each.values() for _, sure in found)
        ),
    )


def _derived(pools: tuple[Pool, ...]) -> set[str]:
    """The classes that follow from devices."""
    return {offer.name for pool in pools for devices in pool.published for offer in devices.offers}


def _chosen(entry: DeviceClass, pool: Pool, derived: set[str]) -> Chosen:
    if entry.name in derived and not entry.at.node.child("selectors"):
        return [(device, True) for devices in pool.published for device in devices.offered(entry.name)]
    found = [
        (device, _selected(entry, devices.driver, device)) for devices in pool.published for device in devices.devices
    ]
    return [(device, sure) for device, sure in found if sure is not False]


def _selected(entry: DeviceClass, driver: str, device: Device) -> bool | None:
    """Whether all selectors select a device; those of a class that the cluster has are not known."""
    if not entry.selectors:
        return None
    answers = [_selects(text, driver, device) for text in entry.selectors]
    return False if False in answers else None if None in answers else True


def _selects(text: str, driver: str, device: Device) -> bool | None:
    if only := re.fullmatch(OF_DRIVER, text):
        return only[2] == driver
    return selects(text, driver, device)


def counted(entry: DeviceClass, pools: tuple[Pool, ...], there: quota.Stock) -> str:
    """A class of one's own that is all GPUs of a driver, or all its devices, is counted as the driver's GPUs are."""
    own = quota.of_class(entry.name)
    if entry.name in _derived(pools):
        return own
    only = re.fullmatch(OF_DRIVER, entry.selectors[0]) if len(entry.selectors) == 1 else None
    for pool in pools:
        resource = quota.gpus(pool)
        if resource and pool.slices and pool.gpus and entry.name not in there.unsure:
            whole = there.class_of(resource) or ""
            same = there.devices.get(whole) == there.devices.get(entry.name)
            if same or (only and only[2] == pool.gpus.devices.driver):
                return resource
    return own
