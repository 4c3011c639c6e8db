"""A headless Chromium, driven through Debian's chromedriver: what a person sees, and what the browser asked for."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

MISSING = "Chromium is missing: install Debian's packages chromium and chromium-driver"

_OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
#: Chromium's sandbox refuses to run as root.
_AS_ROOT = "--no-sandbox"
_DEADLINE_S = 120.0
_POLL_S = 0.1


def programs() -> tuple[str, str] | None:
    """The paths of ``chromium`` and ``chromedriver``, ``None`` where one is missing."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Chromium:
    """A browser with a profile of its own. Use it as a context manager.

    Attributes:
        driver: Selenium's handle of it.
    """

    def __init__(self) -> None:
        found = programs()
        if found is None:
            raise FileNotFoundError(MISSING)
        self._browser, self._chromedriver = found
        self._profile = tempfile.TemporaryDirectory(prefix="contracts-chromium-", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        options = webdriver.ChromeOptions()
        options.binary_location = self._browser
        for option in (*_OPTIONS, f"--user-data-dir={self._profile.name}", *([_AS_ROOT] if os.geteuid() == 0 else [])):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(self._chromedriver))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.driver.quit()
        self._profile.cleanup()

    def open(self, url: str, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        """Open a page in a window of so many CSS pixels, for a reader who prefers light or dark."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get(url)

    def forget(self) -> None:
        """Leave the page, and what it has written and asked for."""
        self.driver.get("about:blank")
        self.console()
        self.requested()

    def url(self) -> str:
        """What is in the address bar."""
        return self.driver.current_url

    def click(self, text: str) -> None:
        """Follow the first link with this text."""
        self.driver.find_element("link text", text).click()

    def hover(self, selector: str) -> None:
        """Move the mouse to the middle of the first element that a CSS selector finds."""
        ActionChains(self.driver).move_to_element(self.driver.find_element("css selector", selector)).perform()

    def press(self, *keys: str) -> None:
        """Press keys, by Selenium's names of them, one after the other."""
        ActionChains(self.driver).send_keys(*(getattr(Keys, key) for key in keys)).perform()

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of a JavaScript function returns in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, look: Callable[[], Any], wanted: Callable[[Any], bool] = bool) -> Any:
        """What ``look`` returns as soon as it is wanted; the last that it returned where that does not happen."""
        deadline = time.monotonic() + _DEADLINE_S
        while not wanted(seen := look()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return seen

    def console(self) -> list[str]:
        """What was written to the console since the last call: every error and warning, of the browser too."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self) -> set[str]:
        """The URLs that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return {each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"}

    def printed(self) -> bytes:
        """The page on paper, as PDF."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])

    def screenshot(self, path: Path) -> None:
        """Keep a picture of the whole page, as PNG."""
        size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        options = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))
