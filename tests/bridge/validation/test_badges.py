"""A badge says what is proven, with how many trials and how sure, in the same words everywhere."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from toolspan_bridge.validation import (
    UNTESTED,
    Badge,
    BadgeRule,
    Counts,
    Fingerprint,
    Record,
    badge_of,
    badge_of_model,
)

pytestmark = pytest.mark.requirement("I14.3.4")


def record(n: int, successes: int, *changed: str, suite: str = "s", last: str = "2026-11-21") -> Record:
    return Record("m", suite, Fingerprint(model="m"), Counts(n, successes), last, last, changed)


@pytest.mark.parametrize(
    ("n", "successes", "text"),
    [
        (1, 1, "🔧⚠️ provisional (n=1, 100 %, 20–100 %)"),
        (15, 15, "🔧⚠️ provisional (n=15, 100 %, 79–100 %)"),
        (16, 16, "🔧✓ validated (n=16, 100 %, 80–100 %)"),
        (40, 38, "🔧✓ validated (n=40, 95 %, 83–99 %)"),
        (40, 36, "🔧⚠️ provisional (n=40, 90 %, 76–97 %)"),
        (5, 4, "🔧⚠️ provisional (n=5, 80 %, 37–97 %)"),
        (5, 3, "🔧⚠️ failed (n=5, 60 %, 23–89 %)"),
        (10_000, 7_999, "🔧⚠️ failed (n=10,000, 79 %, 79–81 %)"),
        (10_000, 8_200, "🔧✓ validated (n=10,000, 82 %, 81–83 %)"),
    ],
)
def test_the_status_follows_the_rate_and_the_lower_end_of_its_interval(
    n: int, successes: int, text: str
) -> None:
    assert badge_of(record(n, successes)).signed == text


def test_too_few_trials_are_provisional_however_low_the_threshold() -> None:
    assert badge_of(record(9, 9), BadgeRule(threshold=0.5)).status == "provisional"
    assert badge_of(record(10, 10), BadgeRule(threshold=0.5)).status == "validated"
    assert badge_of(record(9, 9), BadgeRule(threshold=0.5, minimum=9)).status == "validated"


def test_a_stale_badge_says_what_changed() -> None:
    stale = badge_of(record(40, 40, "tools", "toolspan"))
    assert stale.text == (
        "stale (n=40, 100 %, 91–100 %; changed: the tools' definitions, Toolspan's version)"
    )
    assert badge_of(record(1, 0, "fingerprint")).status == "stale"


def test_a_model_has_the_badge_of_its_last_record_that_holds() -> None:
    old, stale = record(40, 40, last="2026-11-20"), record(40, 0, "tools", last="2026-11-22")
    assert badge_of_model([stale, old]).status == "validated"
    assert badge_of_model([stale]).status == "stale"
    assert badge_of_model([old, record(4, 0, suite="other")]).status == "failed"
    assert badge_of_model([]) == UNTESTED
    assert UNTESTED.signed == "🔧⚠️ untested"


@pytest.mark.parametrize("label", ["ollama/qwen3:8b", '"><script>alert(1)</script>&\x00\x1b\ud800\uffff', ""])
def test_an_svg_badge_is_well_formed_and_says_its_words_whatever_the_label(label: str) -> None:
    root = ET.fromstring(Badge("validated", Counts(40, 38)).svg(label).encode())
    words = "".join(root.itertext())
    assert "validated · n=40, 95 %, 83–99 %" in words
    assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}
    assert root.attrib["role"] == "img" and "validated" in root.attrib["aria-label"]
