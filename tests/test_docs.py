"""What the documents say: commands run as shown and print what is shown, links lead somewhere, numbers are so."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.live.__main__ import NAMES as NAMES_OF_TABLES
from bench.live.__main__ import head
from kwokgen.bundle import KUSTOMIZATION
from kwokgen.catalog import KINDS, Catalog, entries
from kwokgen.cli import COMMANDS
from kwokgen.model.workload import Kind
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import KwokgenError, Pos
from tests.unit.rendering import BLUEPRINTS, ROOT, command, content, in_folder, objects, rendered

DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
README = DOCUMENTS[0].read_text(encoding="utf-8")
EXAMPLES = sorted(BLUEPRINTS.glob("*.yaml"))
NAMES = [file.stem for file in EXAMPLES]


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    lines: list[str]


def blocks(text: str) -> Iterator[Block]:
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2].splitlines())


def transcripts() -> Iterator[tuple[str, str]]:
    """Each command line of README's transcripts, with what it prints; those of a cluster are in tests/live."""
    for block in blocks(README):
        if block.language == "console" and block.lines[0].startswith("$ kwokgen "):
            parts = re.split(r"^\$ ", "\n".join([*block.lines, ""]), flags=re.MULTILINE)
            for part in filter(None, parts):
                line, _, printed = part.partition("\n")
                yield line, printed


