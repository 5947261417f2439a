"""3 COARSE: the tree that cuts a table into blocks a kernel can hold."""

from sparkanon.blocks.fit import Sample, fit_tree, hashed_tree, rows_of_a_block
from sparkanon.blocks.tree import Among, Below, Cut, Hashed, Leaf, Node, Tree

__all__ = [
    "Among",
    "Below",
    "Cut",
    "Hashed",
    "Leaf",
    "Node",
    "Sample",
    "Tree",
    "fit_tree",
    "hashed_tree",
    "rows_of_a_block",
]
