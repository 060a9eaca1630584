"""The generated pages: where each stands, and what writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from toolspan_bridge.validation.suites.published_schema import suite_schema_text

from . import cast, command_line, config_file, errors, events, formats, man, parts

ROOT = Path(__file__).parents[2]
PAGES: Mapping[str, Callable[[], str]] = {
    "docs/reference/command-line.md": command_line.page,
    "docs/reference/config-file.md": config_file.page,
    "docs/reference/errors.md": errors.page,
    "bridge/toolspan_bridge/cli/explained/errors.json": errors.data,
    "docs/reference/events.md": events.page,
    "docs/reference/events.schema.json": events.schema,
    "docs/reference/formats.md": formats.page,
    "docs/reference/parts.md": parts.page,
    "docs/tutorials/tour.md": cast.page,
    man.PATH: man.page,
    "configs/toolspan.suite.schema.json": suite_schema_text,
}


def write() -> None:
    """Write every generated page."""
    for path, page in PAGES.items():
        (ROOT / path).write_text(page(), "utf-8")
