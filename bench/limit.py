"""The floor: the fastest script found that a person would write by hand for this one bundle, one f-string a document.

`limit.py NODES CONSTANTS FOLDER` writes, byte for byte, what `kwokgen render` writes for the quickstart with that many nodes.
"""

# ruff: noqa: PTH103, PTH123, PTH208 - this is the floor, and pathlib alone would make a small run half as long again
import os
import sys

NODES_A_FILE = 2_500
BUFFER = 1024 * 1024
# A person's script would hold the files that do not grow with the nodes as texts. They are read and written inside of
# the time that is measured; that they are the right ones for so many nodes (controllers, shards) is a gift.
# What is the same in all devices is said once here: spelled out eight times it is not faster, and 200 lines longer.
FIXED = """\
      type:
        string: gpu
      brand:
        string: Nvidia
      driverVersion:
        version: "580.105.8"
      cudaDriverVersion:
        version: "13.0.0"
      productName:
        string: "NVIDIA H100 80GB HBM3"
      architecture:
        string: Hopper
      cudaComputeCapability:
        version: "9.0.0"
      addressingMode:
        string: HMM
"""


def node(index: int) -> str:
    name = f"h100-{index}"
    return f"""\
---
apiVersion: v1
kind: Node
metadata:
  name: "{name}"
  labels:
    app.kubernetes.io/managed-by: kwokgen
    app.kubernetes.io/instance: quickstart
    kubernetes.io/hostname: "{name}"
    kubernetes.io/arch: amd64
    kubernetes.io/os: linux
    type: kwok
    kwokgen.io/pool: h100
    kwokgen.io/shard: "{index % 60}"
    node.kubernetes.io/instance-type: p5.48xlarge
  annotations:
    kwok.x-k8s.io/node: fake
    node.alpha.kubernetes.io/ttl: "0"
spec:
  providerID: "kwok://{name}"
  taints:
  - key: kwok.x-k8s.io/node
    value: fake
    effect: NoSchedule
status:
  addresses:
  - type: InternalIP
    address: "10.{128 + (index >> 16)}.{index >> 8 & 255}.{index & 255}"
  - type: Hostname
    address: "{name}"
  capacity:
    cpu: "192"
    memory: "2Ti"
    ephemeral-storage: "28312Gi"
    pods: "100"
  allocatable:
    cpu: "191450m"
    memory: "2095697Mi"
    ephemeral-storage: "28312Gi"
    pods: "100"
  nodeInfo:
    architecture: amd64
    bootID: ""
    containerRuntimeVersion: "containerd://2.1.0"
    kernelVersion: "6.8.0"
    kubeProxyVersion: ""
    kubeletVersion: v1.37.2
    machineID: ""
    operatingSystem: linux
    osImage: KWOK
    systemUUID: ""
"""


def slices(index: int) -> str:
    name = f"h100-{index}"
    number = f"{index:08x}"
    return f"""\
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: "{name}-gpu.nvidia.com"
  labels:
    app.kubernetes.io/managed-by: kwokgen
    app.kubernetes.io/instance: quickstart
    kwokgen.io/pool: h100
spec:
  driver: gpu.nvidia.com
  nodeName: "{name}"
  pool:
    name: "{name}"
    generation: 1
    resourceSliceCount: 1
  devices:
  - name: gpu-0
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0000"
      resource.kubernetes.io/pciBusID:
        string: "0000:53:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:44"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-1
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0001"
      resource.kubernetes.io/pciBusID:
        string: "0000:64:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:55"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-2
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0002"
      resource.kubernetes.io/pciBusID:
        string: "0000:75:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:66"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-3
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0003"
      resource.kubernetes.io/pciBusID:
        string: "0000:86:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:77"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-4
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0004"
      resource.kubernetes.io/pciBusID:
        string: "0000:97:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:88"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-5
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0005"
      resource.kubernetes.io/pciBusID:
        string: "0000:a8:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:99"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-6
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0006"
      resource.kubernetes.io/pciBusID:
        string: "0000:b9:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:aa"
    capacity:
      memory:
        value: "81559Mi"
  - name: gpu-7
    attributes:
{FIXED}      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-{number}0007"
      resource.kubernetes.io/pciBusID:
        string: "0000:ca:00.0"
      resource.kubernetes.io/pcieRoot:
        string: "pci0000:bb"
    capacity:
      memory:
        value: "81559Mi"
"""


def main(nodes: int, constants: str, folder: str) -> None:
    os.makedirs(folder)
    for name in os.listdir(constants):
        with open(f"{constants}/{name}", "rb") as source, open(f"{folder}/{name}", "wb") as target:
            target.write(source.read())
    for first in range(0, nodes, NODES_A_FILE):
        part = f".{first // NODES_A_FILE:04d}.yaml" if nodes > NODES_A_FILE else ".yaml"
        rows = range(first, min(first + NODES_A_FILE, nodes))
        # One document a write: joined to pieces of a MiB first, the same took more than twice as long.
        with open(f"{folder}/40-nodes-h100{part}", "wb", buffering=BUFFER) as file:
            file.write(b"# kwokgen bundle: quickstart\n")
            file.writelines(node(index).encode() for index in rows)
        with open(f"{folder}/50-slices-h100{part}", "wb", buffering=BUFFER) as file:
            file.write(b"# kwokgen bundle: quickstart\n")
            file.writelines(slices(index).encode() for index in rows)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
