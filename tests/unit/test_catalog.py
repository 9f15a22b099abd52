"""The catalogue: facts with their sources, what is derived from them, and entries of one's own."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from kwokgen import catalog as facts
from kwokgen import schemas, templating
from kwokgen.catalog import KINDS, Catalog, builtin_node, entries
from kwokgen.conform import conform
from kwokgen.formats import canonical, quantity
from kwokgen.model.template import Template
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import KwokgenError, Pos, Problem
from kwokgen.templating import Roles
from tests import generate
from tests.unit.rendering import ROOT, blueprint, command, documents, problems, rendered

BUILTIN = Catalog()
ENTRIES = [(kind, name) for kind in KINDS for name in BUILTIN.names(kind)]
HERE = Pos("test")


def data(kind: str, name: str) -> dict[str, Any]:
    """A built-in entry."""
    return dict(BUILTIN.get(kind, name, HERE, kind).data)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_an_entry_says_what_it_is_and_where_that_comes_from(kind: str, name: str) -> None:
    """By its schema, with a day that somebody looked; what is unsure is a part of it."""
    node = builtin_node(kind, name)
    assert conform(node, schemas.load(f"catalog/{KINDS[kind]}"), "catalog") == ()
    entry = node.plain()
    assert 10 < len(entry["summary"]) <= 120
    assert entry["source"].startswith("https://")
    assert date(2026, 1, 1) <= date.fromisoformat(entry["checked"]) <= datetime.now(UTC).date()
    assert [path for path in entry.get("unverified", ()) if not reaches(entry, path)] == []


def reaches(entry: Any, path: str) -> bool:
    """Whether a path leads somewhere in an entry: keys joined by dots, one that has a dot itself in quotes."""
    for number, part in enumerate(path.split('"')):
        for step in [part] if number % 2 else filter(None, part.split(".")):
            if not isinstance(entry, dict) or step not in entry:
                return False
            entry = entry[step]
    return True


REQUIRED = {
    "machines": {
        "p4d.24xlarge",
        "p4de.24xlarge",
        "p5.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "g6.48xlarge",
        "g6e.48xlarge",
        "m7i.24xlarge",
        "a2-highgpu-8g",
        "a3-highgpu-8g",
        "a3-megagpu-8g",
        "standard-nd96amsr-a100-v4",
        "standard-nd96isr-h100-v5",
        "standard-nd96isr-mi300x-v5",
        "dgx-a100",
        "dgx-h100",
        "dgx-b200",
        "gb200-nvl72-tray",
        "ct6e-standard-8t",
    },
    "gpus": {
        "a100-sxm4-40gb",
        "a100-sxm4-80gb",
        "h100-sxm5-80gb",
        "h200-sxm5-141gb",
        "b200",
        "gb200",
        "gh200-96gb",
        "l4",
        "l40s",
        "t4",
        "a10",
        "a30",
        "mi300x",
        "tpu-v5e",
        "tpu-v6e",
    },
    "drivers": {"gpu.nvidia.com", "gpu.amd.com", "tpu.google.com"},
    "kubernetes": {"1.32", "1.33", "1.34", "1.35", "1.36", "1.37"},
    "kwok": {"v0.7.0", "v0.8.0"},
    "stages/node": {"fast", "heartbeat", "heartbeat-lease", "node-capacity"},
    "stages/pod": {"fast", "general", "timed"},
    "workloads": {
        "appwrapper",
        "deployment",
        "job",
        "jobset",
        "leaderworkerset",
        "pytorchjob",
        "raycluster",
        "rayjob",
        "trainjob",
        "volcano-job",
    },
}


@pytest.mark.parametrize(("kind", "names"), REQUIRED.items())
def test_what_must_be_there_is(kind: str, names: set[str]) -> None:
    """A name is what blueprints of people say: it never goes."""
    assert names - set(BUILTIN.names(kind)) == set()


def test_no_file_lies_outside_of_the_kinds() -> None:
    """Every YAML file of the catalogue is an entry, and its name is one that a blueprint can say without quotes."""
    folder = ROOT / "kwokgen" / "catalog"
    known = {folder / kind / f"{name}.yaml" for kind, name in ENTRIES}
    assert set(folder.rglob("*.yaml")) == known


def test_names_are_listed_as_people_count() -> None:
    """Minors by number, not by letter."""
    assert BUILTIN.names("kubernetes") == ("1.32", "1.33", "1.34", "1.35", "1.36", "1.37")


DRA = ("DynamicResourceAllocation",)
MINORS = {
    "1.32": ("v1beta1", DRA, ("resource.k8s.io/v1beta1=true",), None),
    "1.33": ("v1beta1", DRA, ("resource.k8s.io/v1beta1=true",), "v1.33.13"),
    "1.34": ("v1", (), (), "v1.34."),
    "1.35": ("v1", (), (), "v1.35."),
    "1.36": ("v1", (), (), "v1.36."),
    "1.37": ("v1", (), (), "v1.37.2"),
}


@pytest.mark.parametrize(("minor", "expected"), MINORS.items())
def test_minors(minor: str, expected: tuple[str, tuple[str, ...], tuple[str, ...], str | None]) -> None:
    """The API to write, what must be turned on, and whether somebody ran it: 1.32 says that nobody did."""
    entry = data("kubernetes", minor)
    needed = entry["requires"]
    live = entry.get("live")
    assert (entry["resourceAPI"], tuple(needed["gates"]), tuple(needed["runtimeConfig"])) == expected[:3]
    assert live == expected[3] or live.startswith(expected[3])
    assert entry["kubelet"].startswith(f"v{minor}.")
    assert set(needed["gates"]) <= entry["gates"].keys()
    assert (live is None) == ("never run live" in entry["summary"]) == (minor == "1.32")
    assert live is not None or entry["unverified"]


@pytest.mark.parametrize("name", BUILTIN.names("machines"))
def test_a_machine_fits_together(name: str) -> None:
    """Canonical amounts, less kept than there is, GPUs that exist, and a PCI address for each if for any."""
    entry = data("machines", name)
    amounts = entry["capacity"] | entry.get("reserved", {})
    assert [str(value) for value in amounts.values() if canonical(str(value)) != str(value)] == []
    for resource, kept in entry.get("reserved", {}).items():
        assert 0 < (quantity(str(kept)) or 0) < (quantity(str(entry["capacity"][resource])) or 0) / 2, resource
    assert name.startswith(entry["labels"]["node.kubernetes.io/instance-type"].lower().replace("_", "-"))
    gpus = entry.get("gpus", {"count": 0})
    assert gpus.get("model", "a10") in BUILTIN.names("gpus")
    pci = entry.get("pci", [])
    assert len(pci) in {0, gpus["count"]}
    assert len({slot["bus"] for slot in pci}) == len(pci)


@pytest.mark.parametrize("name", BUILTIN.names("gpus"))
def test_a_gpu_fits_together(name: str) -> None:
    """A driver that exists, canonical amounts, and labels that say the same as the attributes."""
    entry = data("gpus", name)
    driver = data("drivers", entry["driver"])
    assert [str(value) for value in entry["capacity"].values() if canonical(str(value)) != str(value)] == []
    if "nvidia.com/gpu.memory" in entry.get("labels", {}):
        assert (quantity(entry["capacity"]["memory"]) or 0) / 2**20 == int(entry["labels"]["nvidia.com/gpu.memory"])
    if entry["driver"] == "gpu.nvidia.com":
        version = entry["attributes"]["cudaComputeCapability"]["version"]
        parts = [entry["labels"][f"nvidia.com/gpu.compute.{part}"] for part in ("major", "minor")]
        assert version == ".".join([*parts, "0"])
        assert entry["labels"]["nvidia.com/gpu.product"] == entry["attributes"]["productName"].replace(" ", "-")
    assert driver.get("modelAttribute", "productName") in {*entry["attributes"], "productName"}


@pytest.mark.parametrize("minor", ["1.32", "1.37"])
def test_every_machine_and_every_gpu_renders(tmp_path: Path, minor: str) -> None:
    """Without a warning, in what the API server takes."""
    pools = [
        f"- {{name: m{number}, count: 1, machine: {name}, gpuOperatorLabels: {str('gpus' in data('machines', name)).lower()}}}"
        for number, name in enumerate(BUILTIN.names("machines"))
    ]
    pools += [
        f"- {{name: g{number}, count: 1, machine: {{cpu: 1}}, gpus: {{model: {name}, count: 3}}}}"
        for number, name in enumerate(BUILTIN.names("gpus"))
    ]
    done = rendered(tmp_path, "pools:\n" + "\n".join(pools), f"kubernetes='{minor}'")
    assert done.warnings == ()
    kinds = [series.pool for series in done.series if series.file.startswith("50-")]
    assert len(kinds) == len(pools) - sum("gpus" not in data("machines", name) for name in BUILTIN.names("machines"))


def test_what_is_derived_is_as_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make generate` would write the same bytes."""
    committed = {name: getattr(generate, name) for name in ("NAMES", "COMPILED")}
    for name in committed:
        monkeypatch.setattr(generate, name, tmp_path / name)
    generate.main()
    assert [name for name, file in committed.items() if file.read_bytes() != (tmp_path / name).read_bytes()] == []


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_a_compiled_entry_is_its_file(kind: str, name: str) -> None:
    """What a start reads is what stands in the YAML, and is used."""
    fact = BUILTIN.get(kind, name, HERE, kind)
    assert fact.data == BUILTIN.whole(kind, builtin_node(kind, name)).plain()
    assert (fact.file, fact.builtin) == (f"kwokgen/catalog/{kind}/{name}.yaml", True)
    assert json.loads(generate.COMPILED.read_bytes())[f"{kind}/{name}"]["digest"] == facts.digest(kind, name, fact.data)


