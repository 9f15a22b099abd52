"""Forms that Kubernetes asks of strings in objects only; a blueprint has no such strings."""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime

from kwokgen.formats import FORMATS, MOMENT, MOST_LABEL, Format, is_subdomain

ENV_NAME = r"[ -<>-~]+"
URL_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
POLICY_VERSION = r"latest|v1\.(0|[1-9][0-9]*)"


def is_address(text: str) -> bool:
    """An IPv4 or IPv6 address; one with leading zeros is one until 1.36.

    https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/util/validation/ip.go, IsValidIPForLegacyField.
    """
    try:
        # Python takes zones, which Go does not.
        return "%" not in text and bool(ipaddress.ip_address(re.sub(r"\b0+(?=[0-9])", "", text)))
    except ValueError:
        return False


def is_network(text: str) -> bool:
    """An address and the length of its network; bits of the host may be set until 1.36.

    https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/util/validation/ip.go, IsValidCIDRForLegacyField.
    """
    address, _, length = text.partition("/")
    longest = 128 if ":" in address else 32
    return is_address(address) and re.fullmatch("[0-9]{1,9}", length) is not None and int(length) <= longest


def is_env_name(text: str) -> bool:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsRelaxedEnvVarName."""
    return re.fullmatch(ENV_NAME, text) is not None


def is_manager(text: str) -> bool:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsDomainPrefixedPath."""
    domain, _, path = text.partition("/")
    return len(text) <= MOST_LABEL and is_subdomain(domain) and re.fullmatch(URL_PATH, path) is not None


def is_policy_version(text: str) -> bool:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/pod-security-admission/api/helpers.go, ParseVersion."""
    return re.fullmatch(POLICY_VERSION, text) is not None


def is_time(text: str) -> bool:
    """RFC 3339 of any year: a moment of a blueprint has fewer.

    https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/time.go, UnmarshalJSON.
    """
    try:
        return re.fullmatch(MOMENT, text) is not None and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _name_meant(text: str) -> str:
    return re.sub(r"[^a-z0-9.-]", "-", text.lower()).strip("-.")


ADDRESS = Format(is_address, "an IP address", "such as 10.0.0.10 or fd00::10")
NETWORK = Format(is_network, "a network", "an address and its length, such as 10.0.0.0/24 or fd00::/64")
VARIABLE = Format(is_env_name, "the name of a variable", "printable ASCII without '=', such as NCCL_DEBUG")
MANAGER = Format(is_manager, "a manager", "domain/path of at most 63, such as example.com/controller")
NAME = FORMATS["dns-subdomain"]._replace(suggest=_name_meant)
QUALIFIED = FORMATS["label-key"]._replace(what="a qualified name")
POLICY = Format(is_policy_version, "a version of the pod security standards", "latest, or a minor such as v1.37")
TIME = FORMATS["moment"]._replace(test=is_time, allowed='such as "2026-12-01T10:00:00Z"')
