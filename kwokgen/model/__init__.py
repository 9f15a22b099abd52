"""What a cluster is: frozen values, one module a noun, each named one with the place that wrote it."""
