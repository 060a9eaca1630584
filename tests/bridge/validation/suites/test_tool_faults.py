"""What a scenario cannot mean is told with its place before any model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_bridge import ToolSpec
from toolspan_bridge.validation import check_tools, load_suite
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I14.1.45")

TOOLS = [ToolSpec("s", name, "", {"type": "object"}) for name in ("get_weather", "get_time", "send_mail")]
Q, E = "query: q", "expect: {no_calls: true}"
OWN = "{description: d, parameters: {type: object}, response: 1}"


def _problems(folder: Path, *lines: str) -> list[str]:
    """What is wrong with a suite whose one scenario has these ``lines``, its path cut off."""
    path = folder / "suite.yaml"
    path.write_text("scenarios:\n  - name: n\n" + "".join(f"    {line}\n" for line in lines))
    try:
        check_tools(path, load_suite(path), TOOLS)
    except ConfigError as error:
        told = [str(problem).partition("suite.yaml:")[2] for problem in error.problems]
        return [each.replace("$.scenarios[0]", "$") for each in told]
    return []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [Q, "turns: [{query: q, expect: {no_calls: true}}]"],
            "3:5: $.query: 'query' stands beside",
        ),
        (["turns: []"], "3:12: $.turns: must not be empty"),
        ([Q], "2:5: $: 'expect' is missing (add expect)"),
        (["turns: [{query: q}]"], "3:13: $.turns[0]: 'expect' is missing"),
        ([Q, E, "weight: 0"], "5:13: $.weight: must be a number above 0"),
        (
            [Q, E, "messages: [{role: assistant, content: Hi}]"],
            "5:23: $.messages[0].role: the first",
        ),
        ([Q, E, "tools: some"], "5:12: $.tools: must be 'all' or a list of globs"),
        ([Q, E, "tools: [1]"], "5:13: $.tools[0]: must be a glob of tools, not 1"),
        (
            [Q, E, "tools: [get_wether]"],
            "5:13: $.tools[0]: no server offers the tool 'get_wether'",
        ),
        (
            [Q, E, "mocks: {get_wether: {response: 1}}"],
            "5:25: $.mocks.get_wether: no server offers",
        ),
        (
            [Q, E, "mocks: {get_time: {respons: 1}}"],
            "5:24: $.mocks.get_time.respons: unknown key",
        ),
        ([Q, E, "mocks: {get_time: {}}"], "5:23: $.mocks.get_time: says no answer"),
        ([Q, E, "mocks: {get_time: {response: '{{ a'}}"], "5:34: $.mocks.get_time.response: "),
        (
            [Q, E, "mocks: {get_time: {rules: [{when: {a: 1}, content: [{type: image, file: a.png}]}]}}"],
            "5:57: $.mocks.get_time.rules[0].content[0]: a mock of a scenario reads no file",
        ),
        (
            [Q, E, f"mocks: {{get_time: {OWN}}}"],
            "5:23: $.mocks.get_time: a server offers the tool",
        ),
        (
            [Q, E, "mocks: {book: {description: d, response: 1}}"],
            "5:33: $.mocks.book.description: 'description' without 'parameters'",
        ),
        (
            [Q, E, "mocks: {book: {description: d, parameters: {type: text}, response: 1}}"],
            "5:48: $.mocks.book.parameters: must be a JSON Schema of type object",
        ),
        (
            [Q, E, "tools: [get_time]", "mocks: {send_mail: {response: 1}}"],
            "6:24: $.mocks.send_mail: the scenario's tools leave out 'send_mail'",
        ),
        ([Q, E, "approvals: {get_tim: allow}"], "5:26: $.approvals.get_tim: no server offers"),
        (
            [Q, E, "approvals: {get_time: maybe}"],
            "5:27: $.approvals.get_time: must be 'allow' or",
        ),
        (
            [Q, E, "approvals: {get_time: {answer: allow, reason: r}}"],
            "5:51: $.approvals.get_time.reason: a call that is allowed needs no reason",
        ),
        (
            [Q, E, "elicitations: {x: accept}"],
            "5:23: $.elicitations.x: no server offers the tool 'x'",
        ),
        (
            [Q, E, "mocks: {get_time: {response: 1}}", "elicitations: {get_t*: cancel}"],
            "6:28: $.elicitations[\"get_t*\"]: 'get_t*' is mocked, and a mock here asks nothing",
        ),
        (
            [Q, "tools: ['get_*']", "expect: {calls: [{tool: send_mail}]}"],
            "5:29: $.expect.calls[0].tool: the scenario's tools leave out 'send_mail'",
        ),
        (
            ["turns: [{query: q, expect: {never: [send_male]}}]"],
            "3:41: $.turns[0].expect.never[0]: no server offers the tool 'send_male'",
        ),
    ],
)
def test_a_scenario_that_cannot_be_meant_is_told_with_its_place(
    tmp_path: Path, lines: list[str], told: str
) -> None:
    (problem,) = _problems(tmp_path, *lines)
    assert problem.startswith(told)


def test_what_can_be_meant_is_no_fault(tmp_path: Path) -> None:
    lines = [
        "turns: [{query: q, expect: {calls: [{tool: book}], never: [get_time]}}]",
        "tools: ['s/get_*']",
        f"mocks: {{s/get_time: {{mock_response: null}}, book: {OWN}}}",
        "approvals: {book: deny, '*': allow}",
        "elicitations: {get_weather: accept}",
        "weight: 0.5",
    ]
    assert _problems(tmp_path, *lines) == []
