"""A real Kubernetes control plane on loopback, without containers, for the tests and for people."""
