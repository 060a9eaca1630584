"""Suites as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toolspan_server.config import ConfigError, load_document
from toolspan_server.schema.positions import read_document

from ...messages import ToolSpec
from .suite import Suite


def load_suite(path: Path) -> Suite:
    """The suite in the YAML or JSON file ``path``, named after the file when it gives no name.

    Raises ``ConfigError`` with every fault of the file, each with its line and column.
    """
    suite = load_document(path, Suite)
    return suite if suite.name else suite.model_copy(update={"name": path.stem})


def check_tools(path: Path, suite: Suite, offered: Iterable[ToolSpec]) -> None:
    """Raise ``ConfigError`` with each place of ``suite``, which was read from ``path``, that cannot be meant
    where ``offered`` are the servers' tools."""
    if faults := suite.faults_with(offered):
        raise ConfigError(read_document(path, str(path)).problems(faults))


def default_suite() -> Suite:
    """The suite that ships with Toolspan: weather, a tip, 2+2, a search in the docs."""
    return load_suite(Path(__file__).with_name("default_suite.yaml"))
