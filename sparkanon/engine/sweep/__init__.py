"""Many cells of a grid, one after the other."""