TEMPLATES = [(kind, name) for kind, name in ENTRIES if kind in {"workloads", "kwok"}]


@pytest.mark.parametrize(("kind", "name"), TEMPLATES)
@pytest.mark.parametrize("filled", [True, False])
def test_a_compiled_template_makes_what_jinja2_makes(kind: str, name: str, filled: bool) -> None:
    """Of values that are there and of such that are not."""
    fact = BUILTIN.get(kind, name, HERE, kind)
    template = entries.template(fact)
    values = {
        parameter: ({"a": ["x", 1], parameter: "y"} if filled else {}) if number % 2 else (number if filled else "")
        for number, parameter in enumerate(fact.data["parameters"])
    } | {"name": "a", "pod": {"containers": []}}
    words = ("name", "pods", "parallelism", "together", "pod")
    values["roles"] = Roles(
        {word: {"a": f"{word}-{role}"} for word in words}
        for role in range(2 if filled or "roles" not in template.conditions else 0)
    )
    assert template.forms
    jinja = Template(template.text, template.file)
    assert templating.documents(template, values) == templating.documents(jinja, values)


def test_a_number_of_a_template_is_there_though_it_is_0() -> None:
    """With Jinja2 as well, where a template of one's own asks for it."""
    template = entries.template(BUILTIN.get("workloads", "job", HERE, "workloads"))
    text = template.text.replace("[% if backoffLimit %]", "[% if backoffLimit and not suspend %]")
    values = dict.fromkeys(BUILTIN.get("workloads", "job", HERE, "workloads").data["parameters"], "") | {
        "backoffLimit": 0
    }
    for each in (template, Template(text, template.file)):
        spec = templating.render(each, values)["spec"]
        assert spec["backoffLimit"] == 0
        assert "maxFailedIndexes" not in spec


