"""FIT: what the whole table says, and the spaces that follow from it."""
