"""How one cell of a release is written and read, whoever wrote it."""
