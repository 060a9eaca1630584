"""The whole page."""

from __future__ import annotations

from pathlib import Path

from ...fingerprint import toolspan_version
from ..contents import Contents
from .matrix import comparison_html, figures_html, heat_map_html
from .record import record_html
from .tags import Html, joined, tag

__all__ = ["render"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = Path(__file__).with_name("style.css")
_TITLE = "Which models use the tools"


def render(contents: Contents) -> str:
    """The report as an HTML file's content. Nothing of it is fetched, and nothing in it is run."""
    made = f"Made by Toolspan {toolspan_version()} at {contents.generated}."
    least = f"{contents.rule.threshold * 100:g} %"
    sure = f"Validated is what reaches {least} with the lower end of its interval of 95 %."
    header = tag("header", tag("h1", _TITLE), tag("p", f"{made} {sure}", class_="soft"))
    parts = [heat_map_html(contents), figures_html(contents)]
    if contents.comparison:
        parts += [tag("h2", "Compared with the baseline"), comparison_html(contents.comparison)]
    parts += [record_html(contents, record, number) for number, record in enumerate(contents.records, 1)]
    body = tag("body", header, tag("main", *parts))
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        tag("title", _TITLE),
        tag("style", Html(_STYLE.read_text("utf-8"))),
    )
    return joined([Html("<!DOCTYPE html>\n"), tag("html", head, body, lang="en"), Html("\n")])
