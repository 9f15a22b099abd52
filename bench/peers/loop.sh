#!/usr/bin/env bash
# The stream of the quickstart with one heredoc a document: loop.sh NODES HEAD TAIL
set -euo pipefail

device() {
    cat <<EOF
  - name: gpu-$1
    attributes:
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
      uuid:
        string: "GPU-a041dc3a-ecfb-1716-0574-@NUMBER@000$1"
      resource.kubernetes.io/pciBusID:
        string: "$2"
      resource.kubernetes.io/pcieRoot:
        string: "$3"
    capacity:
      memory:
        value: "81559Mi"
EOF
}

# Put together once: with a heredoc a device the loop would take nine times as long.
devices=""
while read -r number bus root; do
    devices+=$'\n'$(device "$number" "$bus" "$root")
done <<EOF
0 0000:53:00.0 pci0000:44
1 0000:64:00.0 pci0000:55
2 0000:75:00.0 pci0000:66
3 0000:86:00.0 pci0000:77
4 0000:97:00.0 pci0000:88
5 0000:a8:00.0 pci0000:99
6 0000:b9:00.0 pci0000:aa
7 0000:ca:00.0 pci0000:bb
EOF

cat "$2"
for ((index = 0; index < $1; index++)); do
    ((index % 2500)) || echo "# kwokgen bundle: quickstart"
    cat <<EOF
---
apiVersion: v1
kind: Node
metadata:
  name: "h100-$index"
  labels:
    app.kubernetes.io/managed-by: kwokgen
    app.kubernetes.io/instance: quickstart
    kubernetes.io/hostname: "h100-$index"
    kubernetes.io/arch: amd64
    kubernetes.io/os: linux
    type: kwok
    kwokgen.io/pool: h100
    kwokgen.io/shard: "$((index % 60))"
    node.kubernetes.io/instance-type: p5.48xlarge
  annotations:
    kwok.x-k8s.io/node: fake
    node.alpha.kubernetes.io/ttl: "0"
spec:
  providerID: "kwok://h100-$index"
  taints:
  - key: kwok.x-k8s.io/node
    value: fake
    effect: NoSchedule
status:
  addresses:
  - type: InternalIP
    address: "10.$((128 + index / 65536)).$((index / 256 % 256)).$((index % 256))"
  - type: Hostname
    address: "h100-$index"
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
EOF
done
for ((index = 0; index < $1; index++)); do
    ((index % 2500)) || echo "# kwokgen bundle: quickstart"
    printf -v number %08x "$index"
    cat <<EOF
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: "h100-$index-gpu.nvidia.com"
  labels:
    app.kubernetes.io/managed-by: kwokgen
    app.kubernetes.io/instance: quickstart
    kwokgen.io/pool: h100
spec:
  driver: gpu.nvidia.com
  nodeName: "h100-$index"
  pool:
    name: "h100-$index"
    generation: 1
    resourceSliceCount: 1
  devices:${devices//@NUMBER@/$number}
EOF
done
cat "$3"
