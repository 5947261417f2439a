"""What the papers report, and how it is reproduced: one file a paper."""
