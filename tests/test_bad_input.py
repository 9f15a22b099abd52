"""Wrong input that is not one file with a mistake in it, given to the command itself: never a traceback, nothing written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.rendering import ROOT, blueprint, command, in_folder

pytestmark = pytest.mark.slow
"""Each starts kwokgen as a program of its own."""

GOOD = "pools:\n- {name: gpu, count: 2, machine: p5.48xlarge}"
MARK = "# kwokgen bundle: "
WRONG, USAGE, FAILED, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141
NOT_FOR_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a blueprint that is right."""
    (tmp_path / "good.yaml").write_text(blueprint(GOOD, "good"), encoding="utf-8")
    return tmp_path


def kwokgen(folder: Path, *arguments: str, code: int) -> str:
    """What `kwokgen …` says as it ends with a code: never a traceback, and never that it has a bug."""
    done = command(*arguments, cwd=folder)
    said = done.stdout.decode() + done.stderr.decode()
    assert (done.returncode, "Traceback" in said, "a bug" in said) == (code, False, False), said
    return said


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash in which `kwokgen` is the command."""
    start = f'kwokgen() {{ "{sys.executable}" -m kwokgen "$@"; }}; '
    done = subprocess.run(["bash", "-c", start + script], cwd=folder, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    return done


def unreadable(folder: Path) -> str:
    file = folder / "secret.yaml"
    file.write_text(blueprint(GOOD), encoding="utf-8")
    file.chmod(0)
    return file.name


def made(name: str, content: bytes) -> Callable[[Path], str]:
    """A maker of a file."""

    def make(folder: Path) -> str:
        (folder / name).write_bytes(content)
        return name

    return make


def large(folder: Path) -> str:
    """50 MB of comments that the file system does not hold."""
    with (folder / "large.yaml").open("wb") as file:
        file.write(b"# " * 1_500_000)
        file.truncate(50_000_000)
    return "large.yaml"


INPUTS = {
    "nowhere": (lambda _: "nowhere.yaml", "nowhere.yaml: cannot read the file: no such file or directory [unreadable]"),
    "a folder": (lambda _: ".", ".: cannot read the file: is a directory [unreadable]"),
    "in a file": (lambda _: "good.yaml/b.yaml", "good.yaml/b.yaml: cannot read the file: not a directory [unreadable]"),
    "secret": (unreadable, "secret.yaml: cannot read the file: permission denied [unreadable]"),
    "latin-1": (made("l.yaml", b"a: 1\nb: gr\xfc\xdfe\n"), "l.yaml:2:6: byte 0xfc is not UTF-8 [encoding]"),
    "utf-16": (made("u.yaml", "a: 1\n".encode("utf-16")), "u.yaml:1:1: byte 0xff is not UTF-8 [encoding]"),
    "empty": (made("e.yaml", b""), "e.yaml: the file holds no YAML document [empty]"),
    "a zero byte": (made("z.yaml", b"a: 1\nb: \0\n"), "z.yaml:2:4: the character #x0000 is not allowed [yaml]"),
    "an archive": (made("a.yaml", b"\x1f\x8b\x08\x00"), "a.yaml:1:2: byte 0x8b is not UTF-8 [encoding]"),
    "large": (large, "large.yaml: the file is larger than 2048 KiB [too-large]"),
}


@pytest.mark.parametrize(
    "sort", [pytest.param(sort, marks=[NOT_FOR_ROOT] if sort == "secret" else []) for sort in INPUTS]
)
def test_what_cannot_be_read_is_named(folder: Path, sort: str) -> None:
    make, problem = INPUTS[sort]
    said = kwokgen(folder, "validate", make(folder), code=WRONG)
    assert said.splitlines()[0] == problem
    assert said.splitlines()[-1] == "1 problem"


@pytest.mark.parametrize("option", ["--overlay", "--catalog"])
def test_what_cannot_be_read_is_named_for_every_option(folder: Path, option: str) -> None:
    said = kwokgen(folder, "validate", "good.yaml", option, "nowhere", code=WRONG)
    assert said.startswith("nowhere: ")


@pytest.mark.parametrize("arguments", ["pipe", "good.yaml --overlay pipe"])
def test_a_pipe_without_a_writer_is_not_waited_for(folder: Path, arguments: str) -> None:
    os.mkfifo(folder / "pipe")
    said = kwokgen(folder, "validate", *arguments.split(), code=WRONG)
    assert said == "pipe: cannot read the file: nobody writes to the pipe [unreadable]\n1 problem\n"


def test_a_pipe_with_a_writer_is_a_file_like_any_other(folder: Path) -> None:
    """Such as bash makes of a command."""
    script = "kwokgen render <(sleep 1; cat good.yaml) --overlay <(echo 'spec: {seed: 5}')"
    done = shell(folder, script)
    assert (done.returncode, done.stdout) == (0, command("render", "good.yaml", "--set", "seed=5", cwd=folder).stdout)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_what_has_no_end_is_no_entry_of_a_catalogue(folder: Path, make: Callable[[Path], None]) -> None:
    (folder / "more" / "machines").mkdir(parents=True)
    make(folder / "more" / "machines" / "p5.48xlarge.yaml")
    said = kwokgen(folder, "validate", "good.yaml", "--catalog", "more", code=WRONG)
    assert said.startswith("more/machines/p5.48xlarge.yaml: not a regular file [catalog]\n")


@pytest.mark.parametrize(
    ("script", "name"),
    [("kwokgen render large.yaml", "large.yaml"), ("head -c 50000000 /dev/zero | kwokgen render -", "<stdin>")],
    ids=["file", "stdin"],
)
def test_50_megabytes_are_refused_in_little_memory(folder: Path, script: str, name: str) -> None:
    large(folder)
    done = shell(folder, f"ulimit -v {400 * 1024} && {script}")
    assert (done.returncode, done.stdout) == (WRONG, b"")
    assert done.stderr.decode().startswith(f"{name}: the file is larger than 2048 KiB [too-large]\n")


def test_standard_input_is_a_blueprint_like_any_other(folder: Path) -> None:
    done = shell(folder, "kwokgen render - < good.yaml")
    assert (done.returncode, done.stdout) == (0, command("render", "good.yaml", cwd=folder).stdout)
    done = shell(folder, "sed 's/count: 2/count: two/' good.yaml | kwokgen validate -")
    assert done.returncode == WRONG
    assert done.stdout.decode().startswith(
        '<stdin>:7:24: "count" must be an integer, not the string "two" [blueprint]\n'
    )
    done = shell(folder, "kwokgen validate - < /dev/null")
    assert done.stdout.decode() == "<stdin>: the file holds no YAML document [empty]\n1 problem\n"


SIX = """
pools:
- {name: gpu, count: "8", machine: p5.48xlarge}
- {name: CPU, count: -1, machine: {cpu: 8, memory: 64GiB}}
- {name: a100, machine: dgx-a100, lables: {team: research}}
"""
PLACES = [(7, 24), (8, 12), (8, 24), (8, 54), (9, 5), (9, 37)]


@pytest.fixture
def six(tmp_path: Path) -> Path:
    (tmp_path / "six.yaml").write_text(blueprint(SIX, "six"), encoding="utf-8")
    return tmp_path


def test_six_mistakes_are_six_problems_of_one_run_as_text(six: Path) -> None:
    said = kwokgen(six, "validate", "six.yaml", code=WRONG)
    found = re.findall(r"^six\.yaml:(\d+):(\d+): .+ \[blueprint\]$", said, re.MULTILINE)
    assert [(int(line), int(column)) for line, column in found] == PLACES
    assert said.endswith("\n6 problems\n")
    assert "\n8 |   - {name: CPU, count: -1, machine: {cpu: 8, memory: 64GiB}}\n  |            ^~~\n" in said


def test_six_mistakes_are_six_problems_of_one_run_as_json(six: Path) -> None:
    done = command("validate", "six.yaml", "--format", "json", cwd=six)
    problems = json.loads(done.stdout)
    assert done.returncode == WRONG
    assert done.stderr == b""
    assert [(problem["line"], problem["column"]) for problem in problems] == PLACES
    assert {problem["file"] for problem in problems} == {"six.yaml"}
    assert {problem["severity"] for problem in problems} == {"error"}


def test_six_mistakes_are_six_problems_of_one_run_as_workflow_commands(six: Path) -> None:
    said = kwokgen(six, "validate", "six.yaml", "--format", "github", code=WRONG)
    pattern = r"::error file=six\.yaml,line=(\d+),col=(\d+),title=kwokgen blueprint::.+"
    found = [re.fullmatch(pattern, line) for line in said.splitlines()]
    assert [(int(match[1]), int(match[2])) for match in found if match] == PLACES
    assert all(found)


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_a_render_of_mistakes_has_its_problems_on_stderr_and_writes_nothing(six: Path, form: str) -> None:
    done = command("render", "six.yaml", "-o", "out", "--format", form, cwd=six)
    assert (done.returncode, done.stdout) == (WRONG, b"")
    assert done.stderr.count(b"six.yaml") >= len(PLACES)
    assert not (six / "out").exists()


def test_mistakes_of_several_blueprints_are_reported_in_one_run(six: Path) -> None:
    (six / "good.yaml").write_text(blueprint(GOOD, "good"), encoding="utf-8")
    (six / "more.yaml").write_text(blueprint(GOOD.replace("p5", "p6"), "more"), encoding="utf-8")
    said = kwokgen(six, "render", "six.yaml", "good.yaml", "more.yaml", "nowhere.yaml", "-o", "out", code=WRONG)
    assert said.endswith("\n8 problems\n")
    assert not (six / "out").exists()


TWINS = "pools:\n- {name: h, count: 12, machine: p5.48xlarge}\n"
AWAY = TWINS.replace("h,", "g,") + "deviceClasses: [{name: gpu.nvidia.com, create: false}]\n"


def test_bundles_that_share_objects_are_no_stream(tmp_path: Path) -> None:
    """The second would take the first one's node."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(blueprint(TWINS, name), encoding="utf-8")
    done = command("render", "one.yaml", "two.yaml", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stderr)
    assert (done.returncode, done.stdout) == (WRONG, b"")
    assert [(each["file"], each["line"], each["column"], each["code"], each["message"]) for each in found] == [
        ("two.yaml", 7, 5, "duplicate-object", 'the bundle "one" has the DeviceClass "gpu.nvidia.com" as well'),
        ("two.yaml", 7, 5, "duplicate-object", 'the bundle "one" has the Node "h-0" as well'),
    ]
    assert [each["related"][0]["file"] for each in found] == ["one.yaml", "one.yaml"]


