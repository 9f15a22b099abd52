"""Faults and detectors of the catalogue: what they say of each other, and what the tables of their sources say."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokgen import schemas
from kwokgen.catalog import KINDS, Catalog, builtin_node
from kwokgen.conform import conform
from tests.unit.rendering import ROOT, rendered

NAMES = {kind: Catalog().names(kind) for kind in ("faults", "detectors")}
FAULTS: dict[str, dict[str, Any]] = {name: builtin_node("faults", name).plain() for name in NAMES["faults"]}
DETECTORS: dict[str, dict[str, Any]] = {name: builtin_node("detectors", name).plain() for name in NAMES["detectors"]}
XIDS = {int(name.removeprefix("xid-")): entry for name, entry in FAULTS.items() if name.startswith("xid-")}
TABLES = ROOT.parent / "shared" / "facts"


def table(name: str) -> Iterator[list[str]]:
    """The rows of a table of facts beside the project; without it the test is skipped."""
    file = TABLES / name
    if not file.exists():
        pytest.skip(f"there is no {name}")
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.reader(lines)


def turned() -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Every condition that a fault turns: fault, detector, type, words of its own."""
    for name, entry in FAULTS.items():
        for detector, types in entry["effects"].get("conditions", {}).items():
            for type_, words in types.items():
                yield name, detector, type_, words


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_an_entry_conforms_to_its_schema(kind: str, name: str) -> None:
    assert conform(builtin_node(kind, name), schemas.load(f"catalog/{KINDS[kind]}"), "catalog") == ()


def test_a_condition_that_a_fault_turns_is_one_of_its_detector() -> None:
    known = {(detector, type_) for detector, entry in DETECTORS.items() for type_ in entry["conditions"]}
    assert [each[:3] for each in turned() if each[1:3] not in known] == []


NEVER = {
    ("nvsentinel", "GpuXidError"): "older releases' name of SysLogsXIDError",
    ("nvsentinel", "InfiniBandDegradationCheck"): "not fatal: an event",
    ("nvsentinel", "EthernetDegradationCheck"): "not fatal: an event",
    ("eks-node-monitoring-agent", "StorageReady"): "all of its reasons are events",
    ("kubelet", "KwokgenFault"): "goes with Ready",
}


def test_a_condition_of_a_detector_is_turned_by_a_fault() -> None:
    """Or nobody could see it turn."""
    known = {(detector, type_) for detector, entry in DETECTORS.items() for type_ in entry["conditions"]}
    assert known - {each[1:3] for each in turned()} | {("kubelet", "KwokgenFault")} == NEVER.keys()


def test_words_of_ones_own_leave_no_place_unfilled() -> None:
    """Only $gpu is filled in, and only where there is one."""
    for name, entry in FAULTS.items():
        effects = entry["effects"]
        texts = [words.get("message", "") for fault, _, _, words in turned() if fault == name]
        texts.append(effects.get("event", {}).get("message", ""))
        filled = {found for text in texts for found in re.findall(r"\$\w*|<\w+>", text)}
        assert filled <= ({"$gpu"} if entry["of"] == "gpu" else set()), name


MEANS: dict[str, set[str]] = {
    "taint NoExecute": {"node", "pods"},
    "taint NoSchedule": {"node"},
    "taint PreferNoSchedule": set(),
    "cordon": {"node"},
    "deviceTaint NoExecute": {"gpu", "pods"},
    "deviceTaint NoSchedule": {"gpu"},
    "deviceTaint None": set(),
    # Taints of the node lifecycle controller:
    # https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready
    "kubelet Ready": {"node", "pods"},
    "kubelet MemoryPressure": {"node"},
    "kubelet DiskPressure": {"node"},
    "kubelet PIDPressure": {"node"},
    "kubelet NetworkUnavailable": {"node"},
    "kubelet KwokgenFault": set(),
    "gone": {"node", "pods"},
}
"""What is not as before, for each thing that can be seen of a fault."""


def signs(entry: dict[str, Any]) -> Iterator[str]:
    """What of MEANS a fault has by default."""
    effects = {key: value for key, value in entry["effects"].items() if key not in entry.get("optional", ())}
    yield from (f"{key} {effects[key]['effect']}" for key in ("taint", "deviceTaint") if key in effects)
    yield from (f"kubelet {type_}" for type_ in effects.get("conditions", {}).get("kubelet", ()))
    yield from (key for key in ("cordon", "gone") if effects.get(key))


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_test_is_to_expect_follows_from_the_effects(name: str) -> None:
    entry = FAULTS[name]
    changed = {key for key, value in entry["expect"].items() if value in {"avoided", "evicted"}}
    assert changed == {each for sign in signs(entry) for each in MEANS[sign]}
    assert entry["expect"].keys() == {"node", "pods"} | ({"gpu"} if entry["of"] == "gpu" else set())
    assert set(entry.get("optional", ())) <= entry["effects"].keys()
    assert entry["of"] == "gpu" or not {"deviceTaint", "allocatable"} & entry["effects"].keys()