OWN_GPU = """\
summary: A card of our own
source: our shelf
checked: "2026-01-01"
confidence: real
driver: gpu.nvidia.com
attributes: {productName: Own}
capacity: {memory: 7Gi}
"""
OWN_MACHINE = """\
summary: A machine of our own
source: our shelf
checked: "2026-01-01"
confidence: real
arch: arm64
capacity: {cpu: 8, memory: 64Gi, pods: 10}
reserved: {cpu: 500m}
gpus: {model: own, count: 2}
labels: {ours: "true"}
"""
OWN_JOB = """\
summary: A job of our own
source: our shelf
checked: "2026-01-01"
parameters: {name: n, namespace: s, labels: l, pod: p}
template: |
  apiVersion: batch/v1
  kind: Job
  metadata: {name: [[ name ]], namespace: [[ namespace ]], labels: [[ labels ]]}
  spec:
    backoffLimit: 7
    template: [[ pod ]]
"""


def folder(path: Path, **entries: str) -> str:
    """A catalogue's folder with entries such as `gpus/own`."""
    for name, text in entries.items():
        file = path / f"{name.replace('__', '/').replace('_', '-')}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return str(path)


def of(tmp_path: Path, spec: str, *folders: str) -> Rendered:
    """A cluster with these catalogues."""
    file = tmp_path / "t.yaml"
    file.write_text(blueprint(spec), encoding="utf-8")
    return render(str(file), catalog=Catalog.of(folders))


