"""Figures that others publish, measured on a real control plane: one module a table, `python -m bench.live NAME` writes NAME.md."""