APPLICATION = {13, 31, 43, 45, 68, 109}
"""What the device plugin and the DRA driver leave a GPU healthy with: https://github.com/NVIDIA/k8s-dra-driver-gpu"""


def test_xids_that_leave_a_gpu_healthy() -> None:
    """Are a taint to read; all others keep pods and claims away."""
    for code, entry in XIDS.items():
        effects = entry["effects"]
        effect = "None" if code in APPLICATION else "NoSchedule"
        assert effects["deviceTaint"] == {"key": "gpu.nvidia.com/xid", "value": str(code), "effect": effect}, code
        assert effects.get("allocatable") == (None if code in APPLICATION else 1), code
        assert not {"deviceTaint", "allocatable"} & set(entry.get("optional", ()))


EKS_FATAL = {46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158}
"""https://github.com/aws/eks-node-monitoring-agent, WellKnownXidCodes"""


def test_xids_that_eks_holds_for_fatal() -> None:
    """Turn its condition; the rest are events there."""
    reasons = {
        name: words.get("reason")
        for name, detector, _, words in turned()
        if detector == "eks-node-monitoring-agent" and name.startswith("xid-")
    }
    assert reasons == {f"xid-{code}": f"NvidiaXID{code}Error" for code in EKS_FATAL}


def test_faults_that_nvsentinel_holds_for_fatal_can_keep_pods_off_the_node() -> None:
    """By wish: what is done about a condition is the cluster's own rule. The cloud's maintenance always does."""
    for name in {each[0] for each in turned() if each[1] == "nvsentinel"} - {"csp-maintenance"}:
        entry = FAULTS[name]
        assert entry["effects"]["taint"] == {"key": "nvidia.com/gpu-error", "value": "fatal", "effect": "NoSchedule"}
        assert entry["effects"]["cordon"] is True
        assert {"taint", "cordon"} <= set(entry["optional"]), name


MODELS = {"Ampere": "a100-sxm4-40gb", "Hopper": "h100-sxm5-80gb", "Blackwell": "b200"}


@pytest.mark.slow
def test_every_fault_can_be_used(tmp_path: Path) -> None:
    """On GPUs that it happens to, from birth on devices and by hand on a resource, with every detector; who is gone has no birth."""
    watching = ", ".join(name for name, entry in DETECTORS.items() if not entry.get("born"))
    more = f"count: {len(FAULTS)}, machine: {{cpu: 8}}, detectors: [{watching}]"
    pools, faults = [], []
    for expose, start in (("dra", ""), ("extended-resource", ", start: {manual: true}")):
        for name, model in MODELS.items():
            gpus = f"gpus: {{model: {model}, count: 2}}, expose: {expose}"
            pools.append(f"- {{name: {name.lower()}-{expose}, {more}, {gpus}}}")
        for node, (name, entry) in enumerate(FAULTS.items()):
            on = f"{{pool: {entry.get('architectures', ['Hopper'])[-1].lower()}-{expose}, nodes: [{node}]}}"
            if start or "gone" not in entry["effects"]:
                faults.append(f"- {{name: {expose[:1]}-{name}, fault: {name}, where: {on}{start}}}")
    # As objects: so many Stages are too long for a ConfigMap of kubectl apply.
    spec = ["controller: {stages: crd}", "pools:", *pools, "faults:", *faults]
    assert rendered(tmp_path, "\n".join(spec)).warnings == ()


NO_ENTRY = {
    37: "a driver's error without a consequence",
    38: "a driver's error without a consequence",
    44: "a fault during a context switch, told again by another XID",
    66: "an illegal access by the driver, without a consequence",
    67: "an illegal access by the driver, without a consequence",
    93: "wear of the InfoROM, not fatal",
    106: "a test message",
    107: "a test message",
    141: "an error of CUDA's fast path, without a consequence",
    152: "of no GPU of the table",
    153: "of no GPU of the table",
}
"""XIDs of the table with a description that nothing is to be done for."""


def xids() -> dict[int, dict[str, str]]:
    """The table of XIDs by number."""
    head, *rows = table("xid-catalog.csv")
    return {int(row[0]): dict(zip(head, row, strict=True)) for row in rows}


def test_every_xid_with_a_meaning_has_an_entry() -> None:
    rows = xids()
    used = {code for code, row in rows.items() if row["description"] != "Unused"}
    assert used - XIDS.keys() == NO_ENTRY.keys()
    assert XIDS.keys() <= used
    assert {rows[code]["immediate_action"] for code in NO_ENTRY} == {"IGNORE"}


