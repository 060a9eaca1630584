"""The HTML report as people open it: in a real browser, by day and by night, wide and on a phone, on paper,
with the keyboard, and without scripts."""

from __future__ import annotations

import io
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pypdf
import pytest

from tests.support.browser import PHONE, WIDE, chromium, page_of, violations
from tests.support.trials import a_trial
from toolspan_bridge.validation import Fingerprint, Trial, records_of
from toolspan_bridge.validation.reports import FORMS, contents_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.5.13")]

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202eRTL\u2066\x1b[2J `x` | @all"
MARK = Fingerprint(model="m", provider="p", mode="native", suite="s1", toolspan="1.0")
SECRET_OF_THE_TRANSCRIPT = "Sunny in the transcript"


def made(
    model: str, outcomes: str, scenario: str, tool: str = "get_weather", called: str = ""
) -> list[Trial]:
    """A trial for each of ``outcomes``: + a success, - a failure, ! an error of the provider."""
    call = {
        "tool": called or tool,
        "arguments": {"location": "Paris"},
        "result": {"success": True, "result": SECRET_OF_THE_TRANSCRIPT},
        "iteration": 1,
    }
    details: dict[str, Any] = {
        "query": f"{scenario}?",
        "content": "It is sunny.",
        "expected": {"calls": [tool]},
        "tags": ["near"],
        "tool_calls": [call],
        "duration_ms": 1200,
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    right = replace(a_trial(scenario, model_id=model, details=details), fingerprint=MARK)
    failed = replace(right, success=False, error=f"wrong tool {called or 'get_time'} for {tool}")
    down = replace(failed, is_error=True, error="HTTP 503: overloaded")
    return [{"+": right, "-": failed, "!": down}[each] for each in outcomes]


def many() -> list[Trial]:
    """Records of every status, an earlier one of the same model, and errors."""
    old = [replace(each, fingerprint=replace(MARK, toolspan="0.9")) for each in made("a/good", "+++", "x")]
    later = [
        *made("a/good", "+" * 20, "weather in Paris"),
        *made("a/good", "+" * 20, "a tip", "calculate"),
        *made("b/flaky", "+-+-+-++!!", "weather in Paris", called="get_time"),
        *made("b/flaky", "+" * 10, "a tip", "calculate"),
        *made("c/new", "+++", "weather in Paris"),
        *made("d/down", "!!!", "weather in Paris"),
    ]
    return [*old, *(replace(each, timestamp="2026-11-22T10:00:00.123Z") for each in later)]


def evil() -> list[Trial]:
    return [
        replace(each, suite=HOSTILE)
        for model in (HOSTILE, f"{HOSTILE}/2")
        for each in made(model, "+-!", HOSTILE, HOSTILE, called=HOSTILE + "2")
    ]


def written(folder: Path, *trials: Trial) -> Path:
    path = folder / "report.html"
    path.write_text("".join(FORMS["html"](contents_of(records_of(trials)))), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as found:
        yield found


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("trials", [many, evil], ids=["many", "hostile"])
def test_axe_finds_nothing(browser: Browser, tmp_path: Path, trials: Any, scheme: Any, size: Any) -> None:
    with page_of(browser, written(tmp_path, *trials()), size=size, scheme=scheme) as page:
        assert violations(page) == []
        unfold(page)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], "the page is too wide"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)")


def test_axe_would_find_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, *many())
    path.write_text(path.read_text("utf-8").replace(' lang="en"', ""), "utf-8")
    with page_of(browser, path) as page:
        assert [each.partition(":")[0] for each in violations(page)] == ["html-has-lang"]


def test_hostile_names_are_text_and_nothing_acts(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, written(tmp_path, *evil())) as page:
        unfold(page)
        text = page.locator("body").inner_text()
        assert "<img src=x onerror=alert(1)></script><script>alert(2)</script>" in text
        assert "\\u202eRTL\\u2066" in text and "\u202e" not in text
        assert page.locator("script, img, iframe, object, form").count() == 0


def test_a_script_that_got_in_would_not_run(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, *many())
    evil_page = path.read_text("utf-8").replace("</body>", "<script>document.title='gone'</script></body>")
    path.write_text(evil_page, "utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.title() == "Which models use the tools"
    context.close()


def test_it_is_read_and_unfolded_without_scripts(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, written(tmp_path, *many()), scripts=False) as page:
        section = page.locator("section", has_text="b/flaky · default")
        transcript = section.get_by_text(SECRET_OF_THE_TRANSCRIPT).first
        assert not transcript.is_visible()
        section.locator("summary", has_text="weather in Paris: 5 of 8, 2 errors").click()
        section.locator("summary", has_text="failed: wrong tool get_time for get_weather").first.click()
        shown = section.locator("details[open] details[open]").inner_text()
        for words in ("weather in Paris?", "get_time", '"location": "Paris"', SECRET_OF_THE_TRANSCRIPT):
            assert words in shown, words


def test_every_drill_down_is_reached_and_opened_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, written(tmp_path, *made("a/x", "+-", "soup"))) as page:
        reached: set[str] = set()
        count = 0
        while count < 200:
            page.keyboard.press("Tab")
            count += 1
            at = page.evaluate(
                "(() => { const at = document.activeElement; return [at.tagName, at.innerText.trim()]; })()"
            )
            if at[0] == "BODY":
                break
            if at[0] == "SUMMARY":
                reached.add(at[1])
                page.keyboard.press("Enter")
        assert page.locator("details").count() == page.locator("details[open]").count() == len(reached) + 1
        assert page.locator("details").count() == 6


def test_a_cell_of_the_heat_map_leads_to_its_trials(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, written(tmp_path, *many())) as page:
        row = page.locator(".heat tr", has=page.locator("th", has_text="b/flaky")).first
        cell = row.locator("td").first
        assert cell.inner_text().split("\n") == ["62 %", "5 of 8, 31–86 %", "2 errors"]
        cell.locator("a").click()
        target = page.locator("details:target")
        assert target.locator("summary").first.inner_text() == (
            "weather in Paris: 5 of 8, 2 errors ✓✗✓✗✓✗✓✓!!"
        )


def test_on_paper_everything_that_was_folded_is_there(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, written(tmp_path, *made("a/x", "+-", "soup"))) as page:
        assert page.locator("details[open]").count() == 0
        paper = pypdf.PdfReader(io.BytesIO(page.pdf()))
    text = " ".join(" ".join(each.extract_text() for each in paper.pages).split())
    assert text.count(SECRET_OF_THE_TRANSCRIPT) == 2
    assert "input_tokens" in text, "the innermost ones too"


@pytest.mark.requirement("I14.5.11")
def test_a_report_of_ten_thousand_trials_is_bounded_and_opens(browser: Browser, tmp_path: Path) -> None:
    trials = [
        trial
        for model in range(50)
        for scenario in range(20)
        for trial in made(f"provider/model-{model}", "+++++++++-", f"scenario {scenario}")
    ]
    path = written(tmp_path, *trials)
    assert path.stat().st_size < 8_000_000
    with page_of(browser, path) as page:
        assert page.locator("summary", has_text="Trial 10").count() == 1_000, "of each cell the failure"
        assert "transcripts of" in page.locator("header").inner_text()
        assert page.locator("section").count() == 50
        assert page.locator(".heat tbody tr").count() >= 50