def test_entries_of_ones_own_are_used_like_the_others(tmp_path: Path) -> None:
    """A card, a machine with it, a sort of workload."""
    own = folder(tmp_path / "own", gpus__own=OWN_GPU, machines__own=OWN_MACHINE, workloads__own=OWN_JOB)
    found = documents(
        of(tmp_path, "pools: [{name: a, count: 1, machine: own}]\nworkloads: [{name: w, kind: own}]", own)
    )
    node = found["Node", "", "a-0"]
    assert (node["metadata"]["labels"]["ours"], node["metadata"]["labels"]["kubernetes.io/arch"]) == ("true", "arm64")
    assert node["status"]["allocatable"] == {"cpu": "7500m", "memory": "64Gi", "pods": "10"}
    devices = found["ResourceSlice", "", "a-0-gpu.nvidia.com"]["spec"]["devices"]
    assert [device["attributes"]["productName"] for device in devices] == [{"string": "Own"}] * 2
    assert [device["capacity"] for device in devices] == [{"memory": {"value": "7Gi"}}] * 2
    assert found["Job", "t", "w-0"]["spec"]["backoffLimit"] == 7


EXTENDS = "extends: p5.48xlarge\ncapacity: {cpu: 10}\nlabels: {mark: %s}\n"
P5 = "p5.48xlarge"


def cpu_and_mark(tmp_path: Path, name: str, *folders: str) -> tuple[str, str | None, str]:
    """Of a node of the machine: its CPUs, the label `mark`, and its memory."""
    node = documents(of(tmp_path, f"pools: [{{name: a, count: 1, machine: {name}}}]", *folders), "Node")[
        "Node", "", "a-0"
    ]
    return (
        node["status"]["capacity"]["cpu"],
        node["metadata"]["labels"].get("mark"),
        node["status"]["capacity"]["memory"],
    )


def machines(path: Path, **texts: str) -> str:
    """A catalogue of machines; `p5` is p5.48xlarge."""
    for name, text in texts.items():
        file = path / "machines" / f"{P5 if name == 'p5' else name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return str(path)


def test_an_entry_extends_another(tmp_path: Path) -> None:
    """By key; what it does not say is the other's, which stays as it was."""
    own = machines(tmp_path / "own", big=EXTENDS % "own")
    assert cpu_and_mark(tmp_path, "big", own) == ("10", "own", "2Ti")
    assert cpu_and_mark(tmp_path, P5, own) == ("192", None, "2Ti")


def test_an_entry_replaces_another_of_its_name(tmp_path: Path) -> None:
    """Whole, or extending the one that it replaces."""
    whole = machines(tmp_path / "whole", p5=OWN_MACHINE.replace("model: own", "model: l4"))
    assert cpu_and_mark(tmp_path, P5, whole) == ("8", None, "64Gi")
    part = machines(tmp_path / "part", p5=EXTENDS % "part")
    assert cpu_and_mark(tmp_path, P5, part) == ("10", "part", "2Ti")


