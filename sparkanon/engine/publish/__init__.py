"""PUBLISH: the staged table becomes the release, or nothing does."""
