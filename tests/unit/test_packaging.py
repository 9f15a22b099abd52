"""The same bytes everywhere: any hash seed, folder, Python, and from the wheel alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import pytest

from tests.unit.rendering import BLUEPRINTS, ROOT, command, in_folder

pytestmark = pytest.mark.slow
EXAMPLE = str(BLUEPRINTS / "cl2-dra.yaml")
MINORS = range(11, 16)
OLDEST, NEWEST = "oldest", "newest"


@cache
def _pythons() -> dict[str, str]:
    """The Pythons on PATH that really run, by version from old to new.

    A shim of pyenv runs when it is told the version that it is named after.
    """
    found = {}
    for minor in MINORS:
        version = f"3.{minor}"
        ask = [f"python{version}", "-c", "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"]
        try:
            said = subprocess.run(
                ask, env=os.environ | {"PYENV_VERSION": version}, capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        executable, _, answered = said.stdout.strip().rpartition(" ")
        if answered == version:
            found[version] = executable
    return found


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    """The bundle as it is committed."""
    return in_folder(ROOT / "out" / "cl2-dra")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module", params=[OLDEST, NEWEST])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel and what it depends on, and nothing else."""
    pythons = list(_pythons().items())
    if not pythons:
        pytest.skip("no python3.11 to python3.15 on PATH runs")
    if request.param == NEWEST and len(pythons) == 1:
        pytest.skip(f"Python {pythons[0][0]} is the only one on PATH that runs")
    _, python = pythons[0 if request.param == OLDEST else -1]
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = folder / "bin" / "python"
    subprocess.run([made, "-m", "pip", "install", "--quiet", wheel], check=True)
    return made


def _render(*options: str, cwd: Path, python: str = sys.executable, blueprint: str = EXAMPLE, seed: str = "0") -> bytes:
    """What a render says on stdout; PYTHONPATH must not lead back to the checkout."""
    env = {"PYTHONHASHSEED": seed, "PYTHONPATH": ""}
    done = command("render", blueprint, *options, cwd=cwd, python=(python,), env=env)
    assert (done.returncode, "Traceback" in done.stderr.decode()) == (0, False), done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("seed", ["0", "1"])
def test_hash_seeds(tmp_path: Path, expected: dict[str, bytes], seed: str) -> None:
    """No order of a set reaches the output."""
    _render("-o", "x", cwd=tmp_path, seed=seed)
    assert in_folder(tmp_path / "x") == expected


def test_working_directories(tmp_path: Path, expected: dict[str, bytes]) -> None:
    """Neither where one is, nor how the blueprint is called from there, nor where the output goes shows in it."""
    _render("-o", str(tmp_path / "x"), cwd=ROOT, blueprint="blueprints/cl2-dra.yaml")
    assert in_folder(tmp_path / "x") == expected
    (tmp_path / "deep").mkdir()
    (tmp_path / "other.yaml").write_bytes(Path(EXAMPLE).read_bytes())
    _render("-o", "../y", cwd=tmp_path / "deep", blueprint="../other.yaml")
    assert in_folder(tmp_path / "y") == expected


def test_the_stream_is_the_files_in_byte_order(tmp_path: Path) -> None:
    """`kwokgen render` is `cat DIR/*.yaml`."""
    _render("-o", "x", cwd=tmp_path)
    cat = subprocess.run(
        "cat x/*.yaml", shell=True, cwd=tmp_path, env=os.environ | {"LC_ALL": "C"}, capture_output=True, check=True
    )
    assert _render(cwd=tmp_path) == cat.stdout


def test_the_wheel_is_whole(wheel: Path) -> None:
    """Every module, catalogue file, schema and example is in it as it is here, and nothing else of the checkout."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    here = {f"kwokgen/{path}": data for path, data in in_folder(ROOT / "kwokgen").items() if "__pycache__" not in path}
    for folder in ("schemas", "blueprints"):
        here |= {f"kwokgen/{folder}/{path}": data for path, data in in_folder(ROOT / folder).items()}
    assert sorted(found) == sorted(here)
    assert [path for path, data in here.items() if found[path] != data] == []
    kinds = {
        "kwokgen/schemas/blueprint.schema.json",
        "kwokgen/blueprints/quickstart.yaml",
        "kwokgen/catalog/workloads/job.yaml",
        "kwokgen/catalog/compiled.json",
        "kwokgen/__main__.py",
    }
    assert kinds <= found.keys()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this checkout, made by what pyproject.toml builds with."""
    folder = tmp_path_factory.mktemp("sdist")
    builder = folder / "builder"
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", builder, *wanted], check=True)
    env = os.environ | {"PYTHONPATH": str(builder)}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=ROOT, env=env, check=True
    )
    (built,) = folder.glob("*.tar.gz")
    return built


def test_the_sdist_is_what_a_wheel_is_made_of(sdist: Path) -> None:
    """Nothing of it needs what it leaves out, as the tests do."""
    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    here = {
        f"{folder}/{path}"
        for folder in ("kwokgen", "schemas", "blueprints")
        for path in in_folder(ROOT / folder)
        if "__pycache__" not in path
    }
    here |= {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}
    # What hatchling adds of its own.
    assert found - {"PKG-INFO", ".gitignore"} == here


def test_a_wheel_of_the_sdist_is_that_of_the_checkout(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, sdist]
    subprocess.run(build, check=True)
    (built,) = tmp_path.glob("*.whl")
    assert built.name == wheel.name
    assert built.read_bytes() == wheel.read_bytes()


def test_an_installed_wheel_renders_the_same(installed: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    """Folder and stream, on the oldest and on the newest Python, without the checkout."""
    where = [installed, "-c", "import kwokgen; print(kwokgen.__file__)"]
    assert Path(subprocess.check_output(where, cwd=tmp_path, text=True)).is_relative_to(installed.parents[1])
    _render("-o", "x", cwd=tmp_path, python=str(installed))
    assert in_folder(tmp_path / "x") == expected
    stream = b"".join(data for path, data in sorted(expected.items()) if path.endswith(".yaml"))
    assert _render(cwd=tmp_path, python=str(installed)) == stream


@pytest.mark.parametrize("example", sorted(file.stem for file in BLUEPRINTS.glob("*.yaml")))
def test_an_installed_wheel_has_the_examples(installed: Path, tmp_path: Path, example: str) -> None:
    """`kwokgen init` prints each but for its line for editors, and it is a bundle as it is committed."""
    program = installed.parent / "kwokgen"
    printed = subprocess.check_output([program, "init", "--from", example], cwd=tmp_path)
    assert printed == (BLUEPRINTS / f"{example}.yaml").read_bytes().partition(b"\n")[2]
    subprocess.run([program, "render", "-", "-o", "x"], input=printed, cwd=tmp_path, check=True)
    assert in_folder(tmp_path / "x") == in_folder(ROOT / "out" / example)


def test_an_installed_wheel_has_the_schemas(installed: Path, tmp_path: Path) -> None:
    """`kwokgen schema` prints the blueprint's."""
    printed = subprocess.check_output([installed.parent / "kwokgen", "schema"], cwd=tmp_path)
    assert printed == (ROOT / "schemas" / "blueprint.schema.json").read_bytes()
