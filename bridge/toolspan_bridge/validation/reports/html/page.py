"""The whole page."""

from __future__ import annotations

from pathlib import Path

from ...fingerprint import toolspan_version
from ..contents import Contents
from .anchors import Anchors
from .heat_map import heat_maps
from .listed import MOST_TRIALS, ListedTrials
from .overview import comparison_html, figures_html, verdict_html
from .record import record_html
from .tags import Html, joined, tag
from .transcripts import MOST_CHARACTERS, Transcripts

__all__ = ["render"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = Path(__file__).with_name("style.css")
_TITLE = "Which models use the tools"


def render(contents: Contents, most_characters: int = MOST_CHARACTERS, most_trials: int = MOST_TRIALS) -> str:
    """The report as an HTML file's content. Nothing of it is fetched, and nothing in it is run. It lists at
    most ``most_trials``, with as many transcripts as ``most_characters`` hold, failures first, and says how
    many it has not."""
    anchors = Anchors(contents)
    listed = ListedTrials(contents.records, most_trials)
    transcripts = Transcripts(listed, most_characters)
    parts = [figures_html(contents, anchors), *heat_maps(contents, anchors)]
    if contents.comparison:
        parts += [tag("h2", "Compared with the baseline"), comparison_html(contents.comparison)]
    parts += [record_html(contents, record, anchors, listed, transcripts) for record in contents.records]
    body = tag("body", _header(contents, transcripts), tag("main", *parts))
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        tag("title", _TITLE),
        tag("style", Html(_STYLE.read_text("utf-8"))),
    )
    return joined([Html("<!DOCTYPE html>\n"), tag("html", head, body, lang="en"), Html("\n")])


def _header(contents: Contents, transcripts: Transcripts) -> Html:
    made = f"Made by Toolspan {toolspan_version()} at {contents.generated}."
    least = f"{contents.rule.threshold * 100:g} %"
    sure = f"Validated is what reaches {least} with the lower end of its interval of 95 %."
    lines = [tag("h1", _TITLE), verdict_html(contents), tag("p", f"{made} {sure}", class_="soft")]
    if transcripts.left_out:
        left = (
            f"The transcripts of {transcripts.left_out:,} trials are left out, so that the page opens at "
            "once; those of failures came first. toolspan report --format json has every one."
        )
        lines.append(tag("p", left, class_="soft"))
    return tag("header", *lines)
