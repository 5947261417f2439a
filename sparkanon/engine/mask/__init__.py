"""MASK: groups and their released values, block by block, into a private folder."""
