"""The page as people use it: in a real browser, over an API that the test plays."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import BOUND_MS, WIDE, chromium, violations
from tests.support.page_api import HOSTILE, PageApi, served_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.long

PHONE = (375, 760)
SHOWN = "<img src=x onerror=alert(1)>\\u202e"
VIEWS = {
    "test": "get_weather",
    "chat": "Start with a question",
    "presets": "Sums",
    "validation": "demo/one",
    "validation/runs": "default",
    "validation/compare": "Compare",
    "servers": "home",
    "servers/home": "The weather",
    "config": "No problems.",
    "activity": "get_weather",
}


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def api() -> Generator[PageApi]:
    with served_page() as served:
        yield served


@contextmanager
def opened(
    browser: Browser, api: PageApi, view: str, size: tuple[int, int] = WIDE, scheme: Any = "light"
) -> Generator[Page]:
    """The page at ``view``. Fails on an error of a script, a dialog of one, or a request to elsewhere."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    context.set_default_timeout(BOUND_MS)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on(
        "request", lambda request: None if request.url.startswith(api.url[:-3]) else said.append(request.url)
    )
    try:
        page.goto(f"{api.url}#/{view}")
        yield page
        assert said == []
    finally:
        context.close()


def ask(page: Page) -> None:
    page.get_by_role("button", name="What's the weather in Paris?").click()
    page.locator("#test-model option[value='demo/one']").wait_for(state="attached")
    page.locator("#test-model").select_option("demo/one")
    page.get_by_role("button", name="Run Test").click()


@pytest.mark.requirement("I15.2.1")
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view(browser: Browser, api: PageApi, scheme: Any, size: Any) -> None:
    for view, shown in VIEWS.items():
        with opened(browser, api, view, size, scheme) as page:
            page.locator("main").get_by_text(shown).first.wait_for(state="attached")
            page.wait_for_function("!document.querySelector('[aria-busy]')")
            assert violations(page) == [], view
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], view


@pytest.mark.requirement("I15.2.2")
def test_an_example_is_tested_and_its_call_approved(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "test") as page:
        ask(page)
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("Allow edit_file?").wait_for()
        assert "removed:\ntwo" in dialog.inner_text() and "added:\n2" in dialog.inner_text()
        assert violations(page) == []
        dialog.get_by_role("button", name="Allow once").click()
        page.get_by_text("Continue in the chat").wait_for()
        shown = page.locator(".results").inner_text()
        for words in ("edit_file", "done", "Iteration 1", "13 ms", "It is sunny in Paris.", "demo/one"):
            assert words in shown, words
        for words in ("1,200 in, 80 out", "$0.0021", "Max iterations reached"):
            assert words in shown, words
        assert ("conversations/k1/answers/r1", {"decision": "allow_once"}) in api.posted


@pytest.mark.requirement("I15.2.3")
def test_a_stream_that_breaks_off_and_a_reload_lose_and_double_nothing(
    browser: Browser, api: PageApi
) -> None:
    api.break_after = 4
    with opened(browser, api, "test") as page:
        ask(page)
        page.get_by_role("dialog").wait_for()
        assert page.locator(".prose", has_text="Let me look.").count() == 1
        assert page.locator(".call").count() == 1
        assert "4" in api.asked_after
        page.reload()
        page.get_by_role("dialog").get_by_role("button", name="Deny").click()
        page.get_by_text("Continue in the chat").wait_for()
        assert page.locator(".prose", has_text="Let me look.").count() == 1
        assert page.locator(".prose", has_text="It is sunny in Paris.").count() == 1
        assert page.locator(".call[data-state=denied]").count() == 1


@pytest.mark.requirement("I15.2.3")
def test_a_chat_that_is_loaded_again_during_its_answer_shows_each_message_once(
    browser: Browser, api: PageApi
) -> None:
    with opened(browser, api, "chat") as page:
        page.get_by_label("Message").fill("Change my notes")
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for()
        page.reload()
        page.get_by_role("dialog").get_by_role("button", name="Allow once").click()
        page.locator(".message-assistant .prose", has_text="It is sunny").wait_for()
        assert page.locator(".message-user").count() == page.locator(".message-assistant").count() == 1
        page.get_by_role("button", name="Send").wait_for()
        page.reload()
        page.locator(".message-assistant .prose", has_text="It is sunny").wait_for()
        assert page.locator(".message-user").count() == page.locator(".message-assistant").count() == 1


@pytest.mark.requirement("I15.2.10")
def test_a_run_is_stopped(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "test") as page:
        ask(page)
        page.get_by_role("dialog").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped.").wait_for()
        assert page.get_by_role("button", name="Run Test").is_enabled()


