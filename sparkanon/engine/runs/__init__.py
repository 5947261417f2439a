"""What is kept of a run: its steps, gates, manifest and measures."""
