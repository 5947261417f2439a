"""CUT: which block a row belongs to."""
