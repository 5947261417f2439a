"""Small requests to the servers of these tests."""

from __future__ import annotations

import urllib.error
import urllib.request


def send(verb: str, url: str, content: bytes | None = None) -> bytes:
    """What is answered; FileNotFoundError for a 404."""
    asked = urllib.request.Request(url, data=content, method=verb)
    asked.add_header("Content-Type", "application/octet-stream")
    try:
        with urllib.request.urlopen(asked) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise FileNotFoundError(url) from None
        raise OSError(f"{verb} {url}: {error.read()[:500]!r}") from None