def test_a_later_folder_wins_over_an_earlier_one(tmp_path: Path) -> None:
    """And extends what that has made of the name."""
    first = machines(tmp_path / "first", p5=EXTENDS % "first")
    second = machines(tmp_path / "second", p5="extends: p5.48xlarge\nlabels: {mark: second}\n")
    assert cpu_and_mark(tmp_path, P5, first, second) == ("10", "second", "2Ti")
    assert cpu_and_mark(tmp_path, P5, second, first) == ("10", "first", "2Ti")
    assert cpu_and_mark(tmp_path, P5, second) == ("192", "second", "2Ti")


def test_an_entry_that_nobody_names_is_not_read(tmp_path: Path) -> None:
    """A blueprint has no problems with the parts of a catalogue that it does not use."""
    own = machines(tmp_path / "own", bad="[")
    assert cpu_and_mark(tmp_path, P5, own)[0] == "192"


def wrong(tmp_path: Path, *folders: str, machine: str = "own") -> list[Problem]:
    """What is wrong with the machine `own` of a catalogue."""
    return list(problems(lambda: of(tmp_path, f"pools: [{{name: a, count: 1, machine: {machine}}}]", *folders)))


BAD = {
    "an unknown key": (OWN_MACHINE + "gpu: 1\n", "10:1", 'unknown key "gpu"'),
    "no summary": (OWN_MACHINE.partition("\n")[2], "1:1", 'missing key "summary"'),
    "a wrong type": (OWN_MACHINE.replace("pods: 10", "pods: many"), "6:40", '"pods" must be an integer'),
    "a bad quantity": (OWN_MACHINE.replace("64Gi", "64GiB"), "6:28", '"64GiB" is not a quantity'),
    "a bad date": (OWN_MACHINE.replace('"2026-01-01"', "today"), "3:10", '"today" does not fit "checked"'),
    "a label that is no string": (OWN_MACHINE.replace('"true"', "true"), "9:16", '"ours" must be a string'),
    "a key twice": (OWN_MACHINE + "arch: amd64\n", "10:1", 'key "arch" is given twice'),
    "no YAML": (OWN_MACHINE + "a: [\n", "11:1", "not YAML"),
    "nothing": ("", "0:0", "the file holds no YAML document"),
    "a list": ("[a]\n", "1:1", "the document must be a mapping, not a list"),
    "two documents": (OWN_MACHINE + "---\n" + OWN_MACHINE, "10:1", "a second YAML document starts here"),
    "an unknown entry to extend": ("extends: p5\n", "1:10", 'unknown machine to extend "p5"'),
    "a list to extend": ("extends: [p5.48xlarge]\n", "1:10", ""),
    "a bad key over what it extends": ("extends: dgx-h100\narch: x86\n", "2:7", '"arch" is the string "x86"'),
    "an entry that extends itself": ("extends: own\n", "1:10", ""),
    "an unknown GPU": (OWN_MACHINE.replace("model: own", "model: h101"), "8:15", 'unknown gpu "h101"'),
    "more kept than there is": (OWN_MACHINE.replace("500m", "9"), "7:17", ""),
}


@pytest.mark.parametrize(("text", "place", "message"), BAD.values(), ids=BAD)
def test_a_mistake_of_an_entry_stands_in_its_file(tmp_path: Path, text: str, place: str, message: str) -> None:
    """At its line and column, although the blueprint only named it."""
    own = folder(tmp_path / "own", gpus__own=OWN_GPU, machines__own=text)
    [found] = wrong(tmp_path, own)
    assert (found.pos.file, f"{found.pos.line}:{found.pos.column}") == (f"{own}/machines/own.yaml", place)
    assert found.message[: len(message)] == message