def test_the_hints_for_bundles_that_share_objects_work(tmp_path: Path) -> None:
    """Other names, or folders, which may go to different clusters; `stages: crd` brings each the same definition."""
    crd = "controller: {stages: crd}\n"
    (tmp_path / "one.yaml").write_text(blueprint(TWINS + crd, "one"), encoding="utf-8")
    (tmp_path / "two.yaml").write_text(blueprint(TWINS + crd, "two"), encoding="utf-8")
    kwokgen(tmp_path, "render", "one.yaml", "two.yaml", "-o", "out", code=0)
    kwokgen(tmp_path, "validate", "one.yaml", "two.yaml", code=0)
    kwokgen(tmp_path, "render", "one.yaml", "two.yaml", "--only", "crds", code=0)
    (tmp_path / "two.yaml").write_text(blueprint(AWAY + crd, "two"), encoding="utf-8")
    assert 'name: "h-11"' in kwokgen(tmp_path, "render", "one.yaml", "two.yaml", code=0)


def test_a_mistake_of_an_overlay_is_shown_at_its_own_line(folder: Path) -> None:
    (folder / "over.yaml").write_text("# more\nspec:\n  pools:\n  - name: gpu\n    count: -1\n    lable: a\n", "utf-8")
    said = kwokgen(folder, "validate", "good.yaml", "--overlay", "over.yaml", code=WRONG)
    assert said.startswith('over.yaml:5:12: "count" must be at least 1, not -1 [blueprint]\n  |\n5 |     count: -1\n')
    assert '\nover.yaml:6:5: unknown key "lable". available:' in said
    assert said.endswith("\n2 problems\n")


