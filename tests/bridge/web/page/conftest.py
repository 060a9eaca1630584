"""One browser and one process for the tests of a file."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import chromium
from tests.support.page_world import asked, validated, world
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """Debian's Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def app(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[WebApp]:
    """``toolspan ui`` with a run of validation, conversations and a preset; without a browser it is not
    started."""
    with world(tmp_path_factory.mktemp("world")) as running:
        validated(running, "offline/keyword", "models/best")
        validated(running, "offline/keyword")
        asked(running, "What's the weather?")
        preset = {"name": "Sums", "instructions": "Answer with a number.", "enabled_tools": ["calculator"]}
        assert running.ask("POST", "/api/presets", preset).status == 201
        yield running
