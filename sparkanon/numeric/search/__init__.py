"""Nearest and furthest records without looking at all of them."""