def test_mistakes_of_what_an_entry_leads_to(tmp_path: Path) -> None:
    """The card of the machine, and the driver of the card, each in the file that names it."""
    own = folder(tmp_path / "own", gpus__own=OWN_GPU.replace("nvidia", "nvidai"), machines__own=OWN_MACHINE)
    [found] = wrong(tmp_path, own)
    assert str(found.pos) == f"{own}/gpus/own.yaml:5:9"
    assert found.message.startswith('unknown driver "gpu.nvidai.com"')


def test_entries_that_extend_each_other(tmp_path: Path) -> None:
    """Have no end: a problem, and not a stack that is too deep."""
    own = machines(tmp_path / "own", own="extends: other\n", other="extends: own\n")
    [found] = wrong(tmp_path, own)
    assert found.pos.file in {f"{own}/machines/own.yaml", f"{own}/machines/other.yaml"}
    assert (found.pos.line, found.pos.column) == (1, 10)


@pytest.mark.parametrize("folded", [True, False], ids=["a folder", "a link that leads nowhere"])
def test_an_entry_that_is_no_file(tmp_path: Path, folded: bool) -> None:
    """Is listed by its name, and a problem to who names it or extends it."""
    own = machines(tmp_path / "own", big="extends: own\n")
    file = Path(own) / "machines" / "own.yaml"
    if folded:
        file.mkdir()
    else:
        file.symlink_to("missing.yaml")
    for machine in ("own", "big"):
        [found] = wrong(tmp_path, own, machine=machine)
        assert found.pos.file == str(file)
        assert found.message.startswith("cannot read the file: ")


def test_an_entry_in_another_encoding(tmp_path: Path) -> None:
    """A byte that is not UTF-8 is shown where it stands, as in a blueprint; a byte order mark is no mistake."""
    own = machines(tmp_path / "own", own="")
    file = Path(own) / "machines" / "own.yaml"
    file.write_bytes(OWN_MACHINE.replace("model: own", "model: l4").encode("utf-8-sig"))
    assert cpu_and_mark(tmp_path, "own", own)[0] == "8"
    file.write_bytes(OWN_MACHINE.encode().replace(b"our shelf", b"our \xe9"))
    [found] = wrong(tmp_path, own)
    assert (found.pos.file, found.pos.line, found.pos.column) == (str(file), 2, 13)


def test_an_entry_that_is_too_large(tmp_path: Path) -> None:
    """Nobody wrote a megabyte by hand."""
    own = machines(tmp_path / "own", own="#" * (1024 * 1024 + 1))
    [found] = wrong(tmp_path, own)
    assert found.pos.file == f"{own}/machines/own.yaml"
    assert "larger than 1024 KiB" in found.message


JOBS = {
    "an unknown word": ("name: [[ name ]]", "name: [[ nome ]]", 8),
    "a block without an end": ("backoffLimit: 7", "[% if name %]", 10),
    "no word at all": ("backoffLimit: 7", "backoffLimit: [[ ]]", 10),
    "no YAML": ("backoffLimit: 7", "backoffLimit: [7", 10),
    "a list": (OWN_JOB.partition("template: |\n")[2], "  - [[ name ]]\n", 6),
    "a word": (OWN_JOB.partition("template: |\n")[2], "  job\n", 6),
    "no kind": ("  kind: Job\n", "", 5),
    "no metadata": ("  metadata: {name: [[ name ]], namespace: [[ namespace ]], labels: [[ labels ]]}\n", "", 5),
    "no spec": (OWN_JOB.partition("labels ]]}\n")[2], "", 5),
    "a loop that the sandbox refuses": ("backoffLimit: 7", "[% for i in range(9999999) %][% endfor %]", 10),
    "Python": ("backoffLimit: 7", "x: [[ name.__class__.__mro__ ]]", 10),
}


