"""The report in each of its forms: what it says, and that nothing in it acts, whatever was written."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema_rs
import junitparser
import pytest
from typing_extensions import override

from tests.support.trials import a_trial
from toolspan_bridge.errors import UsageError
from toolspan_bridge.validation import Counts, Fingerprint, Trial, records_of
from toolspan_bridge.validation.reports import FORMS, Contents, baseline_of, contents_of
from toolspan_bridge.validation.reports.csv import safe
from toolspan_bridge.validation.reports.document import SCHEMA_FILE
from toolspan_bridge.validation.reports.html import render
from toolspan_bridge.validation.reports.markdown import literal

pytestmark = pytest.mark.requirement("I14.5.1")

MARK = Fingerprint(model="qwen3:8b", provider="ollama", suite="s1", toolspan="1.0")
HOSTILE = '=cmd|"/c calc"!A1 </td><script>alert(1)</script> `x` [a](http://e) @all | \x00\x1b[2J\u202e\ud800'


def tried(
    scenario: str, outcomes: str, *, model: str = "ollama/qwen3:8b", called: str = "find"
) -> list[Trial]:
    """A trial for each of ``outcomes``, + or -, that expected a call of ``find``."""
    call = {"tool": called, "arguments": {"q": scenario}, "result": {"success": True}, "iteration": 1}
    details = {"query": scenario, "content": "Done.", "expected": {"calls": ["find"]}, "tags": ["shop"]}
    made = a_trial(scenario, model_id=model, details={**details, "tool_calls": [call], "duration_ms": 7})
    failed = replace(made, success=False, error=f"{called} was called")
    return [replace(made if each == "+" else failed, fingerprint=MARK) for each in outcomes]


def form(name: str, given: Contents) -> str:
    """The report of that form as one text."""
    return "".join(FORMS[name](given))


def contents(*trials: Trial, **options: Any) -> Contents:
    return contents_of(records_of(trials), **options)


def broken(scenario: str, times: int) -> list[Trial]:
    """Trials that the provider did not bring to an end."""
    (trial,) = tried(scenario, "-")
    return [replace(trial, is_error=True, error="HTTP 503: overloaded")] * times


TWO = contents(
    *tried("soup", "++-"), *tried("nuts", "+", model="openai/gpt-4o"), *tried("nuts", "-", called="buy")
)
DOWN = contents(*tried("soup", "+-"), *broken("soup", 2), *broken("nuts", 1))
EVIL = contents(*tried(HOSTILE, "+-", model=HOSTILE, called=HOSTILE))


class _Page(HTMLParser):
    """The elements of a page, and whether each is closed where it has to be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "wbr", "rect", "circle", "line"):
            self._open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("given", [TWO, EVIL, contents()], ids=["two models", "hostile", "nothing"])
def test_the_document_fits_its_published_schema(given: Contents) -> None:
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    compared = contents_of(given.records, baseline={("m", "s", ""): Counts(4, 4)})
    for each in (given, compared):
        jsonschema_rs.validator_for(schema).validate(
            json.loads(form("json", each).encode("utf-8", "replace"))
        )


def test_the_document_has_the_figures() -> None:
    first, second = json.loads(form("json", TWO))["records"]
    assert (first["model_id"], second["model_id"]) == ("ollama/qwen3:8b", "openai/gpt-4o")
    assert [(each["name"], each["n"], each["successes"]) for each in first["scenarios"]] == [
        ("soup", 3, 2),
        ("nuts", 1, 0),
    ]
    assert first["flaky"] == ["soup"]
    assert first["pass_k"] == {"1": 0.333333}
    assert first["confusion"] == [
        {"expected": "find", "called": "buy", "count": 1},
        {"expected": "find", "called": "find", "count": 3},
    ]
    assert first["latency_ms"]["p50"] == 7
    assert first["badge"]["status"] == "failed" and second["badge"]["status"] == "provisional"


