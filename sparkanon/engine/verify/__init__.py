"""VERIFY: the promise, counted once more on what was staged."""
