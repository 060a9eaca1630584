"""The report as an image: a badge for each record, one below the other."""

from __future__ import annotations

import re

from ..badges import UNTESTED, badge_of
from .contents import Contents

__all__ = ["render"]

_SIZE = re.compile(r'width="(\d+)"')
_ROW = 24


def render(contents: Contents) -> str:
    """The badges as an SVG file's content; that of nothing is ``untested``."""
    badges = [badge_of(record, contents.rule).svg(record.model_id) for record in contents.records]
    if len(badges) < 2:
        return badges[0] if badges else UNTESTED.svg("toolspan")
    widths = [int(found[1]) for badge in badges if (found := _SIZE.search(badge))]
    rows = (badge.replace("<svg ", f'<svg y="{place * _ROW}" ', 1) for place, badge in enumerate(badges))
    size = f'width="{max(widths)}" height="{len(badges) * _ROW - 4}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{"".join(rows)}</svg>\n'
