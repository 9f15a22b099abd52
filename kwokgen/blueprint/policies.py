"""What the jobs of a workload do with failed pods, held against the rules that the API server has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen import jobrules
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import Fact
from kwokgen.model.place import Place

WORDS = ("parallelism", "suspend")
"""What else a template may have no place for."""


def policies(scope: Scope, item: Data, at: Place, kind: Fact) -> Mapping[str, Any]:
    """The fields of a JobSpec that the workload has, by their names."""
    found = {key: item[key] for key in jobrules.POLICIES if key in item}
    for key in (*found, *(key for key in WORDS if at.raw(key) and item[key])):
        if not kind.data["parameters"].keys() & {key, f"role.{key}"}:
            message = f"workloads of the kind {kind.name} have no {key}"
            scope.fail(at.key(key), "workload", message, "leave it out, or give the kind's template the parameter")
    for wrong in jobrules.findings(_spec(item, found)) if scope.intact(at) else ():
        pos = at.key(*wrong.path) if len(wrong.path) == 1 else at.pos(*wrong.path)
        scope.fail(pos, "workload", wrong.message, wrong.hint)
    return found


def _spec(item: Data, found: Mapping[str, Any]) -> Data:
    """As much of a JobSpec as the rules ask for."""
    pod = {"restartPolicy": item["restartPolicy"], "containers": [item["container"]]}
    pod["initContainers"] = item["initContainers"]
    return {"completionMode": "Indexed", "completions": item["pods"], "template": {"spec": pod}, **found}
