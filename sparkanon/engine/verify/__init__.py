"""VERIFY: count on the staged table whether the promise holds."""
