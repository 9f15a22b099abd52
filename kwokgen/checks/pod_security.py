"""Labels of namespaces by which the API server admits pods."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster, Namespace
from kwokgen.problem import Problem, nearest, quoted

ID = "pod-security"
SUMMARY = "Namespaces admit the pods of their workloads"
LABEL = "pod-security.kubernetes.io/"
MODES = ("enforce", "audit", "warn")
LEVELS = ("privileged", "baseline", "restricted")
"""https://kubernetes.io/docs/concepts/security/pod-security-standards/"""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Levels that there are not, and one that our pods do not reach."""
    for namespace in cluster.namespaces:
        yield from _levels(namespace)
        if namespace.labels.get(f"{LABEL}enforce") == "restricted" and _bare(cluster, namespace):
            message = "no pod is admitted: restricted asks for a securityContext, which no workload here has"
            hint = "write baseline, or give the pods one by a patch"
            yield Problem(namespace.at.pos("labels", f"{LABEL}enforce"), ID, message, hint)


def _levels(namespace: Namespace) -> Iterator[Problem]:
    for mode in MODES:
        level = namespace.labels.get(f"{LABEL}{mode}", LEVELS[0])
        if level not in LEVELS:
            near = nearest(level, LEVELS)
            hint = f'did you mean "{near}"?' if near else ""
            pos = namespace.at.pos("labels", f"{LABEL}{mode}")
            yield Problem(pos, ID, f'"{level}" is no level of pod security. available: {quoted(LEVELS)}', hint)


def _bare(cluster: Cluster, namespace: Namespace) -> bool:
    """Whether pods come from our own templates, and no patch gives them what they lack."""
    inside = [each for each in cluster.workloads if each.namespace == namespace.name]
    patched = any("securityContext" in str(patch.merge) for patch in cluster.patches)
    return bool(inside) and not patched and not any("securityContext" in each.template.text for each in inside)