def test_the_page_is_whole_and_needs_and_runs_nothing() -> None:
    page = _Page(form("html", TWO))
    assert "script" not in page.tags and "link" not in page.tags and "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    ids = [value for name, value in page.attributes if name == "id"]
    assert {f"#{each}" for each in ids} == {value for name, value in page.attributes if name == "href"}
    for words in (
        "ollama/qwen3:8b",
        "openai/gpt-4o",
        "not tried",
        "66 %",
        "2 of 3",
        "Confusion matrix",
        "buy was called",
    ):
        assert words in page.text, words
    assert page.tags.count("h1") == 1 and page.tags.count("main") == 1
    assert page.tags.count("caption") == page.tags.count("table")
    assert ("lang", "en") in page.attributes
    assert len(ids) == len(set(ids)) and {v for n, v in page.attributes if n == "aria-labelledby"} <= set(ids)
    headers = page.tags.count("th")
    assert headers == sum(name == "scope" for name, _ in page.attributes)
    style = form("html", TWO)
    assert "prefers-color-scheme: dark" in style and "@media print" in style


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_text_of_the_page_can_be_read_by_day_and_by_night() -> None:
    """The contrast of WCAG 2.2 AA, which axe checks too: 4.5 to 1."""
    style = form("html", TWO)
    day, night = (dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part)) for part in style.split("@media")[:2])
    for colours in (day, night):
        on_page = [
            ("fg", "bg"),
            ("soft", "bg"),
            ("soft", "box"),
            ("fg", "box"),
            ("soft", "none"),
            ("fg", "none"),
        ]
        on_page += [(status, "bg") for status in ("good", "bad", "fair")] + [
            ("fg", f"r{n}") for n in range(5)
        ]
        for text, ground in on_page:
            light, dark = sorted((_luminance(colours[text]), _luminance(colours[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def test_hostile_text_is_text_in_the_page() -> None:
    whole = form("html", EVIL)
    page = _Page(whole)
    assert "script" not in page.tags and "<script" not in whole
    assert not set("\x00\x1b\u202e\ud800") & set(whole)
    assert "alert(1)" in page.text and "\\x1b[2J" in page.text
    whole.encode()


def test_junit_has_a_case_for_each_trial_and_takes_any_text() -> None:
    root = ET.fromstring(form("junit", TWO))
    assert (root.attrib["tests"], root.attrib["failures"]) == ("5", "2")
    first = root.findall("testsuite")[0]
    names = [case.attrib["name"] for case in first.findall("testcase")]
    assert names == ["soup #1", "soup #2", "soup #3", "nuts #1"]
    assert [failure.attrib["message"] for failure in first.iter("failure")] == [
        "find was called",
        "buy was called",
    ]
    badge = next(each for each in first.iter("property") if each.attrib["name"] == "badge")
    assert badge.attrib["value"].startswith("failed (n=4")
    evil = ET.fromstring(form("junit", EVIL))
    assert "</td><script>" in next(evil.iter("testcase")).attrib["name"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "＝1", "|x", "%0A", "=HYPERLINK(1)", "\r=1"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert safe(text).startswith(("'", "\\")), safe(text)


def test_rows_have_every_record_scenario_tool_and_tag() -> None:
    rows = list(csv.DictReader(io.StringIO(form("csv", TWO))))
    assert [(row["kind"], row["name"], row["n"], row["successes"]) for row in rows[:5]] == [
        ("record", "", "4", "2"),
        ("scenario", "soup", "3", "2"),
        ("scenario", "nuts", "1", "0"),
        ("tool", "find", "4", "2"),
        ("tag", "shop", "4", "2"),
    ]
    evil = list(csv.reader(io.StringIO(form("csv", EVIL))))
    assert len({len(row) for row in evil}) == 1
    assert not [cell for row in evil for cell in row if cell.startswith(("=", "+", "-", "@"))]


def test_markdown_is_one_table_in_which_foreign_text_means_nothing() -> None:
    text = form("markdown", TWO)
    assert "🔧⚠️ failed (n=4, 50 %" in text and "No change" not in text
    hostile = literal(HOSTILE)
    assert not set("<>`[]|@!\\*_:.\n") & set(hostile.removeprefix("<code>").removesuffix("</code>"))
    rows = [line for line in form("markdown", EVIL).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {7}
    assert "<script" not in form("markdown", EVIL) + form("badge", EVIL)


def test_an_image_has_a_badge_for_each_record() -> None:
    root = ET.fromstring(form("svg", TWO))
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 2
    ET.fromstring(form("svg", EVIL))
    assert "untested" in form("svg", contents())


@pytest.mark.requirement("I14.3.5")
def test_a_baseline_is_read_from_a_document_and_compared_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(form("json", contents(*tried("soup", "+" * 30), *tried("gone", "+"))), "utf-8")
    now = contents(*tried("soup", "+" * 10 + "-" * 20), baseline=baseline_of(path))
    assert now.comparison is not None
    assert [cell.name[2] for cell in now.comparison.regressions] == ["", "soup"]
    assert now.comparison.only_before == (("ollama/qwen3:8b", "default", "gone"),)
    assert "worse" in form("html", now) and "worse" in form("markdown", now)
    same = contents(*tried("soup", "+" * 29 + "-"), baseline=baseline_of(path))
    assert same.comparison is not None and same.comparison.regressions == ()
    assert "No change by more than chance" in form("markdown", same)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"document": "other"}',
        '{"document": "toolspan-report", "version": 1, "records": [{}]}',
        '{"document": "toolspan-report", "version": 3, "records": []}',
        '{"document": "toolspan-report", "version": 1, "records": [{"model_id": "m", "suite": "s", '
        '"last_tested": "", "counts": {"n": 1, "successes": 2}, "scenarios": []}]}',
    ],
)
def test_what_is_no_baseline_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"before\.json"):
        baseline_of(path)
    with pytest.raises(UsageError, match="cannot be read"):
        baseline_of(tmp_path / "nothing")


@pytest.mark.requirement("I14.5.10")
def test_errors_are_shown_in_every_form_and_are_no_failures() -> None:
    (record,) = json.loads(form("json", DOWN))["records"]
    assert [record["counts"][each] for each in ("n", "successes", "errors")] == [2, 1, 3]
    assert [(each["n"], each["errors"]) for each in record["scenarios"]] == [(2, 2), (0, 1)]
    assert [each["is_error"] for each in record["trials"]] == [False, False, True, True, True]
    jsonschema_rs.validator_for(json.loads(SCHEMA_FILE.read_text("utf-8"))).validate(
        json.loads(form("json", DOWN))
    )
    rows = list(csv.DictReader(io.StringIO(form("csv", DOWN))))
    assert [(row["n"], row["successes"], row["errors"]) for row in rows[:3]] == [
        ("2", "1", "3"),
        ("2", "1", "2"),
        ("0", "0", "1"),
    ]
    page = _Page(form("html", DOWN))
    for words in ("3 errors", "1 of 2", "no trial", "error, no trial of the model: HTTP 503: overloaded"):
        assert words in page.text, words
    told = form("markdown", DOWN)
    assert "| 3 |" in told and "Errors of providers" in told
    assert "HTTP 503&#58; overloaded</code> (2 ×)" in told
    assert "Errors of providers" not in form("markdown", TWO)


@pytest.mark.requirement("I14.5.10")
@pytest.mark.parametrize("given", [TWO, EVIL, DOWN, contents()], ids=["two", "hostile", "errors", "nothing"])
def test_junit_is_read_by_a_parser_that_others_wrote(given: Contents) -> None:
    report = junitparser.JUnitXml.fromstring(form("junit", given).encode())
    suites = list(report)
    assert len(suites) == len(given.records)
    cases = [case for suite in suites for case in suite]
    kinds = [type(each).__name__ for case in cases for each in case.result]
    trials = [trial for record in given.records for trial in record.trials]
    assert (report.tests, len(cases)) == (len(trials), len(trials))
    assert report.errors == kinds.count("Error") == sum(trial.is_error for trial in trials)
    failed = sum(not trial.success and not trial.is_error for trial in trials)
    assert report.failures == kinds.count("Failure") == failed


@pytest.mark.requirement("I14.5.10")
def test_a_baseline_of_the_version_without_errors_is_read(tmp_path: Path) -> None:
    document = json.loads(form("json", TWO))
    document["version"] = 1
    for record in document["records"]:
        for counts in (record["counts"], *record["scenarios"]):
            del counts["errors"]
    path = tmp_path / "before.json"
    path.write_text(json.dumps(document), "utf-8")
    assert baseline_of(path)["ollama/qwen3:8b", "default", "soup"] == Counts(3, 2)


@pytest.mark.requirement("I14.5.11")
def test_a_page_of_many_trials_keeps_the_transcripts_of_failures_and_counts_the_rest() -> None:
    many = contents(*tried("soup", "+" * 50 + "-" * 2), *tried("nuts", "+" * 50))
    whole, short = render(many), render(many, most_characters=1_500)
    assert "left out" not in whole
    assert whole.count("<strong>Question</strong>") == 102
    shown = short.count("<strong>Question</strong>")
    assert 3 <= shown < 10
    assert f"The transcripts of {102 - shown} trials are left out" in short
    failed = [part for part in short.split("<summary>")[1:] if "failed: find was called" in part]
    assert len(failed) == 2 and all("<strong>Question</strong>" in part for part in failed)
    assert short.count("Trial 50 ") == 2, "each trial has its line all the same"


@pytest.mark.requirement("I14.5.16")
def test_a_page_lists_as_many_trials_as_a_browser_opens_failures_first_and_counts_the_rest() -> None:
    many = contents(*tried("soup", "+" * 50 + "-" * 2), *tried("nuts", "+" * 50))
    page = render(many, most_trials=20)
    assert "and 42 more trials" in page and "and 40 more trials" in page
    assert "The transcripts of 82 trials are left out" in page
    numbers = [int(number) for number in re.findall(r"Trial (\d+) ", page)]
    assert numbers == [*range(1, 9), 51, 52, *range(1, 11)]
    assert "50 of 52" in page, "what is not listed is counted"
    assert "more trials" not in render(many, most_trials=104)


@pytest.mark.requirement("I14.5.11")
def test_a_long_text_of_a_transcript_is_cut_and_says_so() -> None:
    (trial,) = tried("soup", "+")
    long = replace(trial, details={**trial.details, "content": "x" * 10_000})
    assert "… and 6,000 more characters" in render(contents(long))


@pytest.mark.requirement("I14.5.11")
def test_a_conversation_of_several_turns_is_shown_turn_by_turn() -> None:
    (trial,) = tried("soup", "+")
    answers = [{"content": f"Answer {n}", "tool_calls": []} for n in (1, 2)]
    talked = replace(trial, details={**trial.details, "queries": ["First?", "Second?"], "turns": answers})
    text = _Page(render(contents(talked))).text
    places = [text.index(each) for each in ("First?", "Answer 1", "Second?", "Answer 2")]
    assert places == sorted(places)


@pytest.mark.requirement("I14.5.12")
def test_markdown_tells_each_reason_once_and_is_short_whatever_failed() -> None:
    failed = [replace(each, error="x" * 5_000) for each in tried("soup", "-" * 500)]
    others = [replace(each, error=f"reason {n}") for n, each in enumerate(tried("nuts", "-" * 100))]
    told = form("markdown", contents(*failed, *others))
    assert "(500 ×)" in told and "- and 81 more" in told
    assert len(told) < 5_000


@pytest.mark.requirement("I14.5.10")
def test_a_weighted_rate_is_there_where_scenarios_weigh_differently() -> None:
    heavy = [
        replace(each, details={**each.details, "weight": 3})
        for each in [*tried("soup", "+-"), *broken("soup", 1)]
    ]
    mixed = contents(*heavy, *tried("nuts", "++"))
    (record,) = json.loads(form("json", mixed))["records"]
    assert record["weighted_rate"] == 0.625, "3 + 1 + 1 of 3 + 3 + 1 + 1"
    assert record["counts"]["rate"] == 0.75
    assert "Weighted rate" in form("html", mixed) and "62.5%" in form("html", mixed)
    (plain,) = json.loads(form("json", contents(*heavy)))["records"]
    assert plain["weighted_rate"] is None and "Weighted rate" not in form("html", TWO)
