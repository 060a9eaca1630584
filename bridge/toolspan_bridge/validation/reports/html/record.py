"""What one record says in full: its figures by tool and tag, its confusion matrix, and each trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....providers.wire.json_types import is_list, is_object
from ...badges import changes_text
from ...evidence.confusion import NO_TOOL
from ...evidence.counts import Counts
from ...evidence.records import Record
from ...storage.trial import Trial
from ..contents import Contents
from .matrix import badge_html, share
from .tags import Html, joined, table, tag

__all__ = ["record_html"]


def record_html(contents: Contents, record: Record, number: int) -> Html:
    """The record's section, the ``number``-th of the page."""
    head = tag("h2", f"{record.model_id} · {record.suite}", id=f"record-{number}")
    return tag("section", head, *_parts(contents, record), aria_labelledby=f"record-{number}")


def _parts(contents: Contents, record: Record) -> Iterator[Html]:
    evidence = record.evidence
    yield tag("p", badge_html(contents, record), f" · {record.first_tested} to {record.last_tested}")
    if record.changed:
        yield tag("p", f"Stale; what changed: {changes_text(record.changed)}.", class_="stale")
    yield _fingerprint(record)
    if evidence.tools:
        yield _counted("Success by expected tool", "Tool", evidence.tools)
    if evidence.tags:
        yield _counted("Success by tag", "Tag", evidence.tags)
    if evidence.confusion:
        yield _confusion(evidence.confusion)
    if evidence.flaky:
        yield tag("p", "Flaky, with successes and failures: ", ", ".join(evidence.flaky), ".")
    yield tag("h3", "Trials")
    for name, counts in evidence.scenarios.items():
        trials = [trial for trial in record.trials if trial.scenario == name]
        yield _scenario(name, counts, trials)


def _fingerprint(record: Record) -> Html:
    if record.fingerprint is None:
        return tag("p", "It was recorded by a version that kept no fingerprint.", class_="soft")
    known = record.fingerprint.known.items()
    listed = tag("dl", *(joined((tag("dt", name), tag("dd", value))) for name, value in known))
    return tag("details", tag("summary", "Fingerprint"), listed)


def _counted(caption: str, head: str, cells: Mapping[str, Counts]) -> Html:
    rows = [(name, share(counts), counts.text) for name, counts in cells.items()]
    return table(caption, (head, "Successes", "Rate and interval"), rows)


def _confusion(pairs: Mapping[tuple[str, str], int]) -> Html:
    """Expected tools down, called ones across; what is not on the diagonal was a mistake."""
    expected = sorted({pair[0] for pair in pairs})
    called = sorted({pair[1] for pair in pairs})
    rows = [
        (_tool(tool), *(_pair(pairs.get((tool, other), 0), tool == other) for other in called))
        for tool in expected
    ]
    return table(
        "Confusion matrix: expected tools down, called tools across", ("Expected", *map(_tool, called)), rows
    )


def _pair(count: int, is_right: bool) -> Html:
    if not count:
        return tag("td", "0", class_="soft")
    return tag("td", f"{count:,} ✓" if is_right else f"{count:,} ✗", class_="r4" if is_right else "r0")


def _tool(name: str) -> str:
    return "no tool" if name == NO_TOOL else name


def _scenario(name: str, counts: Counts, trials: Sequence[Trial]) -> Html:
    marks = "".join("✓" if trial.success else "✗" for trial in trials[:40])
    summary = tag("summary", f"{name}: {share(counts)} {marks}")
    return tag("details", summary, *(_trial(number, trial) for number, trial in enumerate(trials, 1)))


def _trial(number: int, trial: Trial) -> Html:
    outcome = "succeeded" if trial.success else f"failed: {trial.error}"
    class_ = "validated" if trial.success else "failed"
    summary = tag("summary", f"Trial {number} ", tag("span", outcome, class_=class_), f" · {trial.timestamp}")
    return tag("details", summary, *_transcript(trial.details))


def _transcript(details: Mapping[str, Any]) -> Iterator[Html]:
    if query := details.get("query"):
        yield tag("p", tag("strong", "Question "), str(query))
    calls: Any = details.get("tool_calls")
    for call in calls if is_list(calls) else []:
        made = call if is_object(call) else {"tool": str(call)}
        yield tag("p", tag("strong", "Call "), str(made.get("tool")))
        yield tag("pre", f"{_json(made.get('arguments'))}\n→ {_json(made.get('result'))}", tabindex="0")
    if content := details.get("content"):
        yield tag("p", tag("strong", "Answer"))
        yield tag("pre", str(content), tabindex="0")
    rest = {
        key: value
        for key, value in details.items()
        if key not in ("query", "tool_calls", "content", "scenario")
    }
    if rest:
        yield tag("details", tag("summary", "More"), tag("pre", _json(rest), tabindex="0"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
