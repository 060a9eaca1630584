"""What one record says in full: its figures by tool and tag, its confusion matrix, and each trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...badges import changes_text
from ...evidence.confusion import NO_TOOL
from ...evidence.counts import Counts
from ...evidence.records import Record
from ...storage.trial import Trial
from ..contents import Contents
from ..words import errors_text, share
from .anchors import Anchors
from .listed import ListedTrials, mark
from .overview import badge_html
from .tags import Html, joined, table, tag
from .transcripts import Transcripts

__all__ = ["record_html"]


def record_html(
    contents: Contents, record: Record, anchors: Anchors, listed: ListedTrials, transcripts: Transcripts
) -> Html:
    """The record's section."""
    name = anchors.of(record)
    until = f" · until {record.last_tested}" if record.changed else ""
    head = tag("h2", f"{record.model_id} · {record.suite}{until}", id=name)
    parts = [*_evidence(contents, record), *_trials(record, anchors, listed, transcripts)]
    return tag("section", head, *parts, aria_labelledby=name)


def _evidence(contents: Contents, record: Record) -> Iterator[Html]:
    evidence = record.evidence
    when = f"{record.first_tested} to {record.last_tested}"
    told = " · ".join((when, *errors_text(record.counts)))
    yield tag("p", badge_html(contents, record), f" · {told}")
    if record.changed:
        why = f"Stale: it is of what was measured then. What changed: {changes_text(record.changed)}."
        yield tag("p", why, class_="stale")
    yield _fingerprint(record)
    tables: list[Html] = []
    if evidence.tools:
        tables.append(_counted(f"Success by expected tool: {record.model_id}", "Tool", evidence.tools))
    if evidence.tags:
        tables.append(_counted(f"Success by tag: {record.model_id}", "Tag", evidence.tags))
    if evidence.confusion:
        tables.append(_confusion(record.model_id, evidence.confusion))
    yield tag("div", *tables, class_="beside")
    if evidence.flaky:
        yield tag("p", "Flaky, with successes and failures: ", ", ".join(evidence.flaky), ".")


def _fingerprint(record: Record) -> Html:
    if record.fingerprint is None:
        return tag("p", "It was recorded by a version that kept no fingerprint.", class_="soft")
    known = record.fingerprint.known.items()
    listed = tag("dl", *(joined((tag("dt", name), tag("dd", value))) for name, value in known))
    return tag("details", tag("summary", "Fingerprint: what was measured"), listed)


def _counted(caption: str, head: str, cells: Mapping[str, Counts]) -> Html:
    rows = [
        (name, share(counts), ", ".join((counts.text, *errors_text(counts))))
        for name, counts in cells.items()
    ]
    return table(caption, (head, "Successes", "Rate and interval"), rows)


def _confusion(model_id: str, pairs: Mapping[tuple[str, str], int]) -> Html:
    """Expected tools down, called ones across; what is not on the diagonal was a mistake."""
    expected = sorted({pair[0] for pair in pairs})
    called = sorted({pair[1] for pair in pairs})
    rows = [
        (_tool(tool), *(_pair(pairs.get((tool, other), 0), tool == other) for other in called))
        for tool in expected
    ]
    heads = ("Expected ↓ called →", *map(_tool, called))
    return table(f"Confusion matrix, calls: {model_id}", heads, rows, class_="heat")


def _pair(count: int, is_right: bool) -> Html:
    if not count:
        return tag("td", "0", class_="soft")
    return tag("td", f"{count:,} ✓" if is_right else f"{count:,} ✗", class_="r4" if is_right else "r0")


def _tool(name: str) -> str:
    return "no tool" if name == NO_TOOL else name


def _trials(
    record: Record, anchors: Anchors, listed: ListedTrials, transcripts: Transcripts
) -> Iterator[Html]:
    yield tag("h3", "Trials")
    for name, of in listed.of(record).items():
        counts = record.scenarios[name]
        told = ", ".join((share(counts), *errors_text(counts)))
        lines = [_trial(number, trial, transcripts) for number, trial in of.trials]
        if more := of.count - len(lines):
            lines.append(tag("p", f"and {more:,} more trials", class_="line"))
        summary = tag("summary", f"{name}: {told} {of.marks}")
        yield tag("details", summary, *lines, id=anchors.of_scenario(record, name))


def _trial(number: int, trial: Trial, transcripts: Transcripts) -> Html:
    took = trial.details.get("duration_ms")
    when = f"{took:,} ms · {trial.timestamp}" if isinstance(took, int) else trial.timestamp
    line = (f"{mark(trial)} Trial {number} ", _outcome(trial), f" · {when}")
    shown = transcripts.of(trial)
    if shown is None:
        return tag("p", *line, class_="line")
    return tag("details", tag("summary", *line), shown)


def _outcome(trial: Trial) -> Html:
    if trial.is_error:
        return tag("span", f"error, no trial of the model: {trial.error}", class_="provisional")
    if trial.success:
        return tag("span", "succeeded", class_="validated")
    return tag("span", f"failed: {trial.error}", class_="failed")
