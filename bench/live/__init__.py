"""The seeds' own figures, on a real control plane: one module a table, `python -m bench.live NAME` writes NAME.md."""
