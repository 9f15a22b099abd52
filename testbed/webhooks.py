"""Webhooks that call a program beside the control plane: nobody reaches Services here."""

import base64
from typing import Any

from testbed.cluster import Cluster
from testbed.credentials import CERTIFICATE

CONFIGURATIONS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
"""The kinds that hold them."""


def call(hook: dict[str, Any], cluster: Cluster, port: int) -> str:
    """Let a webhook be called at a port of ours; the URL."""
    url = f"https://127.0.0.1:{port}{hook['clientConfig']['service']['path']}"
    bundle = base64.b64encode((cluster.folder / CERTIFICATE).read_bytes()).decode()
    hook["clientConfig"] = {"url": url, "caBundle": bundle}
    return url
