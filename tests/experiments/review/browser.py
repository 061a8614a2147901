"""A headless Chromium that is driven by keys, through its own debugging protocol."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowDown": (40, "")}


class Page:
    """One page of a browser: what it is told, what it answers, and what it said unasked."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._count = 0
        self.events: list[dict[str, Any]] = []

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command, and wait for its answer."""
        self._count += 1
        await self._socket.send_json({"id": self._count, "method": method, "params": parameters})
        while True:
            message: dict[str, Any] = await self._socket.receive_json(timeout=30)
            if message.get("id") == self._count:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    async def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = await self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def press(self, key: str) -> None:
        """Press and release a key."""
        number, text = KEYS[key]
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": number}
        await self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **common)


@asynccontextmanager
async def opened(browser: str, url: str, place: Path, *, width: int) -> AsyncIterator[Page]:
    """A page in a browser of its own, so wide; downloads go to ``place / "downloads"``."""
    profile = place / "profile"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"]
    flags.append(f"--user-data-dir={profile}")
    process = subprocess.Popen([browser, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                targets = json.loads(await answer.text())
            address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await page.send(f"{domain}.enable")
                downloads = str(place / "downloads")
                await page.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
                await page.send(
                    "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=False
                )
                await page.send("Page.navigate", url=url)
                while await page.value("document.readyState") != "complete":
                    await asyncio.sleep(0.1)
                yield page
    finally:
        process.terminate()
        process.wait(timeout=20)


async def _port(path: Path) -> int:
    for _ in range(300):
        if path.is_file() and (lines := path.read_text().splitlines()):
            return int(lines[0])
        await asyncio.sleep(0.1)
    raise AssertionError("the browser did not start")
