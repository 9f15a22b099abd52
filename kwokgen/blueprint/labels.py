"""The labels that the vendor's operator sets on the nodes of a pool: they say what the devices say."""

from __future__ import annotations

from typing import NamedTuple

from kwokgen.blueprint.devices import Whole
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import Fact
from kwokgen.formats import FORMATS, is_label_value
from kwokgen.model.gpu import Agreement
from kwokgen.model.place import Place


class Labelled(NamedTuple):
    """The GPUs that labels tell: a model with its driver, as devices before any is cut."""

    driver: Fact
    model: Fact
    whole: Whole


def agreements(driver: Fact | None) -> tuple[Agreement, ...]:
    """What labels and attributes of a driver's devices both say."""
    entries = driver.data.get("agreements", ()) if driver else ()
    return tuple(Agreement(entry["label"], entry["of"], entry["as"]) for entry in entries)


def operator_labels(scope: Scope, written: Data, at: Place, gpus: Labelled) -> dict[str, str]:
    """What the operator says of the node; attributes written over the model's, partitions and sharing are told as well."""
    own = gpus.driver.data
    counting = {own["countLabel"]: str(gpus.whole.count)} if "countLabel" in own else {}
    done = dict(own.get("labels", {})) | dict(gpus.model.data.get("labels", {})) | counting
    done |= _told(scope, written, at, gpus, done)
    sharing = written.get("sharing", {})
    if "replicas" in sharing:
        ways = own.get("sharing", {}).get(sharing["by"], {}).get("labels", {})
        _owned(scope, gpus.model, {label for label, value in ways.items() if "{own}" in value} - done.keys())
        done |= {key: value.format(own=done.get(key), replicas=sharing["replicas"]) for key, value in ways.items()}
    return done | _of_layout(written, gpus)


def _owned(scope: Scope, model: Fact, missing: set[str]) -> None:
    """Notes labels that sharing makes others of, and that neither the driver nor the model has."""
    for label in sorted(missing):
        message = f'"{model.name}" has no label {label}, of which its sharing makes another'
        scope.fail(model.at.pos("labels"), "catalog", message, "add it to the model's labels")


def _told(scope: Scope, written: Data, at: Place, gpus: Labelled, labels: dict[str, str]) -> dict[str, str]:
    """The labels that follow from what is written over the model."""
    done: dict[str, str] = {}
    refused: set[str] = set()
    for each in agreements(gpus.driver):
        section = next((key for key in ("attributes", "capacity") if each.of in written.get(key, ())), None)
        if section is None or each.label not in labels or each.of in refused:
            continue
        told = each.told(gpus.whole.device(0))
        if wrong := _wrong(each, told, written[section][each.of], labels[each.label]):
            refused.add(each.of)
            scope.fail(at.pos(section, each.of), "gpus", *wrong)
        elif told is not None:
            done[each.label] = told
    return done


def _wrong(each: Agreement, told: str | None, value: object, label: str) -> tuple[str, str] | None:
    """What keeps a label from saying what an attribute says, and a hint."""
    if told is None and each.read(str(value)) != label:
        sort = "a version" if each.of_version else "text"
        message = f'the label {each.label} would be "{label}" beside this {each.of}, which is not {sort}'
        return message, "write {version: 1.2.3}" if each.of_version else "write it in quotes"
    if told is not None and not is_label_value(told):
        form = FORMATS["label-value"]
        return f'the label {each.label} would be "{told}", which is not {form.what}: {form.allowed}', ""
    return None


def _of_layout(written: Data, gpus: Labelled) -> dict[str, str]:
    done: dict[str, str] = {}
    ways = gpus.driver.data.get("partitions", {}).get("labels", {})
    for profile, number in written.get("partitions", {}).get("layout", {}).items():
        values = {"profile": profile.replace("+", "."), "count": number * gpus.whole.count}
        done |= {key.format(**values): value.format(**values) for key, value in ways.items()}
    return done
