"""What a bundle's README says of the end: the commands that take away what another render no longer has, or all of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kwokgen.model.cluster import Cluster
from kwokgen.series import Series

ALWAYS = (
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    *(("v1", kind) for kind in ("ConfigMap", "Namespace", "Node", "Pod", "ResourceQuota", "Service", "ServiceAccount")),
)
"""Every kind that a bundle can have and that every cluster knows."""
DEVICES = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")


def text(cluster: Cluster, series: Sequence[Series], apply: str) -> Iterator[str]:
    """Its lines."""
    label = selector(cluster)
    documents = [document for one in series for run in one.runs for document in run.shape.documents]
    written = {(document["apiVersion"], document["kind"]) for document in documents}
    # Also what is not written now: a render before this one may have written it.
    possible = written | set(ALWAYS)
    if not cluster.kubernetes.runtime_config:
        possible |= {(f"resource.k8s.io/{cluster.kubernetes.resource_api}", kind) for kind in DEVICES}
    rules = cluster.kubernetes.features.get("device-taint-rules")
    if rules and rules.api and not rules.runtime_config:
        possible.add((f"resource.k8s.io/{rules.api}", "DeviceTaintRule"))
    if cluster.queues.queues:
        possible |= {(version, kind) for kind, version in cluster.queues.system.kinds.items()}
    kinds = sorted({_deleted(version, kind, possible) for version, kind in possible})
    versions = sorted({_allowed(version, kind) for version, kind in possible})
    yield "## Change, and delete"
    yield ""
    yield "After another render, `apply` with prune removes what is no longer there, of the kinds that this one may have. Kinds of others"
    yield "that only the render before had (its jobs or queues were of another kind) are not among them: delete those objects first."
    yield ""
    yield "```sh"
    yield f"{apply} -f . --prune {label} \\"
    yield " \\\n".join(f"  --prune-allowlist={version}" for version in versions)
    yield f"kubectl delete {','.join(kinds)} {label} --all-namespaces"
    yield "```"
    yield ""
    yield from _cohorts(cluster)


def _cohorts(cluster: Cluster) -> Iterator[str]:
    """Volcano deletes from the bottom up alone, and kubectl in the order of names."""
    queues = cluster.queues
    if queues.system.form == "volcano" and queues.cohorts:
        yield "Volcano refuses to delete a queue as long as others are below it, so that the last command leaves some. Then, one after another:"
        yield ""
        yield "```sh"
        for cohort in reversed(queues.cohorts):
            yield f"kubectl delete --ignore-not-found queues.scheduling.volcano.sh {cohort.name}"
        yield "```"
        yield ""


def _deleted(version: str, kind: str, all_kinds: Collection[tuple[str, str]]) -> str:
    """A kind as `kubectl delete` is told of it: with its group where Kubernetes has one of the same name."""
    group = version.rpartition("/")[0]
    own = group.endswith(".k8s.io") or "." not in group
    alone = {other.rpartition("/")[0] for other, same in all_kinds if same == kind} == {group}
    return kind.lower() if own or alone else f"{kind.lower()}s.{group}"


def _allowed(version: str, kind: str) -> str:
    return f"{version if '/' in version else f'core/{version}'}/{kind}"


def selector(cluster: Cluster) -> str:
    """Both labels: a Helm release may be called as the bundle, and has the first as well."""
    return f"-l app.kubernetes.io/instance={cluster.name},app.kubernetes.io/managed-by=kwokgen"