def shown(*, of: str) -> list[str]:
    """The lines of README's shell blocks that start with a program, without what is said behind `#`."""
    lines = [line for block in blocks(README) if block.language == "sh" for line in block.lines]
    return [line.partition("  #")[0].rstrip() for line in lines if line.startswith(f"{of} ")]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line as a person types it, with the commands of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the commands of the documents read."""
    shutil.copytree(BLUEPRINTS, tmp_path / "blueprints")
    return tmp_path


@pytest.mark.parametrize(("line", "printed"), [*transcripts()])
def test_a_transcript_is_what_happens(clone: Path, line: str, printed: str) -> None:
    """To the letter."""
    assert line.startswith("kwokgen ")
    assert shell(line, clone).stdout == printed


def test_there_are_transcripts_of_a_mistake_and_of_a_bundle() -> None:
    """What a reader sees first of what the program says."""
    assert [line.split()[1] for line, _ in transcripts()] == ["validate", "render"]


def test_the_commands_to_start_with_run(clone: Path) -> None:
    """One after the other, each up to a cluster that is not there."""
    lines = [line.removesuffix(" | kubectl apply -f -") for line in shown(of="kwokgen")]
    assert lines == ["kwokgen init > cluster.yaml", "kwokgen render cluster.yaml"]
    done = [shell(line, clone) for line in lines]
    assert [one.returncode for one in done] == [0, 0]
    assert done[0].stdout == ""
    assert (clone / "cluster.yaml").read_bytes() == (BLUEPRINTS / "quickstart.yaml").read_bytes().partition(b"\n")[2]
    assert done[1].stdout.count("\nkind: Node\n") == 10


COMMENTED = [
    line.strip()
    for file in EXAMPLES
    for line in re.findall(r"#\s+(kwokgen [a-z]+[^|)#\n]*)", file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("line", COMMENTED)
def test_the_commands_of_the_examples_comments_run(clone: Path, line: str) -> None:
    """In the folder of the examples."""
    done = shell(line, clone / "blueprints")
    assert done.returncode == 0
    assert done.stdout


def test_the_smallest_blueprint_is_the_quickstart(tmp_path: Path) -> None:
    """Ten nodes of eight GPUs, a job of four pods; the example says the same with comments."""
    [block, *_] = [block for block in blocks(README) if block.language == "yaml"]
    file = tmp_path / "quickstart.yaml"
    file.write_text("\n".join([*block.lines, ""]), encoding="utf-8")
    done = render(str(file))
    assert done.warnings == ()
    assert objects(done) == objects(render(str(BLUEPRINTS / "quickstart.yaml")))
    [node, *_] = [series for series in done.series if series.file.startswith("40-")]
    assert (node.runs[-1].last + 1, node.pool) == (10, "h100")


def test_the_faults_of_the_readme_are_taken(tmp_path: Path) -> None:
    """A part of a spec, every line of which is a fault that somebody has."""
    done = rendered(tmp_path, part("faults:"))
    assert done.warnings == ()
    assert [fault.name for fault in done.cluster.faults] == ["off-the-bus", "ecc", "rack", "flap", "lost"]


def part(key: str) -> str:
    """The only block of YAML with a line that starts so."""
    yaml = (block for block in blocks(README) if block.language == "yaml")
    [block] = [block for block in yaml if any(line.startswith(key) for line in block.lines)]
    return "\n".join(block.lines) + "\n"


def test_the_topology_of_the_readme_is_taken(tmp_path: Path) -> None:
    """With the claim that its gang has."""
    done = rendered(
        tmp_path, part("topology:") + "claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]\n"
    )
    assert done.warnings == ()
    assert [level.name for level in done.cluster.topology.levels] == ["spine", "leaf"]


def test_the_queues_of_the_readme_are_taken(tmp_path: Path) -> None:
    """With the pool that their quotas are of."""
    pool = "pools: [{name: h100, count: 4, machine: p5.48xlarge, expose: extended-resource}]\n"
    done = rendered(tmp_path, part("queues:") + pool)
    assert done.warnings == ()
    assert {queue.name for queue in done.cluster.queues.queues} == {"research", "product"}


GPUS_AND_CPUS = """
pools:
- {name: gpu, count: 40, machine: p5.48xlarge, expose: extended-resource}
- {name: cpu, count: 4, machine: m7i.24xlarge}
"""


def test_the_roles_of_the_readme_are_taken(tmp_path: Path) -> None:
    """With the pools that they name."""
    done = rendered(tmp_path, GPUS_AND_CPUS + "workloads:\n" + part("- {name: ray, "))
    assert done.warnings == ()
    roles = {one.name: [(role.role, role.pods) for role in one.roles] for one in done.cluster.workloads}
    assert roles == {"ray": [("head", 1), ("workers", 4)], "sets": [("driver", 1), ("trainers", 8)]}


def test_the_jobs_over_time_of_the_readme_are_taken(tmp_path: Path) -> None:
    """With pools, and a trace of the columns that the comment says, the one under another name as well."""
    block = part("- {name: burst, ")
    assert "# columns arrival, duration, gpus, in seconds" in block
    assert "{file: …, columns: {gpus: num_gpus, …}}" in block
    (tmp_path / "jobs.csv").write_text("arrival,duration,gpus\n0,60,1\n5,60,16\n", encoding="utf-8")
    (tmp_path / "others.csv").write_text("arrival,duration,num_gpus\n0,60,1\n", encoding="utf-8")
    other = "- {name: other, kind: job, trace: {file: others.csv, columns: {gpus: num_gpus}}}\n"
    done = rendered(tmp_path, GPUS_AND_CPUS + block + other)
    assert done.warnings == ()
    assert {one.name.partition("-")[0] for one in done.cluster.workloads} == {"burst", "real", "replay", "other"}
    assert sorted(one.pods for one in done.cluster.workloads if one.name.startswith("replay")) == [1, 2]


def test_the_observability_of_the_readme_is_taken(tmp_path: Path) -> None:
    """Into the file that the text names."""
    done = rendered(tmp_path, GPUS_AND_CPUS + part("observability: "))
    assert done.warnings == ()
    assert "`95-observability.yaml` then has" in README
    assert "95-observability.yaml" in {file.path for file in done.bundle().files}


POLICIES = {
    "backoffLimit": "3",
    "backoffLimitPerIndex": "2",
    "maxFailedIndexes": "1",
    "podFailurePolicy": "{rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}",
}
BY_INDEX = "failures by index"
WORDS = POLICIES | {
    "parallelism": "2",
    "suspend": "true",
    "run": "60s",
    "trace": "jobs.csv",
    "restartPolicy": "OnFailure",
    BY_INDEX: "[{of: pods, indexes: [1], exitCode: 1}]",
}
"""What the column "not supported" may say, each with a value for four pods."""
SECTION = README.partition("## Kinds of workloads\n")[2].partition("\n## ")[0]
UNSUPPORTED = dict(re.findall(r"^\| `([a-z-]+)` \|[^|]*\| ?([^|]*?) ?\|", SECTION.partition("|---|")[2], re.MULTILINE))
"""The column, by kind."""
EXTENDED = "pools: [{name: a, count: 4, machine: p5.48xlarge, expose: extended-resource}]\n"
OF_VOLCANO = "queues: {system: volcano, list: [{name: q, quota: [{pool: a, gpus: 8}]}]}\n"


def refused(folder: Path, spec: str, *sets: str) -> set[str]:
    """The words at whose lines the workload of a spec is wrong; "" for its own."""
    try:
        rendered(folder, spec, *sets)
    except KwokgenError as error:
        places = {problem.pos.excerpt.strip().partition(":")[0] for problem in error.problems}
        return {"" if place.startswith("-") else place for place in places}
    return set()


def of_kind(kind: str, *lines: str) -> str:
    """A spec with a workload of a kind."""
    workload = "".join(f"  {line}\n" for line in lines)
    return f"{EXTENDED}{OF_VOLCANO if kind == 'volcano-job' else ''}workloads:\n- name: w\n  kind: {kind}\n{workload}"


def with_word(kind: str, word: str) -> str:
    """A spec with a workload of a kind that says a word, and beside it what the word or the kind needs."""
    lines = [f"{'failures' if word == BY_INDEX else word}: {WORDS[word]}"]
    lines += ["pods: 4"] if word != "trace" else []
    lines += ["run: 60s"] if kind == "pods" and word not in {"run", "trace"} else []
    lines += ["backoffLimitPerIndex: 2"] if word == "maxFailedIndexes" else []
    return of_kind(kind, *lines)


def unsupported(column: str) -> set[str]:
    """The words of a cell."""
    said = {BY_INDEX} & {*column.split(", ")}
    if "policies" in column:
        said |= POLICIES.keys() - {*re.findall(r"policies except `(\w+)`", column)}
    return said | {*re.findall(r"`(\w+)`", re.sub(r"policies except `\w+`", "", column))}


def test_the_table_of_kinds_has_every_kind() -> None:
    assert UNSUPPORTED.keys() == {*Catalog().names("workloads")}
    assert "| not supported |" in SECTION


@pytest.mark.parametrize(("kind", "column"), UNSUPPORTED.items(), ids=UNSUPPORTED)
def test_a_kind_does_not_support_what_the_table_says_and_nothing_else(kind: str, column: str, tmp_path: Path) -> None:
    """Refused at the line of the word."""
    (tmp_path / "jobs.csv").write_text("arrival,duration,gpus\n0,60,0\n", encoding="utf-8")
    wrong = {word: refused(tmp_path, with_word(kind, word)) for word in WORDS}
    found = {word for word, at in wrong.items() if ("failures" if word == BY_INDEX else word) in at}
    assert found == unsupported(column)
    assert {word for word, at in wrong.items() if at} == found


def test_plain_pods_must_have_a_run(tmp_path: Path) -> None:
    assert "`pods` must have a `run` (or a `trace`)" in " ".join(SECTION.split())
    assert refused(tmp_path, of_kind("pods", "pods: 4")) == {""}


@pytest.mark.parametrize("minor", ["1.35", "1.36", "1.37"])
def test_gangs_are_for_the_kinds_that_the_text_says(minor: str, tmp_path: Path) -> None:
    said = re.search(r"\(`gang: true`\) are for (.+?); on 1\.35 also for (.+?)\.", " ".join(SECTION.split()))
    assert said
    always, before = (set(re.findall(r"`([a-z-]+)`", kinds)) for kinds in said.groups())
    kinds = set(UNSUPPORTED) - {"volcano-job"}
    run = {"pods": ["run: 60s"]}
    specs = {kind: of_kind(kind, "pods: 2", "gang: true", *run.get(kind, ())) for kind in kinds}
    taken = {kind for kind in kinds if not refused(tmp_path, specs[kind], f"kubernetes='{minor}'")}
    assert taken == (always | before if minor == "1.35" else always)


def facts_of_kinds() -> dict[str, Kind]:
    """By name."""
    catalog = Catalog()
    names = catalog.names("workloads")
    return {name: entries.workload(catalog.get("workloads", name, Pos("test"), "kind")) for name in names}


def test_roles_are_of_the_kinds_that_the_text_says(tmp_path: Path) -> None:
    said = SECTION.partition("`raycluster` and `rayjob` have a `head`")
    named = (
        set(re.findall(r"`([a-z-]+)`", said[1] + said[2].partition("other kinds have none")[0])) & UNSUPPORTED.keys()
    )
    facts = facts_of_kinds()
    assert {kind for kind, fact in facts.items() if fact.roles} == named


def test_systems_accept_the_kinds_that_the_text_says() -> None:
    assert "Under Volcano and KAI only `job` is accepted, and under Volcano also `volcano-job`." in SECTION
    facts = facts_of_kinds()
    taken = {
        system: {kind for kind, fact in facts.items() if fact.systems is None or system in fact.systems}
        for system in Catalog().names("systems")
    }
    assert taken["volcano"] == {"job", "volcano-job"}
    assert taken["kai"] == {"job"}
    assert all(taken[system] == UNSUPPORTED.keys() - {"volcano-job"} for system in ("default", "kueue", "yunikorn"))


@cache
def helped(*arguments: str) -> str:
    """The help of a command."""
    return command(*arguments, "--help", cwd=ROOT, env={"COLUMNS": "200"}).stdout.decode()


def test_the_table_of_commands_is_that_of_the_program() -> None:
    """Each with the options that it names."""
    rows = re.findall(r"^\| `kwokgen (\w+)([^`]*)` \|", README, re.MULTILINE)
    assert [name for name, _ in rows] == list(COMMANDS)
    for name, rest in rows:
        options = re.findall(r"(?<!\w)(--?[a-z]+)", rest)
        assert [option for option in options if option not in helped(name)] == []
    assert [name for name in COMMANDS if name not in helped()] == []


def test_the_options_that_are_explained_exist() -> None:
    """Those of the paragraph behind the table, at the command that renders."""
    paragraph = README.partition("`--overlay FILE`")[2].partition("## ")[0]
    named = {"--overlay", *re.findall(r"`(--[a-z]+)", paragraph)}
    assert named == {"--overlay", "--set", "--catalog", "--strict", "--format"}
    assert [option for option in sorted(named) if option not in helped("render")] == []
    assert all(word in helped("render") for word in ("json", "github"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.stem)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    """From where the document lies."""
    text = document.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in target]
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_files_that_are_named_exist() -> None:
    """In CONTRIBUTING: paths, and modules below kwokgen/; a name in <> is anybody's."""
    text = DOCUMENTS[1].read_text(encoding="utf-8")
    named = re.findall(r"`((?:kwokgen|tests|testbed|bench|blueprints|\.ci)/[\w./-]*)`", text)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
    below = (ROOT, ROOT / "kwokgen", ROOT / "kwokgen" / "catalog")
    modules = re.findall(r"`(\w+(?:/|\.py))`", text)
    assert len(modules) > 5
    assert [path for path in modules if not any((base / path).exists() for base in below)] == []
    patterns = re.findall(r"`(?:kwokgen/)?([\w/]+)/<\w+>\.(?:yaml|py)`", text)
    assert len(patterns) > 5
    assert [path for path in patterns if not any((base / path).is_dir() for base in below)] == []


