"""``toolspan ui`` as a process with something in every view, and a person at its page in a real browser.

The folder has the config, the scripts of its two models (``models/best`` and ``models/never``) and a suite.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.support.browser import BOUND_MS, WIDE, violations
from tests.support.waiting import eventually
from tests.support.web_app import WebApp, web_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

FOLDER = Path(__file__).parent
PHONE = (375, 760)
SHOTS = os.environ.get("TOOLSPAN_SCREENSHOTS")
"""The folder for pictures of what tests see, read before the variables of Toolspan are taken from them."""
MODELS = """
models:
  best: {deployments: [{model: scripted/model.yaml}]}
  never: {deployments: [{model: scripted/never.yaml}]}
"""


@contextmanager
def world(folder: Path, *options: str, more: str = "", token: str = "") -> Generator[WebApp]:
    """The process over a copy of the folder, with ``more`` at the end of its config."""
    config = written(folder, more).read_text()
    environment = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    with web_app(folder, "--no-open", *options, config=config, verb="ui", token=token, **environment) as app:
        yield app


def written(folder: Path, more: str = "") -> Path:
    """The config of a copy of the folder."""
    for path in FOLDER.glob("*.yaml"):
        shutil.copy(path, folder / path.name)
    config = folder / "toolspan.yaml"
    config.write_text(config.read_text() + MODELS + more)
    return config


def validated(app: WebApp, *models: str, trials: int = 2) -> None:
    """Have a run of the suite made and wait for its end."""
    wanted = {"suites": ["known"], "models": list(models), "trials": trials}
    run = app.ask("POST", "/api/validation/runs", wanted).json["id"]
    assert eventually(lambda: app.ask("GET", f"/api/validation/runs/{run}").json["state"] == "done")


def asked(app: WebApp, text: str, model: str = "models/best") -> str:
    """The id of a conversation in which ``text`` was asked, and is answered or waits for the person."""
    talk = app.ask("POST", "/api/conversations", {"model": model}).json["id"]
    assert app.ask("POST", f"/api/conversations/{talk}/messages", {"text": text}).status == 202

    def is_settled() -> bool:
        found = app.ask("GET", f"/api/conversations/{talk}").json
        return found["run"] is None or bool(found["pending"])

    assert eventually(is_settled)
    return str(talk)


@dataclass
class Visit:
    """A person at the page. ``said`` are errors of scripts, and requests to elsewhere."""

    page: Page
    url: str
    said: list[str] = field(default_factory=list[str])

    def go(self, view: str) -> None:
        """Open ``view``, and wait until it has loaded."""
        self.page.goto(f"{self.url}/ui/#/{view}")
        self.settled()

    def settled(self) -> None:
        """Wait until nothing is asked for any more."""
        from playwright.sync_api import expect

        main = self.page.locator("main")
        expect(main.locator("h1")).to_have_count(1, timeout=BOUND_MS)
        expect(main.locator("[aria-busy], .loading")).to_have_count(0, timeout=BOUND_MS)

    def looked_at(self, name: str) -> None:
        """No rule of axe is broken, nothing is wider than the window; with a picture where one is wanted."""
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            width = (self.page.viewport_size or {"width": 0})["width"]
            scheme = (
                "dark" if self.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else ""
            )
            kind = "-".join(each for each in (name, str(width), scheme) if each)
            self.page.screenshot(path=Path(SHOTS) / f"{kind}.png", full_page=True)
        assert violations(self.page) == [], name
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    def choose_model(self, model: str, where: str = "test-model") -> None:
        """Choose ``model`` once it is listed."""
        self.page.locator(f"#{where} option[value='{model}']").wait_for(state="attached")
        self.page.locator(f"#{where}").select_option(model)

    def test(self, query: str, model: str = "models/best") -> None:
        """Run a test of ``query``."""
        self.choose_model(model)
        self.page.get_by_label("Test query").fill(query)
        self.page.get_by_role("button", name="Run Test").click()

    def ask(self, text: str, model: str = "models/best") -> None:
        """Ask in the chat."""
        self.choose_model(model, "chat-model")
        self.page.get_by_label("Message").fill(text)
        self.page.keyboard.press("Enter")


@contextmanager
def visit(
    browser: Browser,
    app: WebApp,
    size: tuple[int, int] = WIDE,
    scheme: Literal["light", "dark"] = "light",
    **context: Any,
) -> Generator[Visit]:
    """A person with a browser of their own at the page of ``app``."""
    opened = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, **context
    )
    opened.set_default_timeout(BOUND_MS)
    page = opened.new_page()
    person = Visit(page, app.url)

    def dismissed(dialog: Dialog) -> None:
        person.said.append(dialog.message)
        dialog.dismiss()

    def requested(request: Request) -> None:
        if not request.url.startswith((app.url, "blob:")):
            person.said.append(request.url)

    page.on("pageerror", lambda error: person.said.append(str(error)))
    page.on("dialog", dismissed)
    page.on("request", requested)
    try:
        yield person
        assert person.said == []
    finally:
        opened.close()
