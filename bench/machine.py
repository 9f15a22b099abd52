"""What the numbers were measured on; no names of hosts, no paths."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.layer import program


def machine() -> str:
    """The date, the machine, and the versions of what raced on it."""
    return f"{hardware()}; {', '.join(_peers())}."


def hardware() -> str:
    """The date, the machine, its system and Python."""
    date = datetime.now(UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release()}"
    return f"{date}; {_cpu()}, {os.cpu_count()} cores; {system}; {python}"


def _cpu() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except FileNotFoundError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _peers() -> list[str]:
    helm = _said(str(program("helm")), "version", "--template", "{{.Version}}")
    bash = _said("bash", "-c", "echo ${BASH_VERSION%%(*}")
    return [f"helm {helm.removeprefix('v')}", f"Jinja2 {version('jinja2')}", f"bash {bash}"]


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