def test_a_mistake_of_an_argument_is_shown_at_its_own_place(folder: Path) -> None:
    sets = ("--set", "seed=1", "--set", "pools.gpu.count=1.5", "--set", "pools.gpu.machine={cpu: 8, memory: 1GB}")
    said = kwokgen(folder, "validate", "good.yaml", *sets, code=WRONG)
    assert said.splitlines()[:4] == [
        '--set[2]:1:17: "count" must be an integer, not the number 1.5 [blueprint]',
        "  |",
        "1 | pools.gpu.count=1.5",
        "  |                 ^~~",
    ]
    assert '\n--set[3]:1:36: "1GB" is not a quantity' in said
    assert said.endswith("\n2 problems\n")


ARGUMENTS = {
    "pools.gpu": ("--set[1]:1:10:", "no value: write path=value"),
    "pools.gpus.count=1": ("--set[1]:1:7:", 'no item is named "gpus". available: "gpu"'),
    "pools[7].count=1": ("--set[1]:1:6:", "there is no item [7]: the list has 1"),
    "pools.gpu.count.x=1": ("--set[1]:1:17:", '"x" leads nowhere: 2 is a single value'),
    "=1": ("--set[1]:1:1:", "no path: write path=value"),
    "kubernetes=1.30": ("--set[1]:1:12:", '"kubernetes" must be a string, not the number 1.30'),
    "pools.gpu.labels={a: b": ("--set[1]:1:", "not YAML:"),
    'pools.gpu.labels."a b"=c': ("--set[1]:1:18:", 'the key "a b" is not a label key'),
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_argument_that_leads_nowhere_is_refused(folder: Path, argument: str) -> None:
    place, problem = ARGUMENTS[argument]
    said = kwokgen(folder, "validate", "good.yaml", "--set", argument, code=WRONG)
    assert said.startswith(place)
    assert problem in said.splitlines()[0]


def foreign(target: Path) -> None:
    (target / "other.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", encoding="utf-8")


def taken(target: Path) -> None:
    (target / "00-namespace.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", "utf-8")
    (target / "README.md").write_text("# Mine\n", encoding="utf-8")


def another(target: Path) -> None:
    (target / "00-namespace.yaml").write_text(f"{MARK}other\n---\n", encoding="utf-8")


def whole(target: Path) -> None:
    (target / "good").mkdir()
    for name in ("00-namespace.yaml", "README.md"):
        (target / "good" / name).write_text(f"{MARK}good\n", encoding="utf-8")


FOLDERS = {
    "foreign": (foreign, ["out/other.yaml: is not kwokgen's, and kubectl would apply it with the bundle [folder]"]),
    "taken": (
        taken,
        [
            "out/00-namespace.yaml: is not kwokgen's, and the bundle has a file of this name [folder]",
            "out/README.md: is not kwokgen's, and the bundle has a file of this name [folder]",
        ],
    ),
    "another": (another, ['out/00-namespace.yaml: belongs to the bundle "other", this one is "good" [folder]']),
    "whole": (
        whole,
        [
            (
                "out/good: holds the whole bundle, as a render of several wrote it: one into the folder above would remove it"
                " [folder]"
            )
        ],
    ),
}


@pytest.mark.parametrize("sort", FOLDERS)
def test_a_folder_that_holds_what_is_not_ours_is_refused_and_untouched(folder: Path, sort: str) -> None:
    fill, problems = FOLDERS[sort]
    target = folder / "out"
    target.mkdir()
    fill(target)
    before = in_folder(target)
    said = kwokgen(folder, "render", "good.yaml", "-o", "out", code=WRONG)
    assert [line for line in said.splitlines() if line.endswith("[folder]")] == problems
    assert in_folder(target) == before


@pytest.mark.parametrize("target", ["good.yaml", "good.yaml/out"])
def test_a_file_is_no_folder_to_write_to(folder: Path, target: str) -> None:
    before = in_folder(folder)
    said = kwokgen(folder, "render", "good.yaml", "-o", target, code=WRONG)
    assert said.startswith(f"{target}: ")
    assert "is a file, not a folder [folder]" in said
    assert in_folder(folder) == before


@NOT_FOR_ROOT
def test_a_folder_that_cannot_be_written_is_refused(folder: Path) -> None:
    (folder / "out").mkdir(mode=0o555)
    said = kwokgen(folder, "render", "good.yaml", "-o", "out", code=WRONG)
    assert "out: the folder is not writable [folder]" in said


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux has a folder in which nobody can make another")
def test_a_folder_that_cannot_be_made_is_the_environments_failure(folder: Path) -> None:
    said = kwokgen(folder, "render", "good.yaml", "-o", "/proc/kwokgen", code=FAILED)
    assert said == "kwokgen: cannot write /proc/kwokgen: no such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("diff", "good.yaml", "nowhere"), "nowhere: there is no such folder [folder]"),
        (("plan", "nowhere.yaml"), "nowhere.yaml: cannot read the file"),
        (("render", "good.yaml", "good.yaml"), 'good.yaml:3:18: two blueprints are named "good" [duplicate-name]'),
        (("render", "good.yaml", "--catalog", "nowhere"), "nowhere: the catalogue is not a folder [catalog]"),
        (("render", "good.yaml", "--catalog", "."), ".: the folder holds nothing of a catalogue [catalog]"),
        (("schema", "nonsense"), 'unknown schema "nonsense". available: "appwrapper/appwrapper"'),
        (("catalog", "nonsense"), 'unknown kind "nonsense". available: "detectors"'),
        (("catalog", "gpus", "nonsense"), 'unknown entry "nonsense". available: "a10"'),
        (("init", "--from", "nonsense"), 'unknown example "nonsense". available: "appwrapper-stress"'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_every_command_says_what_is_wrong(folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    said = kwokgen(folder, *arguments, code=WRONG)
    assert problem in said.splitlines()[0]


@pytest.mark.parametrize(
    ("wrong", "said"), [("[[ nam ]]", "'nam' is undefined"), ("[% if %]", "Expected an expression")]
)
def test_a_mistake_in_a_template_is_shown_at_its_line(folder: Path, wrong: str, said: str) -> None:
    """Case C47: by default a template prints nothing for a word that it does not know."""
    text = (ROOT / "kwokgen" / "catalog" / "workloads" / "job.yaml").read_text(encoding="utf-8")
    file = folder / "more" / "workloads" / "mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        text.replace("  completionMode: Indexed\n", f"  completionMode: Indexed  # {wrong}\n"), encoding="utf-8"
    )
    (folder / "mine.yaml").write_text(blueprint(f"{GOOD}\nworkloads: [{{name: a, kind: mine}}]"), encoding="utf-8")
    line = next(number for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if wrong in line)
    found = kwokgen(folder, "validate", "mine.yaml", "--catalog", "more", code=WRONG)
    assert found.startswith(f"more/workloads/mine.yaml:{line}:")
    assert said in found.splitlines()[0]


@pytest.mark.parametrize(
    ("kind", "template", "place", "said"),
    [
        ("mine", "template: |\n  kind: Job\n  a: [[ pods + name ]]\n", "mine.yaml:8:1:", "unsupported operand"),
        ("mine", "template: |\n  kind: Job\n  a: [[ pod.nothing.at ]]\n", "mine.yaml:8:1:", "has no attribute"),
        ("mine", "template: |\n  kind: Job\n  a: [[ pod.__class__ ]]\n", "mine.yaml:8:1:", "unsafe"),
        ("mine", "template: |\n  kind: Job\n  a: [[ 1 / 0 ]]\n", "mine.yaml:8:1:", "division by zero"),
        ("mine", 'template: "kind: [[ nam ]]"\n', "mine.yaml:6:1:", "'nam' is undefined"),
        ("mine", "template: |\n  kind: Job\n  a: [\n", "mine.yaml:6:1:", "is no document: not YAML"),
        ("mine", "template: |\n  kind: a\n  kind: b\n", "mine.yaml:6:1:", 'key "kind" is given twice'),
        ("other", "template: |\n  kind: Job\n  a: [[ nam ]]\n", "mine.yaml:8:1:", "'nam' is undefined"),
    ],
)
def test_what_a_template_fails_with_is_the_templates_mistake(
    folder: Path, kind: str, template: str, place: str, said: str
) -> None:
    """Also where another entry has it by `extends`."""
    head = 'summary: Mine\nsource: https://example.com\nchecked: "2026-11-28"\nparameters:\n  name: a\n'
    (folder / "more" / "workloads").mkdir(parents=True)
    (folder / "more" / "workloads" / "mine.yaml").write_text(head + template, encoding="utf-8")
    (folder / "more" / "workloads" / "other.yaml").write_text("extends: mine\nsummary: Other\n", encoding="utf-8")
    (folder / "mine.yaml").write_text(blueprint(f"{GOOD}\nworkloads: [{{name: a, kind: {kind}}}]"), encoding="utf-8")
    found = kwokgen(folder, "validate", "mine.yaml", "--catalog", "more", code=WRONG)
    assert found.startswith(f"more/workloads/{place}")
    assert said in found.splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("render",),
        ("nonsense",),
        ("render", "good.yaml", "--nonsense"),
        ("validate", "good.yaml", "--format", "xml"),
        ("render", "good.yaml", "--only", "crds", "-o", "out"),
        ("render", "good.yaml", "-o", ""),
        ("diff", "good.yaml", ""),
        ("diff", "good.yaml"),
    ],
    ids=" ".join,
)
def test_a_wrong_use_ends_with_2(folder: Path, arguments: tuple[str, ...]) -> None:
    said = kwokgen(folder, *arguments, code=USAGE)
    assert "Error: " in said


