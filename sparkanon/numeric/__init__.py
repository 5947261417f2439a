"""Shared number code: arrays in, arrays out. No Spark, no policy, no files."""
