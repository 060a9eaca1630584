"""Nothing that a user can name goes undocumented."""

from __future__ import annotations

import re

import click
import pytest
import yaml

from tests.support.documents import ROOT
from toolspan_bridge.cli.main import toolspan
from toolspan_bridge.formats import format_names
from toolspan_bridge.providers import provider_names
from toolspan_server.config import LimitsConfig
from toolspan_server.engines.registration import find_handler, handler_names
from toolspan_server.parts.kind import KINDS
from toolspan_server.parts.resource import CONTENTS
from toolspan_server.parts.service import SERVICES
from toolspan_server.parts.source import SOURCES
from toolspan_server.parts.step import STEPS


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


@pytest.mark.requirement("I2.1.4")
def test_every_handler_has_its_row() -> None:
    for kind, wanted in (("builtin", "math_eval"), ("internal", "rag_query")):
        for name in handler_names(kind, wanted=wanted):
            handler = find_handler(kind, name)
            ours = handler is not None and handler.__module__.startswith("toolspan_server.")
            assert not ours or f"\n| `{name}`" in page("reference/parts")


@pytest.mark.requirement("I2.1.4", "I10.2.4")
def test_every_kind_source_service_and_step_is_described() -> None:
    for parts in (KINDS, SOURCES, SERVICES, STEPS, CONTENTS):
        assert [name for name in parts.names if f"\n| `{name}` | " not in page("reference/parts")] == []


@pytest.mark.requirement("I2.1.4")
def test_every_limit_stands_with_its_default() -> None:
    block = re.search(r"```yaml title=\"limits.yaml\"\n(.*?)```", page("how-to/configuration"), re.DOTALL)
    assert block is not None
    assert yaml.safe_load(block[1])["limits"] == LimitsConfig().model_dump()


@pytest.mark.requirement("I2.1.4")
def test_every_verb_has_its_page() -> None:
    verbs = toolspan.list_commands(click.Context(toolspan))
    assert [verb for verb in verbs if f"\n## toolspan {verb}\n" not in page("reference/command-line")] == []


@pytest.mark.requirement("I2.1.4")
def test_every_format_is_named() -> None:
    assert [name for name in format_names() if f"\n| `{name}` | " not in page("reference/parts")] == []


@pytest.mark.requirement("I2.1.4", "I10.2.3", "I10.2.4")
def test_every_provider_is_named() -> None:
    assert [name for name in provider_names() if f"\n| `{name}` | " not in page("reference/parts")] == []
