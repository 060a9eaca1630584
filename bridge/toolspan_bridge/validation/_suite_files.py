"""Suites as files."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.config import load_document

from .suites import Suite


def load_suite(path: Path) -> Suite:
    """The suite in the YAML or JSON file ``path``, named after the file when it gives no name.

    Raises ``ConfigError`` with every fault of the file, each with its line and column.
    """
    suite = load_document(path, Suite)
    return suite if suite.name else suite.model_copy(update={"name": path.stem})


def default_suite() -> Suite:
    """The suite that ships with Toolspan: weather, a tip, 2+2, a search in the docs."""
    return load_suite(Path(__file__).with_name("default_suite.yaml"))
