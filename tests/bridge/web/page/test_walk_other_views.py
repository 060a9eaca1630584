"""Presets, servers and activity in the page over a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.authority import Authority, Guarded
from tests.support.page_world import Visit, asked, visit, world, written
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long

BROKEN = """
mcp_servers:
  broken: {command: %s, args: [-c, "import sys; print('no <b>such</b> thing', file=sys.stderr); sys.exit(3)"]}
  notes: {url: "%s/mcp"}
"""


@pytest.fixture
def person(browser: Browser, app: WebApp) -> Generator[Visit]:
    with visit(browser, app) as found:
        yield found


@pytest.mark.requirement("I15.2.6")
@pytest.mark.requirement("I15.2.17")
def test_a_preset_is_made_with_the_tools_and_words_of_the_seed(person: Visit) -> None:
    page = person.page
    person.go("presets")
    page.get_by_role("button", name="New preset").click()
    page.get_by_role("heading", name="Available Tools").wait_for()
    builtin, custom = (page.get_by_role("group", name=f"{each} Tools") for each in ("Built-in", "Custom"))
    search = builtin.get_by_label("Web Search - Search the internet for current information")
    calculator = custom.get_by_label("Calculator - Evaluate mathematical expressions")
    expect(search).to_be_checked()
    expect(calculator).to_be_checked()
    search.uncheck()
    calculator.uncheck()
    page.get_by_label("Name", exact=True).fill("Trips")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").get_by_text("At least one tool must be enabled", exact=True).wait_for()
    custom.get_by_label("Weather - ").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Trips").wait_for()
    page.get_by_role("button", name="Edit Trips").click()
    expect(custom.get_by_label("Weather - ")).to_be_checked()
    expect(calculator).not_to_be_checked()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete Trips").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Trips")).to_have_count(0)


@pytest.mark.requirement("I15.2.17")
def test_old_records_get_the_default_tools_and_a_lost_tool_is_named(browser: Browser, tmp_path: Path) -> None:
    times = {"created_at": 1_700_000_000, "updated_at": 1_700_000_000}
    old = {
        "id": "a",
        "name": "Old",
        "instructions": "",
        "model": "",
        "default_reasoning_level": "low",
        **times,
    }
    lost = {**old, "id": "b", "name": "Lost", "enabled_tools": ["gone_tool"]}
    with world(tmp_path) as app:
        made = app.ask("POST", "/api/presets", {"name": "Any", "enabled_tools": ["calculator"]})
        assert made.status == 201
        (path,) = [each for each in (tmp_path / "state").rglob("*.json") if '"Any"' in each.read_text()]
        path.write_text(json.dumps({"presets": [old, lost]}))
        with visit(browser, app) as person:
            person.go("presets")
            card = person.page.locator(".card", has_text="Old")
            expect(card).to_contain_text("web_search")
            expect(card).to_contain_text("calculator")
            person.page.get_by_role("button", name="Edit Lost").click()
            person.page.get_by_text("Tool gone_tool is not available", exact=True).wait_for()
            person.page.get_by_role("button", name="Save").click()
            person.page.get_by_role("alert").get_by_text("Unknown tool: gone_tool", exact=True).wait_for()


@pytest.mark.requirement("I15.2.19")
def test_what_a_server_offers_is_read_and_filled(person: Visit) -> None:
    page = person.page
    person.go("servers")
    page.get_by_role("link", name="world").click()
    person.settled()
    page.get_by_role("tab", name="Tools (6)").click()
    page.locator("summary", has_text="get_weather").click()
    page.get_by_text("City and country, e.g. Paris, France").wait_for()
    page.get_by_role("tab", name="Resources (2)").click()
    page.get_by_role("button", name="Read memo://start").click()
    page.get_by_text("The first memo.").wait_for()
    page.get_by_label("Address by memo://{name}").fill("memo://milk")
    page.get_by_role("button", name="Read memo://{name}").click()
    page.get_by_text("The memo milk.").wait_for()
    page.get_by_role("tab", name="Prompts (1)").click()
    page.locator("summary", has_text="summary").click()
    page.get_by_role("button", name="Get the prompt").click()
    page.get_by_text("This is required.").wait_for()
    page.get_by_label("topic").fill("rain")
    page.get_by_role("button", name="Get the prompt").click()
    page.get_by_text("Sum up rain").wait_for()


@pytest.mark.requirement("I15.2.19")
def test_a_server_is_disconnected_and_connected_and_other_tabs_see_it(
    browser: Browser, app: WebApp, person: Visit
) -> None:
    person.go("servers/world")
    with visit(browser, app) as other:
        other.go("servers")
        person.page.get_by_role("button", name="Disconnect").click()
        person.page.get_by_text("disconnected", exact=True).wait_for()
        other.page.get_by_text("disconnected", exact=True).wait_for()
        person.page.get_by_role("button", name="Connect").click()
        person.page.get_by_text("connected", exact=True).wait_for()
        other.page.get_by_text("connected", exact=True).wait_for()


@pytest.mark.requirement("I15.2.19")
def test_a_server_is_signed_in_to_and_one_that_fails_shows_its_last_words(
    browser: Browser, tmp_path: Path, sites: tuple[Authority, Guarded]
) -> None:
    with (
        world(tmp_path, more=BROKEN % (sys.executable, sites[1].url)) as app,
        visit(browser, app) as person,
    ):
        page = person.page
        person.go("servers/broken")
        page.get_by_role("tab", name="Logs").click()
        page.get_by_text("no <b>such</b> thing").wait_for()
        person.go("servers/notes")
        page.get_by_text("needs sign-in", exact=True).wait_for()
        page.get_by_role("button", name="Sign in: notes").click()
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open the sign-in").click()
        opened.value.wait_for_load_state()
        page.get_by_text("connected", exact=True).wait_for()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("tab", name="Tools (2)").wait_for()


@pytest.mark.requirement("I15.2.19")
def test_definitions_that_changed_since_the_lock_are_shown_with_their_difference(
    browser: Browser, tmp_path: Path
) -> None:
    config = written(tmp_path)
    subprocess.run(
        [sys.executable, "-m", "toolspan_bridge", "lock", "--config", str(config)],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    with world(tmp_path) as app:
        config.write_text(config.read_text().replace("Waits for long.", "Waits for ever."))
        with visit(browser, app) as person:
            person.page.goto(f"{app.url}/ui/#/servers/world")
            person.page.get_by_text("1 definition changed since the lock").wait_for()
            person.page.locator("summary", has_text="wait_long").first.click()
            person.page.get_by_role("region", name="Difference: wait_long").wait_for()
            expect(person.page.locator(".notice")).to_contain_text("Waits for ever.")


@pytest.mark.requirement("I15.2.21")
def test_activity_shows_each_question_and_call_as_it_happens(person: Visit, app: WebApp) -> None:
    page = person.page
    person.go("activity")
    page.get_by_text("Live", exact=True).wait_for()
    recent = page.get_by_role("region", name="Recent").locator("tbody tr")
    before = recent.count()
    asked(app, "fail")
    asked(app, "overloaded")
    expect(recent).to_have_count(before + 3)
    for words in ("world/fails", "failed (broken_on_purpose)", "models/best", "failed (", "local"):
        expect(page.get_by_role("region", name="Recent")).to_contain_text(words)
    page.get_by_role("region", name="By tool").get_by_text("world/fails").wait_for()
    page.get_by_role("region", name="By model").get_by_text("models/best").wait_for()
    page.get_by_label("Kind").select_option("tool call")
    person.settled()
    expect(page.get_by_role("region", name="Recent")).not_to_contain_text("question")
