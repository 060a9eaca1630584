"""Recorded results become mocks of a config, which is served with exactly these results."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan
from toolspan_bridge import Toolbox, ToolOutcome, servers_of
from toolspan_bridge.cli.recorded_mocks import mocks_config
from toolspan_bridge.validation.recording import Recorded, RecordedCall, RecordedServer, RecordedTrial
from toolspan_bridge.validation.recording.mocks import mocks_of
from toolspan_bridge.validation.runs.attempt import Place
from toolspan_server import load_config

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.2.36")]

Made = Sequence[tuple[str, dict[str, Any]]]
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 1},
        "place": {"type": "object", "properties": {"country": {"type": "string", "default": "no"}}},
    },
}
ANSWERS: dict[str, dict[str, Any]] = {
    "an_object": {"mock_response": {"temperature": -3, "note": "{{ city }}, ${HOME}"}},
    "a_text": {"mock_response": "{{ city }} is 50 % ${HOME}"},
    "a_number": {"mock_response": 42},
    "a_list": {"mock_response": [1, {"b": None}]},
    "json_as_text": {"content": ['{"a": 1}']},
    "blocks": {
        "content": ['A {{ "{{" }} picture', {"type": "image", "data": "iVBORw0KGgo="}],
        "structured": {"seats": [1, 2]},
    },
    "a_failure": {"error": {"message": "No {{ city }}", "code": "no_city", "user_action": "Ask for another"}},
    "by_turns": {"sequence": [{"mock_response": 1}, {"error": {"message": "busy"}}, {"mock_response": 3}]},
}
CALLS: Made = [
    *[(name, {"city": "Oslo"}) for name in ANSWERS],
    ("an_object", {}),
    ("an_object", {"city": "Oslo", "days": 1, "unknown": True}),
    ("an_object", {"city": "Bergen", "place": {}}),
    *[("by_turns", {"city": "Oslo"})] * 3,
]


def written(folder: Path, text: str) -> Path:
    path = folder / "toolspan.yaml"
    folder.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def real_tools(folder: Path) -> Path:
    registry = [
        {
            "name": name,
            "description": name,
            "parameters": SCHEMA,
            "implementation": {"type": "mock", **answer},
        }
        for name, answer in ANSWERS.items()
    ]
    return written(folder, json.dumps({"tools": {"registry": registry}}).replace("${", "$${"))


async def outcomes(config: Path, calls: Made) -> list[ToolOutcome]:
    found: list[ToolOutcome] = []
    async with Toolbox.connect(servers_of(load_config(config))) as toolbox:
        specs = {spec.name: spec for spec in toolbox.tools}
        for number, (name, arguments) in enumerate(calls):
            found.append(await toolbox.call(specs[name], arguments, f"call-{number}"))
    return [_untimed(outcome) for outcome in found]


def _untimed(outcome: ToolOutcome) -> ToolOutcome:
    whole = replace(outcome, result={**outcome.result, "execution_time_ms": 0})
    return replace(whole, parts=(), structured=None) if outcome.failed else whole  # the time is in these too


async def recorded(config: Path, calls: Made) -> Recorded:
    trial = RecordedTrial(Place("m", "s", "q", 1), order=1)
    made = await outcomes(config, calls)
    for (name, arguments), outcome in zip(calls, made, strict=True):
        trial.calls.append(RecordedCall(outcome.call_id, "toolspan", name, arguments, outcome))
    async with Toolbox.connect(servers_of(load_config(config))) as toolbox:
        tools = tuple(toolbox.definition(spec) for spec in toolbox.tools)
    servers = {"toolspan": RecordedServer("toolspan", own=True, tools=tools)}
    return Recorded(Path("run.jsonl"), "r", servers=servers, trials={trial.place: trial})


@pytest.mark.anyio
async def test_the_mocks_give_every_recorded_result_as_it_was(tmp_path: Path) -> None:
    found = await recorded(real_tools(tmp_path / "real"), CALLS)
    text, notes = mocks_config(mocks_of(found))
    mocked = written(tmp_path / "mocked", text)
    before = [call.outcome for trial in found.trials.values() for call in trial.calls]
    again = await outcomes(mocked, CALLS)
    assert [pair for pair in zip(again, before, strict=True) if pair[0] != pair[1]] == []
    assert notes == ()


@pytest.mark.anyio
async def test_other_arguments_are_an_error_that_names_the_nearest_recorded_ones(tmp_path: Path) -> None:
    found = await recorded(
        real_tools(tmp_path / "real"),
        [("an_object", {"city": "Oslo", "days": 3}), ("an_object", {"city": "Bergen", "days": 2})],
    )
    mocked = written(tmp_path / "mocked", mocks_config(mocks_of(found))[0])
    (failed,) = await outcomes(mocked, [("an_object", {"city": "Berge", "days": 2})])
    assert failed.result["error_code"] == "not_recorded"
    assert failed.result["error"] == (
        "No result is recorded for these arguments; the nearest recorded ones are "
        '{"city": "Bergen", "days": 2}'
    )


@pytest.mark.anyio
async def test_a_config_keeps_its_definitions_and_what_is_left_is_listed(tmp_path: Path) -> None:
    real = real_tools(tmp_path / "real")
    found = await recorded(
        real, [("a_number", {"city": "***"}), ("an_object", {}), ("a_text", {"days": "x"})]
    )
    mocks = mocks_of(found)
    assert list(mocks.tools) == [("toolspan", "an_object")]
    told = " | ".join(mocks.left)
    assert "a_number: the call call-0 had a secret" in told and "a_text: the call call-2 was refused" in told
    assert "toolspan/blocks: no result of it is recorded" in told
    text, _ = mocks_config(mocks, real)
    before, after = yaml.safe_load(real.read_text()), yaml.safe_load(text)
    changed = [
        one["name"]
        for one, two in zip(before["tools"]["registry"], after["tools"]["registry"], strict=True)
        if one != two
    ]
    assert changed == ["an_object"]


CONFIG = """\
tools:
  registry:
    - name: get_weather
      description: Get the weather of a city
      parameters: {type: object, properties: {city: {type: string}}, required: [city]}
      implementation: {type: mock, response: {city: "{{ city }}", temperature: 18}}