def test_names_of_modules_that_are_named_exist() -> None:
    """In CONTRIBUTING: what is in parentheses behind a module is at its top."""
    text = " ".join(DOCUMENTS[1].read_text(encoding="utf-8").split())
    named = {
        path: re.findall(r"\w+", names) for path, names in re.findall(r"`([\w/]+\.py)` \((`[A-Z][\w`, ]+`)\)", text)
    }
    assert len(named) > 10
    for path, names in named.items():
        top = re.findall(r"^([A-Z_]+)\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        assert [name for name in names if name not in top] == [], path


@pytest.mark.parametrize("document", DOCUMENTS[:2], ids=lambda file: file.stem)
def test_targets_of_make_that_are_named_exist(document: Path) -> None:
    """`make` alone lists them."""
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ((?:[a-z-]+)(?: [a-z-]+)*)", text, re.MULTILINE))
    targets = {target for words in named for target in words.split()}
    assert {"render", "test"} & targets
    assert targets - listed.keys() == set()


def test_the_minors_that_were_run_are_those_of_the_catalogue() -> None:
    """By what each entry says."""
    catalog = Catalog()
    minors = catalog.names("kubernetes")
    run = [minor for minor in minors if "live" in catalog.get("kubernetes", minor, Pos("test"), "minor").data]
    assert "Kubernetes 1.32 was never run; 1.33 to 1.37 are." in README
    assert (run[0], run[-1], [minor for minor in minors if minor not in run]) == ("1.33", "1.37", ["1.32"])


def test_the_kinds_of_the_catalogue_are_named() -> None:
    """In the table of commands, as the command takes them."""
    [row] = re.findall(r"^\| `kwokgen catalog [^|]*\|(.*)\|$", README, re.MULTILINE)
    assert re.findall(r"`([a-z]+)`", row) == list(dict.fromkeys(kind.partition("/")[0] for kind in KINDS))


def test_lifecycles_that_are_named_exist_and_the_defaults_are_so(tmp_path: Path) -> None:
    """Of nodes and of pods, the first in either row being the default."""
    section = README.partition("## Lifecycles\n")[2].partition("\n## ")[0].partition("Times of")[0]
    nodes, _, pods = section.partition("Pods:")
    known = Catalog()
    named = [[word for word in re.findall(r"`([a-z-]+)`", text) if "." not in word] for text in (nodes, pods)]
    assert [set(words) for words in named] == [
        set(known.names("stages/node")) - {"node-capacity"},
        set(known.names("stages/pod")),
    ]
    lives = rendered(tmp_path, "pools: [{name: a, count: 1, machine: {cpu: 1}}]").cluster.lifecycles
    assert [lifecycle.name for lifecycle in lives] == [words[0] for words in named]


@pytest.mark.parametrize("name", NAMES_OF_TABLES)
def test_a_table_of_the_bench_begins_with_what_its_module_says(name: str) -> None:
    """A number of runs that is changed in the one is in the other."""
    folder = ROOT / "bench" / "live"
    about = ast.get_docstring(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")))
    assert (folder / f"{name}.md").read_text(encoding="utf-8").startswith(f"{head(about or '')}Written by `make ")


def test_every_table_of_the_bench_has_a_module() -> None:
    assert {file.stem for file in (ROOT / "bench" / "live").glob("*.md")} == {*NAMES_OF_TABLES}


BUNDLES = {
    "default": "",
    "Stages as objects": "controller: {stages: crd}",
    "outside": "controller: {run: outside}",
    "several outside": "controller: {run: outside, shards: 2}",
    "existing": "controller: {run: existing}",
    "without jobs": "workloads: []",
}
SPEC = "pools: [{name: a, count: 2, machine: p5.48xlarge}]\n"
JOB = "workloads: [{name: w, kind: job}]\n"


def named_files(text: str) -> set[str]:
    """The files that a bundle's README tells people to use."""
    return set(re.findall(r"[\w/.-]+\.yaml\b", text))


@pytest.mark.parametrize("spec", BUNDLES.values(), ids=BUNDLES)
def test_a_bundles_readme_names_files_that_exist(tmp_path: Path, spec: str) -> None:
    """And a Kustomization only where there is one."""
    done = rendered(tmp_path, SPEC + (spec if "workloads" in spec else JOB + spec))
    bundle = done.bundle()
    files = {file.path for file in bundle.files}
    [text] = [content(file).decode() for file in bundle.files if file.path == "README.md"]
    assert named_files(text) - files == set()
    assert ("apply -k ." in text) == (KUSTOMIZATION in files)
    assert named_files(text) == expected_files(done)


def expected_files(done: Rendered) -> set[str]:
    """What a README must name: the CRD that comes first, the controllers' files, the jobs that can run again."""
    controller = done.cluster.controller
    found = {"80-workloads.yaml"} if done.cluster.workloads else set()
    if controller.crd and controller.run == "deployment":
        found.add("05-crds.yaml")
    if controller.run == "outside":
        found |= {"controller/kwok.yaml", "controller/kwokctl.yaml"}
        found |= {f"controller/kwok-{shard}.yaml" for shard in range(1, controller.shards)}
    return found


@pytest.mark.parametrize("file", EXAMPLES, ids=NAMES)
def test_what_is_committed_of_an_example_is_what_is_rendered(file: Path) -> None:
    """`make render` would change nothing."""
    committed = in_folder(ROOT / "out" / file.stem)
    bundle = render(str(file)).bundle()
    fresh = {one.path: content(one) for one in bundle.files}
    assert committed.keys() == fresh.keys()
    assert [path for path in fresh if fresh[path] != committed[path]] == []
    assert named_files(committed["README.md"].decode()) <= committed.keys()


def test_no_other_example_is_committed() -> None:
    assert sorted(path.name for path in (ROOT / "out").iterdir()) == NAMES
