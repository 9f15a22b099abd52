"""Ports and a folder in, the command line of each program of a control plane out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import programs
from testbed.credentials import CERTIFICATE, KEY, SERVICE_ACCOUNT_KEY, TOKENS

KUEUE_CERTIFICATES = Path("kueue", "metrics", "certs")
"""Below /etc, where Kueue reads the certificate of its metrics: a path that no option changes."""
AUDIT = "audit.log"
"""Who asked the API server for what: one JSON object a line."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the command lines of one control plane have in common."""

    minor: str
    folder: Path
    kubeconfig: Path
    gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    grace: int = 60
    audit: bool = False

    def program(self, name: str) -> str:
        """The built program of this minor."""
        return str(programs.path(f"kubernetes-{self.minor}", name))

    def build(self) -> None:
        """Build all that is needed, on the first use on this machine."""
        self.program("kube-apiserver")
        programs.path("etcd", "etcd")
        programs.path("kwok", "kwok")


def etcd(plan: Plan, *, port: int, peer_port: int) -> list[str]:
    """A throw-away store: it need not survive a power cut, but may have to hold ten thousand nodes."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(programs.path("etcd", "etcd")),
        f"--data-dir={plan.folder / 'etcd'}",
        f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync", "--quota-backend-bytes=8589934592", "--log-level=warn",
    ]  # fmt: skip


def apiserver(plan: Plan, *, port: int, etcd_port: int) -> list[str]:
    """The API server; RBAC decides, so a bundle's missing rule shows."""
    return [
        plan.program("kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1", f"--secure-port={port}", *_serving(plan),
        # Without these two a machine that has no default route starts none; nobody reaches Services here.
        "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
        f"--token-auth-file={plan.folder / TOKENS}", "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={plan.folder / SERVICE_ACCOUNT_KEY}",
        f"--service-account-signing-key-file={plan.folder / SERVICE_ACCOUNT_KEY}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--max-requests-inflight=1000", "--max-mutating-requests-inflight=500",
        *_listed("--runtime-config", plan.runtime_config), *_listed("--feature-gates", plan.gates), *_audited(plan),
    ]  # fmt: skip


def controller_manager(plan: Plan, *, port: int) -> list[str]:
    """The controllers, each under its own account as in a real cluster."""
    return [
        plan.program("kube-controller-manager"), *_client(plan, port),
        f"--service-account-private-key-file={plan.folder / SERVICE_ACCOUNT_KEY}",
        f"--root-ca-file={plan.folder / CERTIFICATE}",
        "--use-service-account-credentials=true", f"--node-monitor-grace-period={plan.grace}s",
    ]  # fmt: skip


def scheduler(plan: Plan, *, port: int) -> list[str]:
    """The scheduler, as it comes; whoever is on this machine may read its metrics."""
    return [
        plan.program("kube-scheduler"), *_client(plan, port),
        "--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics",
    ]  # fmt: skip


def kwok(*, kubeconfig: Path, config: Path, port: int) -> list[str]:
    """The fake kubelets, as a process: no kubelet would run the bundle's Deployment."""
    return [
        str(programs.path("kwok", "kwok")),
        f"--kubeconfig={kubeconfig}", f"--config={config}",
        "--node-ip=127.0.0.1", f"--server-address=127.0.0.1:{port}",
    ]  # fmt: skip


def operator(name: str, *, kubeconfig: Path, config: Path | str) -> list[str]:
    """Kueue or the controller of a kind of workloads, outside of the cluster; `config` is a file, or a ConfigMap's name."""
    return [str(programs.path(name, name)), f"--kubeconfig={kubeconfig}", f"--config={config}"]


def configuration(api: str, *, certificates: Path, health: int, webhook: int) -> dict[str, Any]:
    """The Configuration of such a program, which keeps to loopback; three projects have it in the same words."""
    return {
        "apiVersion": api, "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"}, "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False}, "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 500, "burst": 1000},
    }  # fmt: skip


def kueue_config(wanted: dict[str, Any], *, certificates: Path, health: int, webhook: int) -> dict[str, Any]:
    """Kueue's with what a bundle wants of it; the API server knows of no webhook, which must be served all the same."""
    return {
        **configuration("config.kueue.x-k8s.io/v1beta2", certificates=certificates, health=health, webhook=webhook),
        "integrations": {"frameworks": ["batch/job"]},
        **wanted,
        # It would serve on a port of all addresses.
        "featureGates": {"VisibilityOnDemand": False, **wanted.get("featureGates", {})},
    }  # fmt: skip


def _serving(plan: Plan) -> tuple[str, str]:
    return f"--tls-cert-file={plan.folder / CERTIFICATE}", f"--tls-private-key-file={plan.folder / KEY}"


def _audited(plan: Plan) -> list[str]:
    if not plan.audit:
        return []
    policy = plan.folder / "audit-policy.json"
    rule = {"level": "Metadata", "omitStages": ["RequestReceived"]}
    policy.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [rule]}))
    return [f"--audit-policy-file={policy}", f"--audit-log-path={plan.folder / AUDIT}"]


def _client(plan: Plan, port: int) -> list[str]:
    return [
        f"--kubeconfig={plan.kubeconfig}", "--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000",
        "--bind-address=127.0.0.1", f"--secure-port={port}", *_serving(plan),
        *_listed("--feature-gates", plan.gates),
    ]  # fmt: skip


def _listed(flag: str, values: Sequence[str]) -> list[str]:
    return [f"{flag}={','.join(values)}"] if values else []
