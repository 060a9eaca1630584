"""The report as JUnit XML, which CI servers show: a suite for each record, a case for each trial."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from toolspan_server.common.visible import visible

from ..badges import badge_of
from ..evidence.counts import Counts
from ..evidence.records import Record
from ..storage.trial import Trial
from .contents import Contents

__all__ = ["render"]

_MORE = "more"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(contents: Contents) -> Iterator[str]:
    """The report as text, in pieces; trials are read while it is written. Times are seconds; a record's badge
    is a property of its suite."""
    records = contents.records
    root = {"name": "toolspan", **_numbers(record.counts for record in records)}
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield from _around(ElementTree.Element("testsuites", root), _suites(contents), 0)


def _suites(contents: Contents) -> Iterator[str]:
    for record in contents.records:
        yield from _around(_suite(contents, record), _cases(record), 1)


def _suite(contents: Contents, record: Record) -> ElementTree.Element:
    name = _text(f"{record.model_id} · {record.suite}")
    suite = ElementTree.Element("testsuite", {"name": name, **_numbers([record.counts])})
    suite.set("time", f"{record.evidence.milliseconds / 1000:.3f}")
    suite.set("timestamp", record.first_tested.removesuffix("Z"))
    properties = ElementTree.SubElement(suite, "properties")
    told = {"badge": badge_of(record, contents.rule).text}
    told |= record.fingerprint.as_dict() if record.fingerprint else {}
    for name, value in told.items():
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    return suite


def _cases(record: Record) -> Iterator[str]:
    tried = Counter[str]()
    for trial in record.trials:
        tried[trial.scenario] += 1
        yield _lines(_case(record, trial, tried[trial.scenario]), 2)


def _around(element: ElementTree.Element, more: Iterable[str], level: int) -> Iterator[str]:
    """The lines of ``element`` with ``more`` lines before its end."""
    element.append(ElementTree.Comment(_MORE))
    before, _, after = _lines(element, level).rpartition(f"<!--{_MORE}-->")
    yield before.rstrip(" ")
    yield from more
    yield after.removeprefix("\n")


def _lines(element: ElementTree.Element, level: int) -> str:
    ElementTree.indent(element, level=level)
    return "  " * level + ElementTree.tostring(element, encoding="unicode") + "\n"


def _case(record: Record, trial: Trial, number: int) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_text(record.model_id))
    case.set("name", _text(f"{trial.scenario} #{number}"))
    case.set("time", f"{_seconds(trial):.3f}")
    if trial.is_error or not trial.success:
        kind = "error" if trial.is_error else "failure"
        told = ElementTree.SubElement(case, kind, type=kind, message=_text(trial.error))
        told.text = _text(f"{trial.details.get('query', trial.scenario)}\n{trial.error}")
    return case


def _numbers(counted: Iterable[Counts]) -> dict[str, str]:
    """The attributes of a suite. A trial that ended by an error of the provider is a test, and no failure."""
    counts = list(counted)
    numbers = {
        "tests": sum(each.n + each.errors for each in counts),
        "failures": sum(each.n - each.successes for each in counts),
        "errors": sum(each.errors for each in counts),
    }
    return {name: str(number) for name, number in numbers.items()}


def _seconds(trial: Trial) -> float:
    duration = trial.details.get("duration_ms")
    return duration / 1000 if isinstance(duration, int) else 0.0


def _text(text: str) -> str:
    """``text`` with what XML cannot hold, or hides, as escapes."""
    return _NO_XML.sub(lambda found: ascii(found[0])[1:-1], visible(text))
