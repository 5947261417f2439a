"""Original and release side by side."""
