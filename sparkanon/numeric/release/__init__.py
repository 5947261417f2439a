"""Kernels that make released values."""
