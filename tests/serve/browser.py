"""Headless Chromium over the DevTools protocol, spoken through a pipe: no driver, no package."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
_MOVED = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads from descriptor 3 and writes to 4."""
_PATIENCE = 60.0
_CODES = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}


def chromium() -> str | None:
    """Where Chromium is: `JAXKG_CHROMIUM`, else on the path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("JAXKG_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


class Tab:
    """One tab: what it is told, and everything it said, asked the network for or failed at.

    Attributes:
        wrong: console errors and warnings, exceptions, violated policies.
        requests: addresses it asked for.
    """

    def __init__(self, to: int, back: int):
        self._to, self._back = to, back
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self.wrong: list[str] = []
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """Tell the tab something; its reply."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._heard()
            if reply.get("id") == self._number:
                assert "error" not in reply, (method, reply["error"])
                return reply["result"]

    def _heard(self) -> dict[str, Any]:
        ends = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0.0, ends - time.monotonic()))
            assert ready, "Chromium says nothing"
            piece = os.read(self._back, 1 << 20)
            assert piece, "Chromium is gone"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        event = json.loads(line)
        told = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Runtime.exceptionThrown":
                self.wrong.append(json.dumps(told["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.wrong.append(json.dumps(told["args"])[:500])
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.wrong.append(json.dumps(told["entry"])[:500])
        return event

    def run(self, script: str) -> Any:
        """The value of an expression in the page, awaited where it is a promise."""
        found = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression holds.

        Raises:
            AssertionError: it does not within a minute; says what the page shows.
        """
        ends = time.monotonic() + _PATIENCE
        # While a page is on its way, what is asked about may not be there to be asked.
        holds = f"(() => {{ try {{ return Boolean({script}) }} catch {{ return false }} }})()"
        while not self.run(holds):
            assert time.monotonic() < ends, (
                script,
                self.run("document.body.innerText"),
                self.wrong,
            )
            time.sleep(0.05)

    def click(self, within: str, begins: str) -> None:
        """Click the first thing of a kind whose text begins like this."""
        said = f"n => n.textContent.startsWith({json.dumps(begins)})"
        self.run(f"[...document.querySelectorAll({json.dumps(within)})].find({said}).click()")

    def look(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Set the window and what the user prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, url: str) -> None:
        """Open an address and wait until its scripts ran."""
        self.send("Page.navigate", url=url)
        self.until(f"location.href.startsWith({json.dumps(url)})")
        self.until("document.readyState == 'complete'")

    def key(self, name: str, *, shift: bool = False) -> None:
        """Press and let go of a key."""
        text = {"Enter": "\r", " ": " "}.get(name)
        given = {"key": name, "code": "Space" if name == " " else name, "modifiers": 8 * shift}
        given |= {"windowsVirtualKeyCode": _CODES[name]} | ({"text": text} if text else {})
        self.send("Input.dispatchKeyEvent", type="keyDown", **given)
        self.send("Input.dispatchKeyEvent", type="keyUp", **given)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Keep what the page looks like, all of its length."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def browser(program: str, profile: Path) -> Iterator[Tab]:
    """A browser with an empty profile and one tab, ended with the block."""
    theirs, to = os.pipe()
    back, theirs_back = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", _MOVED, str(theirs), str(theirs_back), program, *_FLAGS]
        + [f"--user-data-dir={profile}"],
        pass_fds=(theirs, theirs_back),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(theirs)
    os.close(theirs_back)
    try:
        yield Tab(to, back)
    finally:
        os.close(to)  # Chromium ends when nobody talks to it.
        os.close(back)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
