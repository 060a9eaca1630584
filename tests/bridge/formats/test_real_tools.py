"""The tools that public MCP servers really have: each goes out by its provider's rules, its losses known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.formats import Wire
from tests.support.provider_rules import strict as rules
from tests.support.real_tools import FOLDER, every_tool, losses, servers, snapshot
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.shared.schemas import (
    ANTHROPIC_STRICT,
    OPENAI_STRICT,
    Plan,
    Strict,
)
from toolspan_bridge.formats.shared.tools.compile import compile_tools
from toolspan_bridge.messages import User

pytestmark = pytest.mark.requirement("I5.4.4")

FORMATS = pytest.mark.parametrize("name", format_names())


def test_there_are_ten_servers_and_more_each_with_its_package_version_and_licence() -> None:
    assert len(servers()) >= 10
    for path in FOLDER.glob("*.json"):
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        assert all(told[key] for key in ("package", "registry", "version", "licence", "tools"))


@FORMATS
def test_what_a_format_loses_of_them_is_what_was_reviewed(name: str) -> None:
    kept = snapshot(name)
    assert kept.is_file(), f"no {kept.name}: run python -m tests.support.real_tools, and read what it wrote"
    assert losses(name) == kept.read_text("utf-8")


@FORMATS
def test_a_request_with_each_servers_tools_is_by_the_providers_rules(name: str) -> None:
    wire = Wire(name)
    for tools in servers().values():
        sent = json.dumps(wire.render(User("hi"), tools=tools))
        assert all(wire_name in sent for wire_name in NameTable.of(tools).as_dict())


@FORMATS
def test_no_real_tool_is_left_out(name: str) -> None:
    module = get_format(name)
    for tools in servers().values():
        assert not [loss for loss in module.losses(tools) if loss.severity == "error"]
        assert module.restore(tools[0], {}) == {}


@pytest.mark.parametrize(
    ("mode", "check"), [(OPENAI_STRICT, rules.check_openai), (ANTHROPIC_STRICT, rules.check_anthropic)]
)
def test_most_real_tools_can_be_strict_and_then_obey_its_rules(mode: Strict, check: Any) -> None:
    tools = [replace(tool, strict=True) for tool in every_tool()]
    taken = 0
    for tool in tools:
        (sent,) = compile_tools([tool], NameTable.of([tool]), Plan(), strict=mode).tools
        if sent.strict:
            check(sent.schema)
            taken += 1
    assert taken >= len(tools) * 3 // 4
