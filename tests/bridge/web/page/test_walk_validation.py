"""Validation in the page over a real process: matrix, trials, runs, comparison."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.page_world import Visit, visit
from tests.support.web_app import WebApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.2.18")]


@pytest.fixture
def person(browser: Browser, app: WebApp) -> Generator[Visit]:
    with visit(browser, app) as found:
        yield found


def test_a_cell_of_the_matrix_leads_to_transcripts(person: Visit) -> None:
    person.go("validation")
    page = person.page
    cell = page.get_by_role("button", name="offline/keyword, weather:")
    expect(cell).to_contain_text("0 %")
    cell.click()
    person.settled()
    failed = page.locator(".trials details", has_text="✗ failure").first
    failed.locator("summary").first.click()
    for words in ("What's the weather in Paris?", "Tool calls (1)", "get_weather", "Invalid parameters"):
        expect(failed).to_contain_text(words)
    page.get_by_label("Outcome").select_option("success")
    page.get_by_text("No trials fit.").wait_for()


def test_a_models_total_has_its_badge_and_history(person: Visit) -> None:
    person.go("validation")
    page = person.page
    page.get_by_role("button", name="models/best, All:").click()
    person.settled()
    page.get_by_role("img", name="models/best with known").wait_for()
    expect(page.get_by_role("region", name="History").locator("tbody tr")).to_have_count(1)
    expect(page.locator(".trials details[class]")).to_have_count(0)
    expect(page.locator(".trials").get_by_text("calculator was not called")).not_to_have_count(0)


def test_a_run_is_started_followed_and_then_in_the_history_and_the_matrix(person: Visit) -> None:
    page = person.page
    person.go("validation/runs")
    stored = page.get_by_role("region", name="History").locator("tbody tr")
    before = stored.count()
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Choose at least one suite and one model.").wait_for()
    page.get_by_role("group", name="Suites").get_by_label("known").check()
    page.get_by_role("group", name="Models").get_by_label("models/never").check()
    page.get_by_label("Trials of each scenario").fill("2")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("done · 6 of 6 trials · 33 %").wait_for()
    expect(page.get_by_role("list", name="Progress").locator("li")).to_have_count(6)
    expect(page.get_by_role("region", name="So far")).to_contain_text("models/never")
    expect(stored).to_have_count(before + 1)
    page.reload()
    page.get_by_text("done · 6 of 6 trials · 33 %").wait_for()
    page.get_by_role("button", name="Trials", exact=True).click()
    expect(page.locator(".trials > div > details")).to_have_count(6)
    page.get_by_role("tab", name="Matrix").click()
    page.get_by_role("button", name="models/never, All:").wait_for()


def test_a_run_that_takes_long_is_cancelled(person: Visit, app: WebApp) -> None:
    (app.errors.parent / "slow.yaml").write_text("answers: [{turns: [{text: hm, silent: true}]}]")
    page = person.page
    person.go("validation/runs")
    page.get_by_role("group", name="Suites").get_by_label("known").check()
    page.get_by_label("Other models").fill("scripted/slow.yaml")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("0 of 9 trials").wait_for()
    for _ in range(2):
        page.get_by_role("button", name="Cancel the run").click()
    page.get_by_text("cancelled ·").wait_for()


def test_two_runs_of_the_store_are_compared(person: Visit) -> None:
    page = person.page
    person.go("validation/compare")
    page.get_by_label("Before").select_option("")
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("Choose two runs.").wait_for()
    runs = page.get_by_label("Before").locator("option").all_inner_texts()
    offline = [each for each in runs if "offline" in each]
    page.get_by_label("Before").select_option(label=offline[-1])
    page.get_by_label("After").select_option(label=offline[-2])
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("Nothing has changed by more than chance.").wait_for()
    rows = page.get_by_role("region", name="Compare").locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("no change")
    expect(page.get_by_text("Only before")).to_contain_text("models/best")
