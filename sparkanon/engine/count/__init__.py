"""Counting over a whole table: sums that partitions tell, codes of sensitive values."""
