"""kwokgen and the API server agree on every selector: what one takes, the other takes."""

import json

import pytest

from kwokgen import cel
from testbed.cluster import Cluster
from tests.live.conftest import minor_of

pytestmark = [pytest.mark.live, pytest.mark.newest]

G = "device.attributes['gpu.nvidia.com']"
RIGHT = [
    "device.driver == 'gpu.nvidia.com'",
    f"{G}.type == 'gpu' && {G}.productName.startsWith('NVIDIA')",
    f"{G}.productName.lowerAscii().matches('h[12]00')",
    f"{G}.?type.orValue('') == 'mig'",
    f"{G}[?'type'].hasValue()",
    f"has({G}.type)",
    "'gpu.nvidia.com' in device.attributes",
    f"{G}['type'] in ['gpu', 'mig']",
    "device.attributes['a'].n > 5 ? true : false",
    "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('60Gi')) > 0",
    "device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('60Gi'))",
    "device.capacity['a'].memory.add(quantity('1Gi')).sub(5).asInteger() > 3",
    "isQuantity('60Gi') && quantity('1.5').asApproximateFloat() < 2.0",
    f"{G}.driverVersion.isGreaterThan(semver('535.0.0'))",
    f"{G}.driverVersion.compareTo(semver('v535.0', true)) >= 0",
    f"{G}.driverVersion.major() >= 535 && {G}.driverVersion.minor() >= 0 && {G}.driverVersion.patch() >= 0",
    "isSemver('1.2.3') && isSemver('v1.2', true)",
    f"cel.bind(gpu, {G}, gpu.type == 'gpu' && gpu.brand == 'Nvidia')",
    "device.allowMultipleAllocations",
    "['a', 'b'].exists(name, device.driver == name)",
    "device.driver.split('.').size() == 3 && device.driver.replace('gpu', 'nic') != ''",
    "size(device.driver) < 20 && int('5') == 5 && string(5) == '5'",
    "true",
    "device.attributes['a'].x",
    "device.driver.find('[a-z]+') == 'gpu'",
    "ip('10.0.0.1').family() == 4",
    "device.attributes['a'].tags.includes('x')",
    "2 > 1.5 && 1u < 2 && 2.0 >= 1u && device.driver.size() > 1.5",
    f"{G}.x > 1.5",
    f"has({G}.x) && {G}.x == 1",
    f"!has({G}.x) || {G}.x == 1",
    f"{G}.?productName.orValue('') == 'NVIDIA L40S'",
    "!has(device.driver)",
    "device.?driver.orValue('') == 'a'",
    "device.driver.matches('a' + '(')",
    "[?optional.of(1), 2].size() == 2 && [[], [1]].size() == 2",
    "dyn(1) == 'a'",
]
WRONG = [
    "device.driver = 'a'",
    "device.driver == 'a' and true",
    "device.driver == 'a",
    "1 + 1",
    "'text'",
    "device.driver",
    "device.capacity['a'].memory",
    "device.capacity['a'].memory > 5",
    "device.capacity['a'].memory.compareTo(60) > 0",
    "device.driver == 1",
    "device.drivers == 'a'",
    "device.attribute['a'].x == 1",
    "gpu.type == 'gpu'",
    "foo.bar()",
    "quantity(5).isInteger()",
    "device.driver.startsWith(1)",
    "device.driver.lower() == 'a'",
    "semver('1.2.3').compareTo(quantity('1')) == 0",
    "quantity('1').sign() == 1",
    "1 == 1.5",
    "1 in [1.5]",
    "1 + 1.5 > 2",
    f"has({G}.x) ? 'a' : 'b'",
    "device == 'a'",
    "device['driver'] == 'a'",
    "has(device.foo)",
    "device.driver.find('a') == '' && foo == 1",
    "device.driver in ['a', 1]",
    f"{G}.x in [1, 1.5]",
    f"[{G}.x, 1] == []",
    "{'a': 1, 'b': 'c'}.size() == 2",
    "[1, 2].exists(x, x in [1, 'a'])",
    "device.driver.matches('(')",
    "matches(device.driver, '[')",
    "device.driver.matches('(?!a)b')",
    "device.driver.matches(r'a{1001}')",
    "timestamp('x') == timestamp('y')",
    "duration('5x') == duration('1s')",
    "",
    " ",
]


def server(cluster: Cluster, expression: str) -> str:
    """What the server says against a class with a selector; nothing when it takes it."""
    document = {
        "apiVersion": f"resource.k8s.io/{minor_of(cluster.minor).resource_api}",
        "kind": "DeviceClass",
        "metadata": {"name": "one"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    done = cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(document), check=False)
    return done.stderr if done.returncode else ""


SINCE = {".includes(": "1.36", "', true)": "1.34", "device.allowMultipleAllocations": "1.34"}
"""The first minor whose server knows a part; kwokgen names these as features."""


@pytest.mark.parametrize("expression", RIGHT)
def test_what_the_server_takes(expression: str, gated: Cluster) -> None:
    assert cel.mistakes(expression) == ()
    said = server(gated, expression)
    if any(part in expression and gated.minor < first for part, first in SINCE.items()):
        assert "undeclared reference" in said or "no matching overload" in said or "undefined field" in said
    else:
        assert said == ""


@pytest.mark.parametrize("expression", WRONG)
def test_what_the_server_refuses(expression: str, gated: Cluster) -> None:
    assert server(gated, expression) != ""
    assert cel.mistakes(expression) != ()
