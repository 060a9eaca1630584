"""The chat over a real process: conversations, their list, and two tabs at one of them."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.page_world import Visit, asked, visit
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long

SUNNY = "It is sunny in Paris."


@pytest.fixture
def person(browser: Browser, app: WebApp) -> Generator[Visit]:
    with visit(browser, app, accept_downloads=True) as found:
        found.go("chat")
        yield found


def answered(person: Visit, text: str = SUNNY) -> None:
    """Wait until the answer with ``text`` is there and another question may be asked."""
    person.page.locator(".message-assistant .prose", has_text=text).last.wait_for()
    person.page.get_by_role("button", name="Send").wait_for()


def again(person: Visit, *others: Visit) -> None:
    """Have the last question asked again, and wait until every page shows the run of that."""
    pages = [each.page for each in (person, *others)]
    before = [page.locator(".run").last.get_attribute("data-run") for page in pages]
    person.page.get_by_role("button", name="Try again").click()
    for page, run in zip(pages, before, strict=True):
        expect(page.locator(f".run[data-run='{run}']")).to_have_count(0)


@pytest.mark.requirement("I15.2.15")
def test_an_answer_is_markdown_with_its_reasoning_and_calls_and_the_same_after_a_reload(
    person: Visit,
) -> None:
    person.ask("What's the weather?")
    answered(person)
    answer = person.page.locator(".message-assistant").last
    expect(answer.locator("strong", has_text="sunny")).to_have_count(1)
    expect(answer.locator("table")).to_have_count(1)
    expect(answer.locator("li")).to_have_count(2)
    expect(answer.locator("pre code", has_text="print(21)")).to_have_count(1)
    expect(person.page.locator(".messages").get_by_text("They want the weather")).to_have_count(1)
    expect(person.page.locator(".call[data-state=done]")).to_have_count(1)
    person.page.reload()
    answered(person)
    expect(person.page.locator(".message-user")).to_have_count(1)
    expect(person.page.locator(".messages").get_by_text("They want the weather")).to_have_count(1)
    expect(person.page.locator(".message-assistant strong", has_text="sunny")).to_have_count(1)
    expect(person.page.locator(".call[data-state=done]")).to_have_count(1)


@pytest.mark.requirement("I25.2.1")
def test_text_that_is_no_part_of_the_answer_goes_from_the_page(person: Visit) -> None:
    program = """async () => {
        const { RunView } = await import("./talk/run.js");
        const view = new RunView({ id: "r" });
        const shown = () => [...view.body.children].map((each) => each.className + ":" + each.textContent);
        view.take("iteration", { iteration: 1 });
        view.take("text_delta", { text: "I look." });
        view.take("text_retracted", { iteration: 1 });
        const first = shown();
        view.take("text_delta", { text: "Hm." });
        view.take("reasoning_delta", { text: "Hm.", was_text: true });
        view.take("text_delta", { text: "Oslo." });
        view.take("text", { text: "Oslo." });
        return [first, shown()];
    }"""
    first, last = person.page.evaluate(program)
    assert first == []
    assert last == ["reasoning:ReasoningHm.", "prose:Oslo."]


@pytest.mark.requirement("I15.2.15")
def test_conversations_are_searched_renamed_and_deleted_in_their_list(person: Visit, app: WebApp) -> None:
    page = person.page
    talk = asked(app, "Say something about owls")
    person.go("chat")
    page.get_by_label("Search conversations").fill("OWLS")
    expect(page.locator(".talks li")).to_have_count(1)
    page.locator(".talks li").hover()
    page.get_by_role("button", name="Rename: Say something about owls").click()
    page.get_by_label("Title").fill("Birds")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("No conversation is so named.")).to_have_count(1)
    page.get_by_label("Search conversations").fill("birds")
    page.locator(".talks a", has_text="Birds").click()
    page.locator(".talk-head h1", has_text="Birds").wait_for()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_text("“Birds” is deleted for good.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("Start with a question").wait_for()
    assert app.ask("GET", f"/api/conversations/{talk}").status == 404


@pytest.mark.requirement("I15.2.15")
def test_a_long_list_comes_page_after_page(person: Visit, app: WebApp) -> None:
    for number in range(32):
        made = {"title": f"Long list {number}"}
        assert app.ask("POST", "/api/conversations", made).status == 201
    person.page.get_by_label("Search conversations").fill("long list")
    expect(person.page.locator(".talks li")).to_have_count(30)
    person.page.get_by_role("button", name="Older").click()
    expect(person.page.locator(".talks li")).to_have_count(32)
    titles = person.page.locator(".talk-title").all_inner_texts()
    assert len(set(titles)) == 32


@pytest.mark.requirement("I15.2.15")
def test_a_question_is_asked_again_forked_and_exported(person: Visit) -> None:
    page = person.page
    person.ask("What's the weather?")
    answered(person)
    first = page.url
    again(person)
    answered(person)
    expect(page.locator(".message-user")).to_have_count(1)
    expect(page.locator(".message-assistant strong", has_text="sunny")).to_have_count(1)
    person.ask("Tell me more")
    answered(person, "I have no answer to that")
    page.get_by_role("button", name="Fork from here").first.click()
    page.wait_for_url(re.compile(r"#/chat/(?!" + first.rpartition("/")[2] + ")"))
    answered(person)
    expect(page.locator(".message-user")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert "What's the weather?" in download.value.path().read_text()


@pytest.mark.requirement("I15.2.15")
def test_a_file_goes_with_a_question(person: Visit, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Rain tomorrow.")
    (tmp_path / "large.bin").write_bytes(bytes(11 * 1024 * 1024))
    page = person.page
    page.locator("input[type=file]").set_input_files([tmp_path / "note.txt", tmp_path / "large.bin"])
    page.get_by_text("large.bin was not attached: the files of a message may have 2.9 MB together").wait_for()
    page.get_by_role("button", name="Remove note.txt").wait_for()
    person.ask("What is in this file?")
    answered(person, "I have no answer to that")
    expect(page.locator(".message-user .tag")).to_have_count(1)
    page.reload()
    answered(person, "I have no answer to that")
    expect(page.locator(".message-user .tag")).to_have_count(1)


@pytest.mark.requirement("I15.2.10")
@pytest.mark.requirement("I15.2.15")
def test_a_call_that_takes_long_is_stopped_and_the_conversation_goes_on(person: Visit) -> None:
    page = person.page
    person.ask("wait")
    page.locator(".call[data-state=running]").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped.").wait_for()
    person.ask("What's the weather?")
    answered(person)


@pytest.mark.requirement("I15.2.16")
def test_two_tabs_see_one_conversation_and_an_answer_in_one_closes_the_question_in_the_other(
    browser: Browser, app: WebApp, person: Visit
) -> None:
    person.ask("Change my notes")
    person.page.get_by_role("dialog").get_by_text("Allow edit_file?").wait_for()
    with visit(browser, app) as other:
        other.page.goto(person.page.url)
        other.page.get_by_role("dialog").get_by_role("button", name="Allow once").click()
        for each in (person, other):
            answered(each, "The notes are changed.")
            expect(each.page.get_by_role("dialog")).to_have_count(0)
            expect(each.page.locator(".message-user")).to_have_count(1)
        other.ask("What's the weather?")
        for each in (person, other):
            answered(each)
            expect(each.page.locator(".message-user")).to_have_count(2)
            expect(each.page.locator(".call[data-state=done]")).to_have_count(2)
        again(person, other)
        for each in (person, other):
            answered(each)
            expect(each.page.locator(".message-assistant strong", has_text="sunny")).to_have_count(1)
            expect(each.page.locator(".message-user")).to_have_count(2)


@pytest.mark.requirement("I15.2.16")
def test_a_run_that_goes_on_is_seen_whole_by_who_comes_later(browser: Browser, app: WebApp) -> None:
    talk = asked(app, "Change my notes")
    with visit(browser, app) as person:
        person.page.goto(f"{app.url}/ui/#/chat/{talk}")
        person.page.get_by_role("dialog").get_by_role("button", name="Deny").click()
        answered(person, "The notes are changed.")
        expect(person.page.locator(".message-user")).to_have_count(1)
        expect(person.page.locator(".call[data-state=denied]")).to_have_count(1)