@pytest.mark.parametrize(("old", "new", "line"), JOBS.values(), ids=JOBS)
def test_a_template_that_makes_no_document(tmp_path: Path, old: str, new: str, line: int) -> None:
    """A problem in the entry's file, at the line of the template or at the template."""
    own = folder(tmp_path / "own", workloads__own=OWN_JOB.replace(old, new))
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: own}]"
    found = problems(lambda: of(tmp_path, spec, own))
    assert {problem.pos.file for problem in found} == {f"{own}/workloads/own.yaml"}
    assert {problem.pos.line for problem in found} <= {5, line, line + 1}


def test_a_template_that_the_api_server_refuses(tmp_path: Path) -> None:
    """Says which object, and what is wrong with it."""
    own = folder(tmp_path / "own", workloads__own=OWN_JOB.replace("backoffLimit: 7", "backofLimit: 7"))
    spec = "pools: [{name: a, count: 1, machine: {cpu: 1}}]\nworkloads: [{name: w, kind: own}]"
    [found] = problems(lambda: of(tmp_path, spec, own))
    assert (found.code, found.message) == ("refused", 'Job w-0: spec.backofLimit: unknown field "backofLimit"')


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "the catalogue is not a folder"),
        ("empty", "the folder holds nothing of a catalogue"),
        ("file", "the catalogue is not a folder"),
    ],
)
def test_a_folder_that_is_no_catalogue(tmp_path: Path, name: str, message: str) -> None:
    """A misspelt path must not mean an empty catalogue."""
    (tmp_path / "empty" / "machine").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(KwokgenError) as caught:
        Catalog.of([str(tmp_path / name)])
    [found] = caught.value.problems
    assert (found.pos, found.message) == (Pos(str(tmp_path / name)), message)


def test_the_command_lists_every_entry_with_its_summary(tmp_path: Path) -> None:
    """Those of one's own as well; in JSON the same."""
    own = machines(tmp_path / "own", own=OWN_MACHINE)
    text = command("catalog", "--catalog", own, cwd=tmp_path).stdout.decode()
    rows = json.loads(command("catalog", "--catalog", own, "--format", "json", cwd=tmp_path).stdout)
    assert {(row["kind"], row["name"]) for row in rows} == {*ENTRIES, ("machines", "own")}
    assert [row for row in rows if f"  {row['name']} " not in text or row["summary"] not in text] == []