@pytest.mark.parametrize(
    "arguments", [("render", "good.yaml"), ("validate", "good.yaml"), ("plan", "good.yaml")], ids=" ".join
)
def test_what_is_right_ends_with_0(folder: Path, arguments: tuple[str, ...]) -> None:
    kwokgen(folder, *arguments, code=0)


def test_a_warning_ends_with_1_only_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "open.yaml").write_text(blueprint(GOOD.replace("gpu,", "gpu, fakeTaint: false,")), encoding="utf-8")
    kwokgen(tmp_path, "validate", "open.yaml", code=0)
    said = kwokgen(tmp_path, "validate", "open.yaml", "--strict", code=WRONG)
    assert said.endswith("\n1 warning\n")
    assert command("render", "open.yaml", "--strict", cwd=tmp_path).stdout == b""


@pytest.mark.parametrize(
    ("command_", "reader"),
    [
        ("render good.yaml --set pools.gpu.count=2000", "head -1"),
        ("validate good.yaml --set pools.gpu.count=-1", "true"),
        ("catalog", "true"),
    ],
)
def test_a_closed_pipe_is_silent(folder: Path, command_: str, reader: str) -> None:
    done = shell(folder, f"(sleep 0.2; kwokgen {command_}; echo $? >&2) | {reader}")
    assert done.stderr.decode() == f"{CLOSED_PIPE}\n"


