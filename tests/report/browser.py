"""Chromium, driven over its own pipe: no driver, no websocket, nothing to install but chromium.

`--remote-debugging-pipe` speaks the DevTools protocol on file descriptors 3 (in) and 4 (out), one
JSON object after the other with a zero byte between.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Popen cannot hand a pipe over under a number of our choice, so a small program in between does.
_HAND_OVER = (
    "import os,sys;os.dup2(int(sys.argv[1]),3);os.dup2(int(sys.argv[2]),4);"
    "os.execvp(sys.argv[3],sys.argv[3:])"
)
_PATIENCE = 60.0


def find_chromium() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Page:
    """One open tab, with everything it complained about and everything it asked for."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self._held = b""
        self._number = 0
        self._session: str | None = None
        self._first = ""
        self.events: list[dict[str, Any]] = []

    def open(self, url: str) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        answer = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self._first = url
        self.navigate(url)

    def navigate(self, url: str) -> None:
        """Open an address and wait until it is there; what the page before did is forgotten."""
        self.run("window.leaving = true")
        self.events.clear()
        self.send("Page.navigate", url=url)
        self.wait_for("window.leaving === undefined && document.readyState === 'complete'")

    def reload(self) -> None:
        # by way of an empty page, or an address with a # would only scroll
        self.navigate("about:blank")
        self.navigate(self._first)

    def send(self, method: str, **params: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._out], [], [], max(end - time.monotonic(), 0))
            assert ready, "chromium does not answer"
            more = os.read(self._out, 1 << 16)
            assert more, "chromium has ended"
            self._held += more
        first, self._held = self._held.split(b"\0", 1)
        return dict(json.loads(first))

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """A real click: by mouse, where the element is, so that what covers it gets it instead."""
        name = json.dumps(selector)
        self.run(f"document.querySelector({name})"
                 ".scrollIntoView({block: 'center', behavior: 'instant'})")  # fmt: skip
        box = self.run(
            f"(() => {{const b = document.querySelector({name}).getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]})()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed: dict[str, Any] = {"button": "left", "clickCount": 1}
            extra = {} if kind == "mouseMoved" else pressed
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], **extra)

    def pick(self, selector: str, value: str) -> None:
        """Choose from a list by keyboard; a headless browser draws no popup to click on."""
        found = f"document.querySelector({json.dumps(selector)})"
        at = self.run(
            f"[...{found}.options].findIndex(option => option.value === {json.dumps(value)})"
        )
        self.run(f"{found}.focus()")
        self.press("Home", 36)
        for _ in range(at):
            self.press("ArrowDown", 40)
        assert self.run(f"{found}.value") == value

    def type(self, selector: str, words: str) -> None:
        self.click(selector)
        self.send("Input.insertText", text=words)

    def press(self, key: str, code: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **text)  # fmt: skip

    def size(self, width: int, height: int) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip

    def media(self, scheme: str = "light", kind: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=kind, features=features)

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, violations of the policy."""
        levels = ("error", "warning")
        bad = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if (
                method == "Runtime.exceptionThrown"
                or (method == "Runtime.consoleAPICalled" and params["type"] in levels)
                or (method == "Log.entryAdded" and params["entry"]["level"] in levels)
            ):
                bad.append(json.dumps(params))
        return bad

    def requests(self) -> list[str]:
        """All that was asked for, but for what stands in the page itself."""
        sent = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        urls = [str(params["request"]["url"]) for params in sent]
        return [url for url in urls if not url.startswith(("data:", "blob:", "about:"))]


@contextmanager
def open_page(url: str, folder: Path) -> Iterator[Page]:
    """A fresh browser with nothing in it; it is gone afterwards."""
    program = find_chromium()
    assert program is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # above 10, so that handing over as 3 and 4 overwrites neither
    theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
    os.close(theirs_in)
    os.close(theirs_out)
    process = subprocess.Popen(
        [sys.executable, "-c", _HAND_OVER, *map(str, theirs), program, "--headless=new",
         "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe"],
        pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for fd in theirs:
        os.close(fd)
    page = Page(ours_out, ours_in)
    try:
        page.open(url)
        page.size(1280, 900)
        page.media("light")
        yield page
    finally:
        os.close(ours_out)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(ours_in)