def test_the_command_shows_an_entry_whole(tmp_path: Path) -> None:
    """With its file, and what it extends under it."""
    own = machines(tmp_path / "own", own=EXTENDS % "own")
    done = command("catalog", "machines", "own", "--catalog", own, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode()
    assert shown.startswith(f"# {own}/machines/own.yaml\n")
    assert "cpu: 10\n" in shown
    assert "0000:53:00.0" in shown


def test_in_json_an_entry_stands_apart_from_what_it_is(tmp_path: Path) -> None:
    """An owner, a step and a Stage have a kind of their own."""
    [shown] = json.loads(f"[{command('catalog', 'owners', 'job', '--format', 'json', cwd=tmp_path).stdout.decode()}]")
    assert (shown["kind"], shown["name"], shown["entry"]["kind"]) == ("owners", "job", "Job")


MINORS = {
    "1.38": "there are no schemas of Kubernetes 1.38 to hold the objects against",
    "1.37-own": 'the catalogue\'s entry "1.37-own" is called otherwise than a minor of Kubernetes',
}


@pytest.mark.parametrize(("name", "message"), MINORS.items(), ids=MINORS)
def test_a_minor_that_objects_cannot_be_held_against(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "own" / "kubernetes").mkdir(parents=True)
    text = 'extends: "1.37"\nsummary: a minor\nsource: https://example.com\nchecked: "2026-11-28"\n'
    (tmp_path / "own" / "kubernetes" / f"{name}.yaml").write_text(text)
    quickstart = ROOT / "blueprints" / "quickstart.yaml"
    with pytest.raises(KwokgenError) as refused:
        render(str(quickstart), sets=[f'kubernetes="{name}"'], catalog=Catalog.of([str(tmp_path / "own")]))
    assert [(found.pos.file, found.message) for found in refused.value.problems] == [("--set[1]", message)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["machine"], 'unknown kind "machine"'),
        (["machines", "p5.48xlarg"], 'unknown entry "p5.48xlarg"'),
        (["gpus", "p5.48xlarge"], 'unknown entry "p5.48xlarge"'),
    ],
)
def test_the_command_knows_no_other(tmp_path: Path, arguments: list[str], message: str) -> None:
    """A problem with the choices."""
    done = command("catalog", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert message in done.stderr.decode()
    assert "available: " in done.stderr.decode()


CUT = """\
summary: Own
source: here
checked: "2026-01-01"
confidence: unverified
"""
DRIVER = "classes: [{name: own.example.com, selectors: ['true']}]\npartitions: {modes: [dynamic, static], attributes: {}, %s}\n"
MODEL = (
    "driver: own.example.com\nattributes: {}\ncapacity: {}\n"
    "partitions: {slices: 2, profiles: [{name: a, size: 1, starts: [0, 1], capacity: {memory: 1Gi}}]}\n"
)


def cut(tmp_path: Path, names: str, mode: str) -> Rendered:
    """A pool of a model of one's own that a driver of one's own can cut."""
    for path, text in (("drivers/own.example.com", DRIVER % names), ("gpus/own", MODEL)):
        file = tmp_path / "own" / f"{path}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CUT + text, encoding="utf-8")
    gpus = f"{{model: own, count: 1, partitions: {mode}}}"
    (tmp_path / "t.yaml").write_text(blueprint(f"pools: [{{name: p, count: 1, machine: {{cpu: 8}}, gpus: {gpus}}}]"))
    return render(str(tmp_path / "t.yaml"), catalog=Catalog.of([str(tmp_path / "own")]))


@pytest.mark.parametrize("mode", ["{mode: dynamic}", "{mode: static, layout: {a: 2}}"])
def test_a_driver_that_names_only_its_partitions(tmp_path: Path, mode: str) -> None:
    """Its counters have names of ours."""
    (one, *_) = documents(cut(tmp_path, 'deviceName: "{name}-{start}"', mode), "ResourceSlice").values()
    assert one["spec"]["pool"]["resourceSliceCount"] in {1, 2}


@pytest.mark.parametrize(
    "names",
    [
        'deviceName: "p-{nope}"',
        'deviceName: "p-{"',
        'deviceName: p, counterSet: "{x}"',
        "deviceName: p, sliceCounter: s",
    ],
)
def test_names_of_partitions_with_no_such_place(tmp_path: Path, names: str) -> None:
    """Are refused in the driver's file."""
    [found] = problems(lambda: cut(tmp_path, names, "{mode: dynamic}"))
    assert found.pos.file.endswith("own.example.com.yaml")
    assert "does not fit" in found.message


OWN_DRIVER = """\
summary: A driver of our own
source: our shelf
checked: "2026-01-01"
confidence: real
deviceName: "dev-{index}"
classes:
- name: fast.example.com
  selectors:
  - "device.driver == 'dev.example.com'"
  - "device.driver = 'dev.example.com'"
- name: other.example.com
  selectors:
  - "device.attributes['dev.example.com'].sped == 1"
attributes: {speed: 1}
"""


def test_selectors_of_a_driver_are_compiled(tmp_path: Path) -> None:
    """A class of the catalogue goes to the API server as any other, and what is wrong stands in the catalogue's file."""
    own = folder(tmp_path / "own", drivers__dev=OWN_DRIVER)
    (tmp_path / "own/drivers/dev.yaml").rename(tmp_path / "own/drivers/dev.example.com.yaml")
    spec = (
        "pools: [{name: a, count: 1, machine: {cpu: 1, memory: 1Gi}, devices: [{driver: dev.example.com, count: 1}]}]"
    )
    found = problems(lambda: of(tmp_path, spec, own))
    assert {Path(problem.pos.file).name for problem in found} == {"dev.example.com.yaml"}
    assert [(problem.pos.line, problem.code) for problem in found] == [(10, "selector"), (13, "selector-reads")]
