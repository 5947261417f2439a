"""Kernels that make groups."""
