"""The heat map: the scenarios of a suite against the models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...evidence.records import Record
from ..contents import Contents
from ..words import errors_text, percent, share
from .anchors import Anchors
from .tags import Html, joined, table, tag

__all__ = ["heat_maps"]

_BUCKETS = (20, 50, 80, 95)
"""The percentages at which the next colour begins. They go from orange to blue, which every eye tells apart;
the rate is in each cell all the same."""


def heat_maps(contents: Contents, anchors: Anchors) -> Iterator[Html]:
    """A table for each suite with its latest records: of each cell the rate, its interval and the trials."""
    by_suite: dict[str, dict[str, Record]] = {}
    for record in contents.latest:
        by_suite.setdefault(record.suite, {})[record.model_id] = record
    for suite in sorted(by_suite):
        yield _suite(suite, by_suite[suite], anchors)
    if by_suite:
        yield _legend()


def _suite(suite: str, by_model: Mapping[str, Record], anchors: Anchors) -> Html:
    """The side with more names goes down the page."""
    models, scenarios = list(by_model), list(_scenarios(by_model.values()))
    caption = f"Success by scenario and model: {suite}"
    if len(models) > len(scenarios):
        rows = [(model, *(_cell(by_model[model], name, anchors) for name in scenarios)) for model in models]
        return table(caption, ("Model", *scenarios), rows, class_="heat")
    rows = [(name, *(_cell(by_model[model], name, anchors) for model in models)) for name in scenarios]
    return table(caption, ("Scenario", *models), rows, class_="heat")


def _scenarios(records: Iterable[Record]) -> Mapping[str, None]:
    return dict.fromkeys(name for record in records for name in record.scenarios)


def _cell(record: Record, scenario: str, anchors: Anchors) -> Html:
    counts = record.scenarios.get(scenario)
    if counts is None:
        return tag("td", "not tried", class_="none")
    low, high = (round(end * 100) for end in counts.interval)
    rate = tag("strong", f"{percent(counts)} %" if counts.n else "–")
    told = f"{share(counts)}, {low}–{high} %" if counts.n else "no trial"
    lines = [rate, tag("span", told), *(tag("span", each) for each in errors_text(counts))]
    bucket = sum(counts.rate * 100 >= least for least in _BUCKETS)
    link = tag("a", joined(lines), href=f"#{anchors.of_scenario(record, scenario)}")
    return tag("td", link, class_=f"r{bucket}" if counts.n else "none")


def _legend() -> Html:
    ends = zip((0, *_BUCKETS), (*(each - 1 for each in _BUCKETS), 100), strict=True)
    keys = (tag("span", f"{low}–{high} %", class_=f"key r{n}") for n, (low, high) in enumerate(ends))
    return tag("p", "Colours: ", *keys, " Each cell leads to its trials.", class_="soft legend")
