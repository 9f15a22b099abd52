"""A folder in; in it the certificate, keys and tokens that a control plane on 127.0.0.1 needs, and kubeconfigs."""

import json
import secrets
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

CERTIFICATE, KEY, SERVICE_ACCOUNT_KEY, TOKENS = "tls.crt", "tls.key", "service-account.key", "tokens.csv"


def write(folder: Path) -> str:
    """Write all of them; the answer is the administrator's token."""
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / CERTIFICATE).write_bytes(_certificate(key).public_bytes(Encoding.PEM))
    _secret(folder / KEY, _pem(key))
    _secret(folder / SERVICE_ACCOUNT_KEY, _pem(ec.generate_private_key(ec.SECP256R1())))
    token = secrets.token_hex(16)
    _secret(folder / TOKENS, f'{token},admin,admin,"system:masters"\n')
    return token


def write_kubeconfig(file: Path, *, port: int, token: str) -> None:
    """A kubeconfig beside the certificate, for whoever holds `token`."""
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(file.parent / CERTIFICATE)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": cluster}],
        "users": [{"name": "testbed", "user": {"token": token}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "testbed"}}],
        "current-context": "testbed",
    }
    _secret(file, json.dumps(content, indent=1))


def _certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kwokgen testbed")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=365))
    builder = builder.add_extension(names, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.sign(key, hashes.SHA256())


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    # Not PKCS8: the API server reads public keys out of this form only.
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def _secret(file: Path, content: str) -> None:
    file.touch(mode=0o600)
    file.write_text(content)