@pytest.mark.requirement("I15.2.4")
def test_hostile_names_are_text_in_every_view(browser: Browser, api: PageApi) -> None:
    for view in ("test", "validation", "servers"):
        with opened(browser, api, view) as page:
            page.locator("main :not(option)").get_by_text(SHOWN).first.wait_for(state="attached")
            assert page.locator("main img").count() == 0
            assert HOSTILE not in page.locator("main").inner_text()
    with opened(browser, api, "test") as page:
        ask(page)
        page.get_by_role("button", name="Allow once").click()
        page.locator(".prose", has_text=SHOWN).wait_for()
        assert page.locator("a[href^='javascript']").count() == page.locator("main img").count() == 0
        link = page.get_by_role("link", name="wind")
        assert "noopener" in (link.get_attribute("rel") or "")


@pytest.mark.requirement("I15.2.5")
def test_a_tool_is_called_by_the_form_of_its_schema(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "test") as page:
        page.get_by_role("button", name="Call it: get_weather").click()
        card = page.locator(".card.open")
        card.get_by_role("button", name="Call", exact=True).click()
        assert card.get_by_text("This parameter is required.").count() == 2
        card.get_by_label("location").fill("Paris")
        card.get_by_label("days").fill("99")
        card.get_by_role("button", name="Call", exact=True).click()
        card.get_by_text("At most 14.").wait_for()
        card.get_by_label("days").fill("3")
        card.get_by_role("button", name="Add an item").click()
        card.get_by_role("textbox", name="item 1").fill("north")
        card.get_by_role("button", name="Call", exact=True).click()
        card.get_by_text('"sum": 4').wait_for()
        arguments = {"location": "Paris", "days": 3, "unit": "celsius", "stations": ["north"]}
        assert api.posted[-1] == (
            "tools/call",
            {"name": "get_weather", "server": "home", "arguments": arguments},
        )
        card.get_by_role("tab", name="Payloads").click()
        card.get_by_text("told in words").wait_for()


@pytest.mark.requirement("I15.2.5")
def test_a_tool_that_needs_approval_is_called_once_it_is_given(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "test") as page:
        page.get_by_role("button", name="Call it: delete_all").click()
        page.locator(".card.open").get_by_role("button", name="Call", exact=True).click()
        page.get_by_role("button", name="Call it anyway").click()
        page.locator(".card.open").get_by_text("Success").wait_for()
        assert api.posted[-1][1]["approved"] is True


@pytest.mark.requirement("I15.2.6")
def test_a_preset_is_made_and_refused_in_the_words_of_the_api(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "presets") as page:
        page.get_by_role("button", name="New preset").click()
        page.get_by_label("Name", exact=True).fill("taken")
        for box in page.get_by_role("checkbox").all():
            box.uncheck()
        page.get_by_role("button", name="Save").click()
        page.get_by_text("At least one tool must be enabled").wait_for()
        page.get_by_role("group", name="Custom tools").get_by_label("Weather").check()
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Unknown tool: gone").wait_for()
        page.get_by_label("Name", exact=True).fill("Trips")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name="Trips").wait_for()
        assert api.presets[-1]["enabled_tools"] == ["get_weather"]


@pytest.mark.requirement("I15.2.7")
def test_the_config_is_checked_as_one_types_and_never_saved(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "config") as page:
        page.get_by_label("Text of the config").fill("version: 1\n  tols: {}\n")
        page.get_by_text("unknown key 'tols'").wait_for()
        page.get_by_role("button", name="Line 2, column 3").click()
        assert page.evaluate("document.activeElement.selectionStart") == 13
        assert "cannot save" in page.locator("main").inner_text()
        assert page.get_by_role("button", name="Save").count() == 0
        assert {path for path, _ in api.posted} == {"config/check"}


@pytest.mark.requirement("I15.2.8")
def test_the_page_is_used_with_the_keyboard_alone(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "validation") as page:
        page.get_by_role("tab", name="Matrix").wait_for()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip-link"
        page.get_by_role("tab", name="Matrix").focus()
        page.keyboard.press("ArrowRight")
        assert page.get_by_role("tab", name="Runs").get_attribute("aria-selected") == "true"
        page.keyboard.press("End")
        assert page.evaluate("document.activeElement.textContent") == "Compare"


@pytest.mark.requirement("I15.2.8")
def test_a_part_of_the_api_that_is_not_there_is_told(browser: Browser, api: PageApi) -> None:
    with opened(browser, api, "servers/none") as page:
        page.get_by_role("alert").get_by_text("This is not part of this server.").wait_for()
