"""Debian's Chromium, driven by Playwright: pages as people see them, and axe's rules of what all can use.

Without Chromium the tests are skipped with a warning.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WIDE, PHONE = (1280, 900), (360, 740)
BOUND_MS = 60_000


@contextmanager
def chromium() -> Generator[Browser]:
    """The browser, as long as the block lasts."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        warnings.warn(f"NOT RUN: no browser is here ({', '.join(PROGRAMS)})", stacklevel=3)
        pytest.skip("there is no Chromium, nor another browser of its kind")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=BOUND_MS)

    # The root of a container has no user namespaces for Chromium's own sandbox.
    unboxed = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=unboxed)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_of(
    browser: Browser,
    path: Path,
    *,
    size: tuple[int, int] = WIDE,
    scheme: Literal["light", "dark"] = "light",
    scripts: bool = True,
) -> Generator[Page]:
    """The file ``path`` in a window of its own. ``scripts`` says whether the page's own may run; those that a
    test sends are run all the same. Fails on whatever the page asks for beside itself, or complains of."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=scripts
    )
    context.set_default_timeout(BOUND_MS)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        page.goto(path.as_uri())
        yield page
        assert [url.partition("#")[0] for url in asked] == [path.as_uri()]
        assert said == []
    finally:
        context.close()


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now: each rule with the element."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response
    assert found["passes"], "axe has looked at nothing"
    return [f"{each['id']}: {node['html']}" for each in found["violations"] for node in each["nodes"]]
