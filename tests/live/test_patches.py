"""What kwokgen refuses of a patched object the API server refuses as well, and no other: each file of such patches."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kwokgen.bundle import File
from kwokgen.pipeline import render
from kwokgen.problem import KwokgenError
from testbed.cluster import Cluster
from tests.live.rendering import ROOT

pytestmark = pytest.mark.live

FILES = ("patch-of-a-pods-words", "patch-of-words-and-names")
FINDING = re.compile(r"(?P<kind>\w+) (?P<name>[\w.-]+): (?P<said>.+)")
KINDS = {"Deployment", "Job", "Namespace", "Node"}
"""Those that every cluster has, and that files patch."""
OF_ITS_PODS = ("begins or ends with a space", "has no domain")
"""What is refused of each pod that a template makes, and not of the template."""
DRY_RUN = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
LATER = {("Node", "gpu-2")}
"""Leading zeros of a network, which servers refuse from 1.36 on only."""


@pytest.mark.parametrize("name", FILES)
def test_patches_are_refused_for_what_the_server_refuses(
    name: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By object: no more mistakes than the server finds, and some where it finds some.

    1.34 drops restart policies of init containers without a word: dropContainerRestartRules in pkg/api/pod/util.go.
    """
    text = (ROOT / "tests" / "problems" / f"{name}.yaml").read_text().replace('"1.37"', f'"{cluster.minor}"')
    (tmp_path / "b.yaml").write_text("\n".join(line for line in text.splitlines() if "status: {conditions" not in line))
    ours = found(tmp_path / "b.yaml")
    monkeypatch.setattr("kwokgen.pipeline.verify", lambda *_: ())
    for each in objects(render(str(tmp_path / "b.yaml")).bundle().files):
        key = (each["kind"], each["metadata"]["name"])
        said = cluster.kubectl(*DRY_RUN, stdin=json.dumps(each), check=False)
        mistakes = [text for text in ours[key] if not text.endswith(OF_ITS_PODS)]
        assert bool(mistakes) == (said.returncode != 0) or key in LATER, (key, mistakes, said.stderr)
        told = [text for text in mistakes if cluster.minor != "1.34" or ".restartPolicy: " not in text]
        assert len(told) <= max(said.stderr.count("\n* "), 1), (key, told, said.stderr)


def found(file: Path) -> dict[tuple[str, str], list[str]]:
    """By object, what kwokgen has against it."""
    with pytest.raises(KwokgenError) as refused:
        render(str(file))
    done = defaultdict(list)
    for problem in refused.value.problems:
        if said := FINDING.fullmatch(problem.message):
            done[said["kind"], said["name"]].append(said["said"])
    return done


def objects(files: tuple[File, ...]) -> list[dict[str, Any]]:
    """The objects of kinds that the files patch, in a namespace that is there, without KWOK's own."""
    parsed = [YAML(typ="safe").load_all(b"".join(file.pieces())) for file in files if file.applied]
    done = [each for documents in parsed for each in documents if each and each["kind"] in KINDS]
    for each in done:
        if "namespace" in each["metadata"]:
            each["metadata"]["namespace"] = "default"
    return done
