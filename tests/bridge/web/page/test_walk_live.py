"""The page over a real process whose config is edited, which is killed, which wants a token."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.page_world import asked, visit, world
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Response

pytestmark = pytest.mark.long

MOST_BYTES = 300_000
BYTES_MS = 50.0
TOOL = """    - name: tell_time
      description: Tells the time.
      parameters: {type: object}
      implementation: {type: mock, response: noon}
"""
OVERRIDE = "\\u202e"


@pytest.fixture
def edited(tmp_path: Path, browser: Browser) -> Generator[WebApp]:
    """A process of its own, whose config is edited."""
    with world(tmp_path) as running:
        yield running


def config_of(app: WebApp) -> Path:
    return app.errors.with_name("toolspan.yaml")


def change(app: WebApp, old: str, new: str) -> None:
    """Edit the config."""
    path = config_of(app)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.requirement("I15.2.7")
@pytest.mark.requirement("I15.2.20")
def test_faults_are_shown_at_their_lines_as_one_types(browser: Browser, app: WebApp) -> None:
    with visit(browser, app) as person:
        page = person.page
        person.go("config")
        page.get_by_text("No problems.").wait_for()
        text = page.get_by_label("Text of the config")
        good = text.input_value()
        assert good == config_of(app).read_text()
        text.fill(good.replace("tools:\n  registry:", "tools:\n  registri:"))
        page.get_by_text("Changed here, not in the file").wait_for()
        line = good[: good.index("  registry:")].count("\n") + 1
        page.get_by_role("button", name=f"Line {line}, column 3").click()
        expect(page.locator(".line-bad")).to_have_text(str(line))
        assert page.evaluate("String(getSelection())").startswith("registri")
        page.get_by_role("button", name="Back to the file").click()
        page.get_by_text("No problems.").wait_for()
        assert config_of(app).read_text() == good


@pytest.mark.requirement("I15.2.20")
def test_a_refused_file_and_its_repair_are_told_live(browser: Browser, edited: WebApp) -> None:
    with visit(browser, edited) as person:
        page = person.page
        person.go("config")
        page.get_by_text("Loaded and in force").wait_for()
        change(edited, "tools:\n  registry:", "tools:\n  registri:")
        page.get_by_text("The file was changed at").wait_for()
        page.get_by_text("Not used: what was loaded before is in force").wait_for()
        page.locator(".problems").get_by_text("registri").first.wait_for()
        page.locator(".health").get_by_text("The config has").wait_for()
        change(edited, "registri:", "registry:")
        page.get_by_text("Loaded and in force").wait_for()
        page.get_by_text("Loaded again at", exact=False).last.wait_for()
        expect(page.locator(".health[data-state=ok]")).to_have_count(1)


@pytest.mark.requirement("I15.2.20")
def test_what_is_typed_stays_when_the_file_changes(browser: Browser, edited: WebApp) -> None:
    with visit(browser, edited) as person:
        page = person.page
        person.go("config")
        text = page.get_by_label("Text of the config")
        text.fill(text.input_value() + "# mine\n")
        change(edited, "- Change my notes", "- Change our notes")
        page.get_by_text("The file has changed, and so has the text here.").wait_for()
        expect(text).to_have_value(re.compile("# mine"))
        page.get_by_role("button", name="Back to the file").click()
        expect(text).to_have_value(re.compile("Change our notes"))


@pytest.mark.requirement("I15.2.22")
def test_an_edit_of_the_config_is_seen_in_every_tab(browser: Browser, edited: WebApp) -> None:
    with visit(browser, edited) as one, visit(browser, edited) as two, visit(browser, edited) as three:
        one.go("test")
        two.go("servers/world")
        three.go("presets")
        change(edited, "  registry:\n", f"  registry:\n{TOOL}")
        change(edited, "- Change my notes", "- Tell me the time")
        change(edited, "models:\n", "models:\n  third: {deployments: [{model: scripted/never.yaml}]}\n")
        one.page.get_by_role("button", name="Call it: tell_time").wait_for()
        one.page.get_by_role("button", name="Tell me the time").wait_for()
        one.page.locator("#test-model option[value='models/third']").wait_for(state="attached")
        two.page.get_by_role("tab", name="Tools (7)").wait_for()
        three.page.get_by_role("button", name="New preset").click()
        three.page.get_by_label("tell_time - Tells the time.").wait_for()


@pytest.mark.requirement("I15.2.23")
def test_a_server_that_is_killed_and_comes_back_loses_and_doubles_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    with world(tmp_path) as first, visit(browser, first) as person:
        page = person.page
        talk = asked(first, "What's the weather?")
        assert first.ask("POST", f"/api/conversations/{talk}/messages", {"text": "notes"}).status == 202
        page.goto(f"{first.url}/ui/#/chat/{talk}")
        page.get_by_role("dialog").wait_for()
        first.end(signal.SIGKILL)
        page.get_by_text("The connection is lost: trying again.").wait_for()
        with world(tmp_path, "--port", str(first.port)):
            expect(page.locator(".connection")).to_have_text("")
            expect(page.get_by_role("dialog")).to_have_count(0)
            expect(page.locator(".message-user")).to_have_count(2)
            expect(page.locator(".call[data-state=done]")).to_have_count(1)
            expect(page.locator(".call:not([data-state=running], [data-state=asked])")).to_have_count(2)
            person.ask("What's the weather?")
            expect(page.locator(".message-assistant strong", has_text="sunny")).to_have_count(2)
            expect(page.locator(".message-user")).to_have_count(3)


@pytest.mark.requirement("I15.2.24")
def test_a_token_is_asked_for_and_kept_for_its_tab(browser: Browser, tmp_path: Path) -> None:
    with world(tmp_path, token="right") as app, visit(browser, app) as person:
        page = person.page
        page.goto(f"{app.url}/ui/")
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("A token is needed").wait_for()
        person.looked_at("dialog-token")
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_role("button", name="Sign in").click()
        page.get_by_text("This token is not accepted.").wait_for()
        dialog.get_by_label("Token").fill("right")
        dialog.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Call it: get_weather").wait_for()
        page.reload()
        page.get_by_role("button", name="Call it: get_weather").wait_for()
        expect(page.get_by_role("dialog")).to_have_count(0)
        person.test("What's the weather?")
        page.get_by_text("Final response").wait_for()
        with visit(browser, app) as other:
            other.page.goto(f"{app.url}/ui/")
            other.page.get_by_role("dialog").get_by_text("A token is needed").wait_for()


@pytest.mark.requirement("I15.2.25")
def test_the_page_is_small_and_soon_there(browser: Browser, app: WebApp) -> None:
    sizes: list[int] = []
    complaints: list[str] = []

    def answered(response: Response) -> None:
        if "/ui/" in response.url:
            sizes.append(len(response.body()))

    with visit(browser, app) as person:
        person.page.on("response", answered)
        person.page.on("console", lambda message: complaints.append(message.text))
        for view in ("test", "chat", "presets", "validation", "servers", "config", "activity"):
            person.go(view)
        assert 0 < sum(sizes) <= MOST_BYTES
        assert [each for each in complaints if "Content Security Policy" in each] == []
    assert min(first_byte_ms(app) for _ in range(20)) <= BYTES_MS


def first_byte_ms(app: WebApp) -> float:
    """How long the first byte of the page takes, over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", app.port)
    began = perf_counter()
    connection.request("GET", "/ui/")
    connection.getresponse().read(1)
    took = (perf_counter() - began) * 1_000
    connection.close()
    return took


@pytest.mark.requirement("I15.2.4")
def test_hostile_texts_of_a_real_server_are_text(browser: Browser, app: WebApp) -> None:
    with visit(browser, app) as person:
        page = person.page
        for view in ("test", "servers/world"):
            person.go(view)
            page.get_by_text(f"<img src=x onerror=alert(1)>{OVERRIDE}Hostile </script>").first.wait_for()
            expect(page.locator("main img, main script")).to_have_count(0)
        person.go("test")
        person.test("fail")
        page.get_by_text("Final response").wait_for()
        page.locator(".results .call summary").click()
        expect(page.locator(".results .call")).to_contain_text("<img src=x onerror=alert(2)> broke")
        person.test("weather")
        page.locator(".results").get_by_text(f"<img src=x onerror=alert(1)>{OVERRIDE}").wait_for()
        expect(page.locator(".results img, .results a[href^=javascript]")).to_have_count(0)
