"""Static Kubernetes YAML for GPU clusters that do not exist, from one blueprint."""

__version__ = "0.1.0"