@pytest.mark.parametrize(
    "script",
    [
        "kwokgen render good.yaml > /dev/full",
        "kwokgen catalog > /dev/full",
        "kwokgen init > /dev/full",
        "kwokgen schema > /dev/full",
        "kwokgen plan good.yaml > /dev/full",
        "mkdir empty; kwokgen diff good.yaml empty > /dev/full",
        "kwokgen validate nowhere.yaml > /dev/full",
        "kwokgen validate good.yaml --format json > /dev/full",
        "kwokgen --help > /dev/full",
        "kwokgen --version > /dev/full",
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_a_full_disk_is_the_environments_failure(folder: Path, script: str) -> None:
    done = shell(folder, script)
    assert done.returncode == FAILED
    assert done.stderr.decode() == "kwokgen: cannot write to standard output: no space left on device\n"


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("kwokgen validate - <&-", WRONG, "<stdin>: the file holds no YAML document [empty]\n1 problem\n"),
        ("kwokgen render good.yaml >&-", FAILED, "kwokgen: cannot write to standard output: bad file descriptor\n"),
        ("kwokgen catalog <&- >&-", FAILED, "kwokgen: cannot write to standard output: bad file descriptor\n"),
        ("kwokgen render good.yaml -o out >&-", 0, "out: 7 written, 0 removed, 0 unchanged\n"),
        ("kwokgen render good.yaml -o out <&- >&- 2>&-", 0, ""),
        ("kwokgen render nowhere.yaml 2>&-", WRONG, ""),
    ],
)
def test_a_closed_stream_is_said_to_be_closed(folder: Path, script: str, code: int, said: str) -> None:
    done = shell(folder, script)
    assert (done.returncode, done.stdout.decode() + done.stderr.decode()) == (code, said)


