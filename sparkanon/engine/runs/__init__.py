"""The records of a run: its steps, gates, manifest and measures."""
