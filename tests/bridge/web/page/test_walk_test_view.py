"""The Test view over a real process: tools called by hand, and queries that a model answers."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.page_world import Visit, visit
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.long


@pytest.fixture
def person(browser: Browser, app: WebApp) -> Generator[Visit]:
    with visit(browser, app) as found:
        found.go("test")
        yield found


def opened(person: Visit, tool: str) -> Locator:
    """The opened card of ``tool``."""
    person.page.get_by_role("button", name=f"Call it: {tool}").click()
    return person.page.locator(".card.open")


def call(card: Locator) -> None:
    card.get_by_role("button", name="Call", exact=True).click()


@pytest.mark.requirement("I15.2.5")
@pytest.mark.requirement("I15.2.12")
def test_a_form_of_nested_parameters_makes_the_call_that_it_says(person: Visit) -> None:
    card = opened(person, "get_weather")
    card.get_by_label("location").fill("Paris")
    card.get_by_label("days").fill("3")
    card.get_by_label("alerts").select_option("false")
    card.get_by_role("button", name="Add an item").click()
    card.get_by_role("textbox", name="item 1").fill("north")
    card.get_by_label("north", exact=False).last.fill("48.5")
    card.get_by_label("Which form the value has").select_option("an hour")
    card.get_by_label("Value", exact=True).fill("7")
    card.get_by_role("button", name="Write as JSON").click()
    assert json.loads(card.get_by_label("Arguments as JSON").input_value()) == {
        "location": "Paris",
        "days": 3,
        "unit": "celsius",
        "alerts": False,
        "stations": ["north"],
        "area": {"north": 48.5},
        "moment": 7,
    }
    call(card)
    card.get_by_text('"temperature": 21').wait_for()
    expect(card).to_contain_text("Success")


@pytest.mark.requirement("I15.2.12")
def test_each_format_shows_its_payload_and_what_it_loses(person: Visit) -> None:
    card = opened(person, "get_weather")
    card.get_by_role("tab", name="Payloads").click()
    card.get_by_text("nothing lost").wait_for()
    expect(card).to_contain_text('"input_schema"')
    card.get_by_role("tab", name="gemini", exact=True).click()
    card.get_by_role("region", name="gemini").wait_for()
    card.get_by_role("columnheader", name="What is lost").wait_for()


@pytest.mark.requirement("I15.2.12")
def test_a_destructive_call_is_made_only_once_it_is_confirmed(person: Visit) -> None:
    card = opened(person, "edit_file")
    for name in ("path", "old_string", "new_string"):
        card.get_by_label(name).fill("x")
    call(card)
    person.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(card.locator(".outcome")).to_have_count(0)
    call(card)
    person.page.get_by_role("button", name="Call it anyway").click()
    card.get_by_text('"changed": 1').wait_for()


@pytest.mark.requirement("I15.2.12")
def test_a_tool_that_fails_says_why_and_what_to_do(person: Visit) -> None:
    card = opened(person, "fails")
    call(card)
    card.locator(".run-note-error", has_text="Ask for something else.").wait_for()
    expect(card).to_contain_text("<img src=x onerror=alert(2)> broke")
    expect(card).to_contain_text("broken_on_purpose")


@pytest.mark.requirement("I15.2.2")
@pytest.mark.requirement("I15.2.13")
def test_a_test_shows_reasoning_calls_the_answer_and_its_cost(person: Visit) -> None:
    person.page.get_by_role("button", name="What's the weather in Paris?").click()
    person.choose_model("models/best")
    person.page.get_by_role("button", name="Run Test").click()
    person.page.get_by_text("Continue in the chat").wait_for()
    results = person.page.locator(".results")
    for words in (
        "Final response",
        "Reasoning",
        "It is sunny in Paris.",
        "done",
        "Iteration 1",
        "ms",
        "best",
    ):
        expect(results).to_contain_text(words)
    for words in ("Service models", "Tool calls 1", "250 in, 30 out", "Cost $0", "Iterations 2"):
        expect(results).to_contain_text(words, use_inner_text=True)
    expect(results.locator("details.reasoning")).not_to_have_attribute("open", "")
    results.locator(".call summary").click()
    expect(results.locator(".call")).to_contain_text('"condition": "sunny"')
    person.page.get_by_role("button", name="Yes, record a success").click()
    person.page.get_by_text("Recorded for this model.").wait_for()


@pytest.mark.requirement("I15.2.13")
def test_a_double_click_runs_one_test(person: Visit, app: WebApp) -> None:
    person.choose_model("models/best")
    person.page.get_by_label("Test query").fill("Count the double clicks")
    person.page.get_by_role("button", name="Run Test").dblclick()
    person.page.get_by_text("Continue in the chat").wait_for()
    found = app.ask("GET", "/api/conversations?search=double").json["conversations"]
    assert len(found) == 1


@pytest.mark.requirement("I15.2.13")
def test_a_model_that_calls_tools_for_ever_is_stopped_with_a_warning(person: Visit) -> None:
    person.test("Go round and round")
    person.page.get_by_text("Max iterations reached").wait_for()
    person.page.get_by_text("Continue in the chat").wait_for()
    expect(person.page.locator(".results .call[data-state=done]")).to_have_count(5)


@pytest.mark.requirement("I15.2.13")
def test_an_error_of_the_provider_is_told_and_another_test_can_be_run(person: Visit) -> None:
    person.test("overloaded")
    person.page.locator(".run-note-error").get_by_text("overloaded <b>").wait_for()
    expect(person.page.get_by_role("button", name="Run Test")).to_be_enabled()
    person.page.get_by_label("Test query").fill("")
    person.page.get_by_role("button", name="Run Test").click()
    person.page.get_by_text("Please enter a test query and select a model.").wait_for()


@pytest.mark.requirement("I15.2.13")
def test_a_model_that_no_provider_lists_is_written(person: Visit) -> None:
    person.page.locator("#test-model option", has_text="Another model").wait_for(state="attached")
    person.page.locator("#test-model").select_option(label="Another model …")
    person.page.get_by_label("Another model").last.fill("nowhere/none")
    person.page.get_by_label("Test query").fill("weather")
    person.page.get_by_role("button", name="Run Test").click()
    person.page.get_by_role("alert").get_by_text("no provider 'nowhere'").wait_for()


@pytest.mark.requirement("I15.2.14")
def test_a_question_of_a_server_is_a_form_that_is_checked_and_sent(person: Visit) -> None:
    person.test("Book a room")
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_text("Which room shall it be?").wait_for()
    dialog.get_by_label("Guest").fill("A")
    dialog.get_by_label("Mail").fill("nobody")
    dialog.get_by_label("Nights").fill("2.5")
    dialog.get_by_role("button", name="Send").click()
    for fault in (
        "At least 2 characters.",
        "not of the form email",
        "not a whole number",
        "This is required.",
    ):
        expect(dialog).to_contain_text(fault)
    dialog.get_by_label("Guest").fill("Ada")
    dialog.get_by_label("Mail").fill("ada@example.com")
    dialog.get_by_label("Arrival").fill("2026-12-24")
    dialog.get_by_label("Nights").fill("2")
    dialog.get_by_label("Budget").fill("99.5")
    dialog.get_by_label("Kind").select_option("Two beds")
    dialog.get_by_label("View").select_option("Of the sea")
    dialog.get_by_label("cot").check()
    dialog.get_by_label("desk").check()
    dialog.get_by_role("button", name="Send").click()
    person.page.get_by_text("Continue in the chat").wait_for()
    panel = person.page.locator(".results .call")
    sent = json.loads(panel.get_by_role("region", name="Result").inner_text())["booked"]
    assert sent == {
        "action": "accept",
        "content": {
            "guest": "Ada",
            "mail": "ada@example.com",
            "arrival": "2026-12-24",
            "nights": 2,
            "budget": 99.5,
            "breakfast": True,
            "kind": "double",
            "view": "sea",
            "extras": ["cot", "desk"],
        },
    }
    expect(panel).to_contain_text("info: looking for rooms")


@pytest.mark.requirement("I15.2.14")
@pytest.mark.parametrize(("button", "action"), [("Decline", "decline"), ("Cancel the question", "cancel")])
def test_a_question_is_put_off_and_then_declined(person: Visit, button: str, action: str) -> None:
    person.test("Book a room")
    person.page.get_by_role("dialog").wait_for()
    person.page.keyboard.press("Escape")
    person.page.get_by_text("world waits for your answer.").wait_for()
    person.page.get_by_role("button", name="Answer", exact=True).click()
    person.page.get_by_role("dialog").get_by_role("button", name=button).click()
    person.page.get_by_text("Continue in the chat").wait_for()
    person.page.locator(".results .call[open]").get_by_text(f'"action": "{action}"').wait_for()


@pytest.mark.requirement("I15.2.14")
def test_changed_arguments_are_refused_where_they_do_not_fit_and_else_shown_before_they_are_allowed(
    person: Visit,
) -> None:
    person.test("Change my notes")
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_text("Change the arguments").click()
    dialog.get_by_label("Arguments as JSON").fill('{"path": 1}')
    expect(dialog.get_by_role("button", name=re.compile("llow"))).to_have_count(0)
    dialog.get_by_role("button", name="Look at the changed call").click()
    dialog.get_by_text("/arguments").wait_for()
    changed = {"path": "other.txt", "old_string": "a", "new_string": "b"}
    dialog.get_by_label("Arguments as JSON").fill(json.dumps(changed))
    dialog.get_by_role("button", name="Look at the changed call").click()
    dialog.locator(".preview", has_text="other.txt").wait_for()
    dialog.get_by_role("button", name="Allow once").click()
    person.page.get_by_text("Continue in the chat").wait_for()
    expect(person.page.locator(".results .call[data-state=done]")).to_have_count(1)


@pytest.mark.requirement("I15.2.14")
def test_a_call_that_is_denied_tells_the_model_the_reason(person: Visit) -> None:
    person.test("Change my notes")
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("not now")
    dialog.get_by_role("button", name="Deny").click()
    person.page.get_by_text("Continue in the chat").wait_for()
    person.page.locator(".results .call summary").click()
    expect(person.page.locator(".results .call[data-state=denied]")).to_contain_text("not now")
