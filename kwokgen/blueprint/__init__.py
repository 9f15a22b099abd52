"""Text to model: `source` reads, `variants` merges, `shape` checks, `resolve` names everything."""
