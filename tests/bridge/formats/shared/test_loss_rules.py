"""Every loss is by a known rule, with its severity and a fix; rendered tools are made once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support import schemas
from tests.support.real_tools import every_tool
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.shared.identity import IdentityKey
from toolspan_bridge.formats.shared.loss_rules import RULES
from toolspan_bridge.formats.shared.tools import compile as tools_module
from toolspan_bridge.messages import Request, ToolSpec, User

FORMATS = pytest.mark.parametrize("name", format_names())
STRING = {"type": "string"}


@FORMATS
@pytest.mark.requirement("I5.2.3")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=schemas.SCHEMAS)
def test_every_loss_has_the_severity_and_fix_of_its_rule_and_only_errors_leave_tools_out(
    name: str, schema: dict[str, Any]
) -> None:
    tool = ToolSpec("s", "t", "d", schema, strict=True)
    names = NameTable.of([tool])
    found = get_format(name).losses([tool])
    for each in found:
        assert each.severity == RULES[each.rule].severity
        assert each.fix and "{name}" not in each.fix
    sent = "s__t" in str(get_format(name).render_tools([tool], names))
    assert sent == (not any(each.leaves_out for each in found))


@pytest.mark.requirement("I5.2.3")
def test_a_tool_that_is_left_out_is_always_an_error() -> None:
    tools = [
        ToolSpec("s", "a", "", {"$ref": "http://x.example/y"}),
        ToolSpec("s", "b", "", {}),
        ToolSpec("s", "b", "again", {}),
        *(ToolSpec("t", f"tool{number:03}", "", {}) for number in range(130)),
    ]
    found = get_format("openai").losses(tools)
    assert {each.rule for each in found} == {"external-ref", "duplicate-tool", "too-many-tools"}
    assert {each.severity for each in found} == {"error"}
    sent = get_format("openai").render_tools(tools, NameTable.of(tools))
    assert len(sent) + len({each.tool for each in found if each.leaves_out}) == len(NameTable.of(tools).tools)


@pytest.mark.requirement("I5.2.3")
def test_a_fix_names_the_keyword_that_it_is_about() -> None:
    schema = {"type": "object", "properties": {"a/b": {"type": "string", "maxLength": 3}}}
    found = get_format("gemini").losses([ToolSpec("s", "t", "d", schema)])
    (described,) = [each for each in found if each.rule == "keyword"]
    assert described.pointer == "/properties/a~1b/maxLength"
    assert described.fix == "say in the description what maxLength means, in words of your own"


@FORMATS
@pytest.mark.requirement("I5.5.1")
def test_the_very_same_tools_are_prepared_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tuple(replace(tool) for tool in every_tool()[:5])
    module = get_format(name)
    request = Request("gemini-3-pro", (User("hi"),), tools=tools)
    first = module.render_request(request, NameTable.of(tools))

    def never(*_: Any) -> Any:
        raise AssertionError("made again")

    monkeypatch.setattr(tools_module, "strict_or_not", never)
    assert module.render_request(request, NameTable.of(tools)) == first
    assert module.losses(tools) == module.losses(list(tools))
    with pytest.raises(AssertionError, match="made again"):
        module.losses((*tools, ToolSpec("s", "another", "", {})))


@FORMATS
@pytest.mark.requirement("I5.5.1")
def test_a_changed_list_is_rendered_anew(name: str) -> None:
    tools = [ToolSpec("s", "one", "first", {"type": "object", "properties": {"a": STRING}})]
    module = get_format(name)

    def rendered() -> str:
        return str(module.render_tools(tools, NameTable.of(tools)))

    before = rendered()
    tools[0] = replace(tools[0], description="second")
    assert "second" in rendered() and "first" not in rendered()
    tools[0] = replace(tools[0], schema={"type": "object", "properties": {"b": STRING}})
    assert "'b'" in rendered().replace('"', "'")
    tools.append(ToolSpec("s", "two", "", {}))
    assert "s__two" in rendered()
    tools[:] = [ToolSpec("s", "one", "first", {"type": "object", "properties": {"a": STRING}})]
    assert rendered() == before


@pytest.mark.requirement("I5.5.1")
def test_only_the_very_same_objects_are_the_same() -> None:
    one, other = ToolSpec("s", "t", "", {}), ToolSpec("s", "t", "", {})
    assert IdentityKey([one]) == IdentityKey((one,)) and one == other
    assert all(
        IdentityKey([one]) != different
        for different in (IdentityKey([other]), IdentityKey([one, one]), IdentityKey([]), one)
    )


@pytest.mark.requirement("I5.5.1")
def test_what_is_kept_is_bounded_and_a_caller_cannot_lengthen_it() -> None:
    for number in range(100):
        tools = [ToolSpec("s", f"t{number}", "", {})]
        listed = get_format("openai").render_tools(tools, NameTable.of(tools))
        listed.append({"type": "web_search"})
        assert len(get_format("openai").render_tools(tools, NameTable.of(tools))) == 1
    assert tools_module._compiled.cache_info().currsize <= 32
