"""The report as JUnit XML, which CI servers show: a suite for each record, a case for each trial."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from toolspan_server.common.visible import visible

from ..badges import badge_of
from ..evidence.records import Record
from .contents import Contents

__all__ = ["render"]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(contents: Contents) -> str:
    """The report as text. Times are seconds; a record's badge is a property of its suite."""
    records = contents.records
    failures = sum(record.counts.n - record.counts.successes for record in records)
    root = ElementTree.Element("testsuites", name="toolspan", failures=str(failures))
    root.set("tests", str(sum(record.counts.n for record in records)))
    for record in records:
        root.append(_suite(contents, record))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(contents: Contents, record: Record) -> ElementTree.Element:
    counts = record.counts
    suite = ElementTree.Element("testsuite", name=_text(f"{record.model_id} · {record.suite}"))
    for name, value in {
        "tests": counts.n,
        "failures": counts.n - counts.successes,
        "errors": 0,
        "timestamp": record.first_tested,
    }.items():
        suite.set(name, _text(str(value)))
    properties = ElementTree.SubElement(suite, "properties")
    told = {"badge": badge_of(record, contents.rule).text}
    told |= record.fingerprint.as_dict() if record.fingerprint else {}
    for name, value in told.items():
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    tried: dict[str, int] = {}
    for trial in record.trials:
        tried[trial.scenario] = tried.get(trial.scenario, 0) + 1
        case = ElementTree.SubElement(suite, "testcase", classname=_text(record.model_id))
        case.set("name", _text(f"{trial.scenario} #{tried[trial.scenario]}"))
        duration = trial.details.get("duration_ms")
        case.set("time", f"{duration / 1000:.3f}" if isinstance(duration, int) else "0")
        if not trial.success:
            failure = ElementTree.SubElement(case, "failure", message=_text(trial.error))
            failure.text = _text(f"{trial.details.get('query', trial.scenario)}\n{trial.error}")
    return suite


def _text(text: str) -> str:
    """``text`` with what XML cannot hold, or hides, as escapes."""
    return _NO_XML.sub(lambda found: ascii(found[0])[1:-1], visible(text))
