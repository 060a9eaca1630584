"""Every view and dialog over a real process, in every size and colour: pictures, axe, nothing too wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import WIDE
from tests.support.page_world import PHONE, Visit, visit
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.2.1"), pytest.mark.requirement("I15.2.11")]

VIEWS = {
    "test": "Book a room for me",
    "chat": "What's the weather?",
    "presets": "Answer with a number.",
    "validation": "offline/keyword",
    "validation/runs": "known",
    "validation/compare": "Before",
    "servers": "connected",
    "servers/world": "Books a room",
    "config": "No problems.",
    "activity": "models/best",
}
LOOKS = [
    pytest.param(WIDE, "light", id="wide"),
    pytest.param(PHONE, "light", id="phone"),
    pytest.param(WIDE, "dark", id="wide-dark"),
    pytest.param(PHONE, "dark", id="phone-dark"),
]


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_view_is_whole(browser: Browser, app: WebApp, size: tuple[int, int], scheme: Any) -> None:
    with visit(browser, app, size, scheme) as person:
        for view, shown in VIEWS.items():
            person.go(view)
            person.page.locator("main").get_by_text(shown).first.wait_for()
            person.looked_at(view.replace("/", "-"))


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_what_is_opened_within_a_view_is_whole(
    browser: Browser, app: WebApp, size: tuple[int, int], scheme: Any
) -> None:
    with visit(browser, app, size, scheme) as person:
        page = person.page
        person.go("test")
        page.get_by_role("button", name="Call it: get_weather").click()
        page.locator(".card.open").get_by_role("button", name="Call", exact=True).click()
        page.get_by_text("This is required.").first.wait_for()
        person.looked_at("test-form")
        page.locator(".card.open").get_by_role("tab", name="Payloads").click()
        page.get_by_role("tab", name="openai", exact=True).click()
        person.settled()
        person.looked_at("test-payloads")
        person.go("presets")
        page.get_by_role("button", name="New preset").click()
        page.get_by_role("group", name="Built-in Tools").wait_for()
        person.looked_at("presets-form")
        person.go("validation")
        page.locator(".heat-button").first.click()
        person.settled()
        page.locator(".trials details").first.locator("summary").first.click()
        person.looked_at("validation-trials")
        person.go("chat")
        page.locator(".talks a").first.click()
        page.locator(".messages .call").first.wait_for()
        person.looked_at("chat-open")


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_dialogs_are_whole(browser: Browser, app: WebApp, size: tuple[int, int], scheme: Any) -> None:
    with visit(browser, app, size, scheme) as person:
        page = person.page
        person.go("test")
        person.test("Change my notes")
        page.get_by_role("dialog").get_by_text("Allow edit_file?").wait_for()
        person.looked_at("dialog-approval")
        page.get_by_role("button", name="Deny").click()
        page.get_by_text("Continue in the chat").wait_for()
        person.looked_at("test-denied")
        person.test("Book a room")
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        page.get_by_text("This is required.").first.wait_for()
        person.looked_at("dialog-question")
        page.get_by_role("button", name="Decline").click()
        page.get_by_text("Continue in the chat").wait_for()
        _ask_to_delete(person)
        person.looked_at("dialog-delete")
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()


def _ask_to_delete(person: Visit) -> None:
    person.go("presets")
    person.page.get_by_role("button", name="Delete Sums").click()
    person.page.get_by_role("dialog").wait_for()