def test_xids_are_of_the_gpus_of_the_table_and_say_its_action() -> None:
    """B100 and GB200 are both Blackwell: an XID of one of them is one of Blackwell."""
    columns = {"Ampere": {"a100"}, "Hopper": {"h100"}, "Blackwell": {"b100", "gb200"}}
    rows = xids()
    for code, entry in XIDS.items():
        row = rows[code]
        found = [name for name, of in columns.items() if "YES" in {row[column] for column in of}]
        assert entry["architectures"] == found, code
        assert entry.get("action", "") == row["immediate_action"], code


ACTIONS = {
    "RESET_GPU": "COMPONENT_RESET",
    "WORKFLOW_XID_48": "COMPONENT_RESET",
    "XID_154": "COMPONENT_RESET",  # one of those that the line in the log can name
    "RESTART_BM": "RESTART_BM",
    "RESTART_VM": "RESTART_VM",
    "RESTART_APP": None,
    "IGNORE": None,
    "WORKFLOW_XID_45": None,
}
"""The table's action as NVSentinel recommends it, or none for what is not fatal to it; it asks for support of others.

https://github.com/NVIDIA/NVSentinel, health-monitors/syslog-health-monitor/pkg/common/common.go
"""


def test_nvsentinel_recommends_the_action_of_the_table() -> None:
    """For XIDs as for DCGM's errors, in the form of its messages; codes that it makes up itself have none."""
    tables = {str(code): row["immediate_action"] for code, row in xids().items()}
    expected = {code: ACTIONS.get(action, "CONTACT_SUPPORT") for code, action in tables.items()}
    expected |= dict(table("dcgm-errors-actions.csv"))
    seen = set()
    for name, _, type_, words in (each for each in turned() if each[1] == "nvsentinel"):
        form = re.fullmatch(r"(?:ErrorCode:(\w+) |NIC:\w+ ).+ Recommended Action=([A-Z_]+);", words["message"])
        assert form, (name, type_)
        code, action = form.groups()
        if type_ == "SysLogsXIDError" or str(code).startswith("DCGM_FR_"):
            assert action == expected[code], (name, type_)
        if type_ == "SysLogsXIDError":
            seen.add(code)
    assert seen == {str(code) for code in XIDS if expected[str(code)]}


def test_faults_of_dcgm_say_the_action_of_its_table() -> None:
    actions = dict(table("dcgm-errors-actions.csv"))
    for name, entry in FAULTS.items():
        codes = set(re.findall(r"DCGM_FR_\w+", str(entry["effects"])))
        if name.startswith("dcgm-") and codes:
            assert {actions[code] for code in codes} == {entry["action"]}, name


DETECTOR = {
    "kwok-site-virtual-gpu-node": "kwok-site",
    "eks-nma": "eks-node-monitoring-agent",
}
"""The table's word for a detector, where it is not ours."""
OF_SLIDES = "dgx-node-health"
"""The only detector that was described in slides, and the only one that the table does not call by a name."""
KUBELETS = {"NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}
DIFFERENT = {
    ("npd", "KubeProxyUnhealthy"): "nodes with Windows only",
    ("dgx-node-health", "KernelDeadlock", "fault_message"): "the table has a place for the process",
    ("nvsentinel", "fault_message"): "the table has the form, a fault the words",
}
MORE = {("aks-npd", "UnhealthyNvidiaDCGMServices"): "on pools with managed GPUs, newer than the table"}
WORDS = {
    "healthy_reason": ("healthy", "reason"),
    "healthy_message": ("healthy", "message"),
    "fault_reason": ("faulty", "reason"),
    "fault_message": ("faulty", "message"),
}


def conditions() -> Iterator[tuple[str, str, dict[str, str]]]:
    """The table's conditions that are a detector's: detector, type, the row."""
    head, *rows = table("node-conditions.csv")
    for row in (dict(zip(head, cells, strict=True)) for cells in rows):
        detector = DETECTOR.get(row["source"], row["source"] if row["source"] in DETECTORS else OF_SLIDES)
        kubelets = detector == "dgx-node-health" and row["type"] in KUBELETS
        if not kubelets and row["fault_status"] != "event" and (detector, row["type"]) not in DIFFERENT:
            yield detector, row["type"], row


def test_detectors_have_the_conditions_of_the_table() -> None:
    """The kubelet's own are not repeated in another's; what NVSentinel tells in events only is none."""
    ours = {(name, type_) for name, entry in DETECTORS.items() if name != "kubelet" for type_ in entry["conditions"]}
    assert ours - {(name, type_) for name, type_, _ in conditions()} == MORE.keys()


def test_detectors_have_the_polarity_and_the_words_of_the_table() -> None:
    """As far as it has any; what is said to differ does."""
    different = set()
    for name, type_, row in conditions():
        entry = DETECTORS[name]["conditions"][type_]
        assert entry["fault"] == row["fault_status"], (name, type_)
        for column, (state, key) in WORDS.items():
            if row[column] and entry[state].get(key) != row[column]:
                different |= {(name, type_, column), (name, column)} & DIFFERENT.keys() or {(name, type_, column)}
    assert different == {key for key in DIFFERENT if key[-1] in WORDS}
