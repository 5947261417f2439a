"""Counting over a whole table: sums over its partitions, codes of sensitive values."""