@pytest.mark.parametrize("stderr", ["/dev/full", "/dev/null", ">(true)"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_what_nobody_can_read_changes_nothing(folder: Path, stderr: str) -> None:
    for arguments, code in (("nowhere.yaml", WRONG), ("--nonsense", USAGE), ("good.yaml -o out", 0)):
        done = shell(folder, f"kwokgen render {arguments} 2> {stderr}")
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_letters_that_a_terminal_does_not_know_are_escaped(folder: Path) -> None:
    done = command("validate", "größe.yaml", cwd=folder, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == WRONG
    assert re.match(rb"gr.+e\.yaml: cannot read the file", done.stdout)


def test_an_interrupt_ends_with_130(folder: Path) -> None:
    arguments = [sys.executable, "-m", "kwokgen", "validate", "-"]
    running = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # More than a pipe holds: it is written once kwokgen reads, which then waits for the rest.
        os.write(running.stdin.fileno(), b"# more\n" * 20_000)
        # Python sees a signal that comes between two reads only when the next one returns.
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == INTERRUPTED
    finally:
        running.kill()
    assert running.communicate() == (b"", b"")


@pytest.mark.parametrize("form", ["text", "github"])
def test_what_a_stranger_writes_has_no_lines_and_no_escapes_of_its_own(tmp_path: Path, form: str) -> None:
    name = '"a\\n::error::owned\\e]0;title\\a\\u2028\\u202e"'
    (tmp_path / "own.yaml").write_text(blueprint(GOOD.replace("gpu,", f"{name},")), encoding="utf-8")
    said = kwokgen(tmp_path, "validate", "own.yaml", "--format", form, code=WRONG)
    assert not [line for line in said.splitlines() if line.startswith("::error::")]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", said)


def test_what_a_stranger_writes_is_shown(tmp_path: Path) -> None:
    """The marker stands below what was written, however it is shown."""
    (tmp_path / "own.yaml").write_text(
        blueprint(GOOD.replace("{name: gpu,", '{annotations: {a: "\u202e"}, name: "\\n\\u202e",')), encoding="utf-8"
    )
    said = kwokgen(tmp_path, "validate", "own.yaml", code=WRONG).splitlines()
    excerpt = next(number for number, line in enumerate(said) if line.startswith("7 |") and '"\\n' in line)
    assert r'annotations: {a: "\u202e"}, name: "\n\u202e"' in said[excerpt]
    assert said[excerpt].index('"\\n') == said[excerpt + 1].index("^")
    data = command("validate", "own.yaml", "--format", "json", cwd=tmp_path).stdout.decode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", data)
    assert any("\u202e" in problem["message"] for problem in json.loads(data))


NOTE = "words of an annotation, [red] and more, " * 4 + "größe"
TERMINALS = [{"COLUMNS": "40"}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb", "PYTHONIOENCODING": "ascii"}]


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a blueprint of a long line, and what it is rendered to, as a folder."""
    folder = tmp_path_factory.mktemp("wide")
    spec = GOOD.replace("gpu,", f'gpu, annotations: {{example.com/note: "{NOTE}"}},')
    (folder / "wide.yaml").write_text(blueprint(spec), encoding="utf-8")
    kwokgen(folder, "render", "wide.yaml", "-o", "out", code=0)
    return folder


@pytest.mark.parametrize("terminal", TERMINALS, ids=" ".join)
def test_the_terminal_does_not_change_what_is_rendered(wide: Path, terminal: dict[str, str]) -> None:
    """Case C08: libraries for terminals fold long lines and eat what looks like their markup."""
    done = command("render", "wide.yaml", cwd=wide, env=terminal)
    assert NOTE.encode() in done.stdout
    assert done.stdout == b"".join(file.read_bytes() for file in sorted((wide / "out").glob("*.yaml")))
    assert done.stderr == b""
