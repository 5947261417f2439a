"""Kernels that make groups better: local search and annealing."""