"""
SUITE = "scenarios: [{query: weather of the city Oslo, expect: {calls: [{tool: get_weather}]}}]"


@pytest.mark.requirement("I14.2.37")
def test_a_recording_is_turned_into_a_config_and_served_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    assert toolspan("validate", "--suite", "suite.yaml", "--record", "run.jsonl", cwd=tmp_path).code == 0
    made = toolspan("mocks", "from-run", "run.jsonl", "-o", "mocks.yaml", cwd=tmp_path)
    assert (made.code, "mocks.yaml: 1 mocks of 1 recorded calls" in made.out + made.err) == (0, True)
    assert toolspan("check", "-c", "mocks.yaml", cwd=tmp_path).code == 0
    again = toolspan("mocks", "from-run", "run.jsonl", "-o", "mocks.yaml", cwd=tmp_path)
    assert (again.code, "is there already" in again.err) == (2, True)
    served = f"{sys.executable} -m toolspan_bridge serve --replay {tmp_path}/run.jsonl"
    (tmp_path / "served.yaml").write_text(
        json.dumps({"mcpServers": {"taped": {"command": sys.executable, "args": served.split()[1:]}}})
    )
    for config in ("mocks.yaml", "served.yaml"):
        known = toolspan("tools", "call", "-c", config, "get_weather", "city=Oslo", cwd=tmp_path)
        assert json.loads(known.out) == {"city": "Oslo", "temperature": 18}
        unknown = toolspan("tools", "call", "-c", config, "get_weather", "city=Rome", cwd=tmp_path)
        assert (unknown.code, 'nearest recorded ones are {"city": "Oslo"}' in unknown.err) == (5, True)
    refused = toolspan("serve", "--replay", "run.jsonl", "--config", "toolspan.yaml", cwd=tmp_path)
    assert refused.code == 2
    assert toolspan("serve", "--replay", "suite.yaml", cwd=tmp_path).code == 2
