"""Scenarios bring turns, tools, mocks, earlier messages and a person's answers, all through the real loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolspan_bridge import Asker, Conversed, Scenario, Suite, Toolbox, servers_of
from toolspan_bridge.approvals import Departure, PolicyApprover
from toolspan_bridge.client import ClientFeatures
from toolspan_bridge.messages import Assistant, Message, Request, ToolResults, User
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.providers.contract import Provider
from toolspan_bridge.validation.between import Between
from toolspan_bridge.validation.runs.plan import hash_of_suite
from toolspan_bridge.validation.suites import StandIn
from toolspan_bridge.validation.suites.staging import Nobody
from toolspan_server import Config, load_config
from toolspan_server.config import ApprovalRule
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.anyio

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
    "required": ["city"],
}
TOOLBOX = Toolbox(
    [],
    [
        StandIn("get_weather", "Get the weather of a city.", CITY, "the real weather"),
        StandIn("delete_city", "Delete a city.", CITY, "really deleted"),
    ],
)


BOOKING = {
    "tools": {
        "registry": [
            {
                "name": "book_table",
                "description": "Book a table.",
                "implementation": {
                    "type": "mock",
                    "steps": [
                        {
                            "ask": {
                                "sure": {
                                    "elicitation": {
                                        "message": "When?",
                                        "requestedSchema": {
                                            "type": "object",
                                            "properties": {"time": {"type": "string", "default": "20:00"}},
                                        },
                                    }
                                }
                            }
                        }
                    ],
                    "on_decline": {"response": {"booked": False}},
                    "response": {"booked": True, "time": "{{ answers.sure.content.time }}"},
                },
            }
        ]
    }
}


class _Script:
    """A pool whose one model replays ``turns``; ``requests`` are what it was asked."""

    def __init__(self, turns: Sequence[dict[str, Any]]) -> None:
        self._provider = Scripted(turns)

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *error: object) -> None: ...

    async def get(self, model: str) -> tuple[Provider, str]:
        return self._provider, model

    @property
    def between(self) -> Between:
        return Between(around=lambda _providers: self)

    @property
    def requests(self) -> list[Request]:
        return self._provider.requests


def calling(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments}]}


async def asked(
    written: str, *turns: dict[str, Any], toolbox: Toolbox = TOOLBOX
) -> tuple[Conversed, tuple[str, ...], list[Request]]:
    """What a model that says ``turns`` makes of a scenario in YAML; its faults; the requests."""
    scenario, script = Scenario.model_validate(yaml.safe_load(written)), _Script(turns)
    async with Asker(Config(), toolbox, between=script.between) as asker:
        conversed = await asker.ask("scripted/x", scenario)
    return conversed, scenario.faults_of(conversed), script.requests


TURNS = """
turns:
  - {query: "Weather in Oslo?", expect: {calls: [{tool: get_weather, arguments: {city: Oslo}}]}}
  - {query: "And in Rome?", expect: {calls: [{tool: get_weather, arguments: {city: Rome}}]}}
  - {query: Thanks!, expect: {no_calls: true}}
"""


@pytest.mark.requirement("I14.1.40")
async def test_a_conversation_goes_on_with_the_messages_calls_and_results_of_the_turns_before() -> None:
    conversed, faults, requests = await asked(
        TURNS,
        calling("get_weather", city="Oslo"),
        {"text": "Cold."},
        calling("get_weather", city="Rome"),
        {"text": "Warm."},
        {"text": "You are welcome."},
    )
    assert faults == ()
    assert [answer.content for answer in conversed.answers] == ["Cold.", "Warm.", "You are welcome."]
    kinds = [type(message) for message in requests[-1].messages]
    turn = [User, Assistant, ToolResults, Assistant]
    assert kinds == [*turn, *turn, User]
    told = conversed.as_dict()
    assert (told["content"], len(told["tool_calls"]), len(told["turns"])) == ("You are welcome.", 2, 3)
    assert told["iterations"] == 5


@pytest.mark.requirement("I14.1.40")
async def test_a_fault_names_its_turn_and_no_further_one_is_asked() -> None:
    conversed, faults, requests = await asked(
        TURNS, calling("get_weather", city="Oslo"), {"text": "Cold."}, {"text": "No idea."}
    )
    assert faults == ("turn 2 of 3: get_weather was not called (no tool was)",)
    assert (len(conversed.answers), len(requests)) == (2, 3)


@pytest.mark.requirement("I14.1.40")
async def test_earlier_messages_come_before_the_question() -> None:
    scenario = """
      query: And there?
      messages: [{role: user, content: I am in Oslo.}, {role: assistant, content: Noted.}]
      expect: {answer: cold}
    """
    _, faults, requests = await asked(scenario, {"text": "It is cold."})
    before: list[Message] = [User("I am in Oslo."), Assistant("Noted."), User("And there?")]
    assert (faults, list(requests[0].messages)) == ((), before)


@pytest.mark.requirement("I14.1.41")
@pytest.mark.parametrize(
    ("tools", "offered"),
    [
        ("all", ["delete_city", "get_weather"]),
        ("[get_*]", ["get_weather"]),
        ("['toolspan/delete_*']", ["delete_city"]),
        ("[]", []),
    ],
)
async def test_only_the_chosen_tools_are_offered(tools: str, offered: list[str]) -> None:
    scenario = f"{{query: '?', tools: {tools}, expect: {{no_calls: true}}}}"
    _, _, requests = await asked(scenario, {"text": "!"})
    assert [tool.name for tool in requests[0].tools] == offered


@pytest.mark.requirement("I14.1.42")
async def test_a_mock_answers_in_place_of_the_tool_whose_definition_stays() -> None:
    scenario = """
      query: Weather?
      mocks:
        get_weather:
          rules:
            - {when: {city: Nowhere}, error: {message: "No {{ city }}", code: unknown_city}}
          sequence: [{response: {city: "{{ city }}", days: "{{ days }}"}}, {mock_response: [1, 2]}]
      expect: {calls: [{tool: get_weather}]}
    """
    script = (*(calling("get_weather", city=city) for city in ("Oslo", "Nowhere", "Rome")), {"text": "!"})
    for _ in range(2):  # a second trial begins anew
        conversed, faults, requests = await asked(scenario, *script)
        assert faults == ()
        first, wrong, second = (call.result for call in conversed.tool_calls)
        assert first["result"] == {"city": "Oslo", "days": 1}, "defaults of the schema are filled in"
        assert (wrong["error"], wrong["error_code"]) == ("No Nowhere", "unknown_city")
        assert second["result"] == [1, 2]
        (tool,) = (tool for tool in requests[0].tools if tool.name == "get_weather")
        assert (tool.description, tool.schema) == ("Get the weather of a city.", CITY)


@pytest.mark.requirement("I14.1.42")
async def test_content_and_refusals_of_a_mock_reach_the_model_as_those_of_a_server() -> None:
    scenario = """
      query: Weather?
      mocks:
        get_weather:
          sequence:
            - {content: ["It is {{ city }}", {type: image, data: iVBORw0KGgo=}]}
            - {protocol_error: {code: -32602, message: bad city}}
      expect: {calls: [{tool: get_weather}]}
    """
    call = calling("get_weather", city="Oslo")
    conversed, _, requests = await asked(scenario, call, call, {"text": "!"})
    (results,) = (m for m in requests[1].messages if isinstance(m, ToolResults))
    assert [part.type for part in results.outcomes[0].parts] == ["text", "image"]
    assert conversed.tool_calls[1].result["error_code"] == "invalid_parameters"


@pytest.mark.requirement("I14.1.42")
async def test_a_scenario_defines_a_tool_that_no_server_has() -> None:
    scenario = """
      query: Book!
      tools: []
      mocks:
        book:
          description: Book a table.
          parameters: {type: object, properties: {guests: {type: integer}}, required: [guests]}
          response: "for {{ guests }}"
      expect: {calls: [{tool: book, arguments: {guests: 2}}]}
    """
    conversed, faults, requests = await asked(scenario, calling("book", guests=2), {"text": "!"})
    assert (faults, conversed.tool_calls[0].result["result"]) == ((), "for 2")
    assert [(tool.name, tool.description) for tool in requests[0].tools] == [("book", "Book a table.")]


@pytest.mark.requirement("I14.1.43")
async def test_a_call_that_the_person_denies_is_refused_with_the_reason_and_not_made() -> None:
    scenario = """
      query: Delete Oslo
      approvals: {delete_*: {answer: deny, reason: not on a Friday}}
      expect: {max_calls: 1}
    """
    call = calling("delete_city", city="Oslo")
    conversed, faults, _ = await asked(scenario, call, {"text": "It was refused."})
    (made,) = conversed.tool_calls
    assert (made.result["error_code"], faults) == ("denied", ())
    assert "not on a Friday" in made.result["error"]
    _, faults, _ = await asked(scenario, call, call, {"text": "Twice."})
    assert faults == ("2 calls were made, at most 1 were expected",)


@pytest.mark.requirement("I14.1.43")
async def test_a_call_that_the_person_allows_is_made_perhaps_with_other_arguments() -> None:
    scenario = """
      query: Delete Oslo
      mocks: {delete_city: {response: "{{ city }} is gone"}}
      approvals: {delete_city: {answer: allow, arguments: {city: Atlantis}}, "*": deny}
      expect: {calls: [{tool: delete_city}]}
    """
    conversed, _, _ = await asked(
        scenario, calling("delete_city", city="Oslo"), calling("get_weather", city="Oslo"), {"text": "!"}
    )
    deleted, weather = (call.result for call in conversed.tool_calls)
    assert deleted["result"] == "Atlantis is gone"
    assert weather["error_code"] == "denied", "the first glob that fits counts, and it needs approval here"


@pytest.mark.requirement("I14.1.43")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("accept", {"booked": True, "time": "20:00"}),
        ("{accept: {time: '18:00'}}", {"booked": True, "time": "18:00"}),
        ("decline", {"booked": False}),
        ("", {"booked": False}),
    ],
)
async def test_the_person_of_a_scenario_answers_what_a_tool_asks(
    tmp_path: Path, answer: str, told: dict[str, Any]
) -> None:
    path = tmp_path / "toolspan.yaml"
    path.write_text(yaml.safe_dump(BOOKING))
    said = f"elicitations: {{book_*: {answer}}}" if answer else ""
    scenario = f"query: Book!\n{said}\nexpect: {{max_calls: 1}}"
    features = ClientFeatures(elicitor=Nobody())
    async with Toolbox.connect(servers_of(load_config(path)), client=features) as toolbox:
        conversed, _, _ = await asked(scenario, calling("book_table"), {"text": "!"}, toolbox=toolbox)
    assert conversed.tool_calls[0].result["result"] == told


@pytest.mark.requirement("I14.1.43")
@pytest.mark.parametrize("refusal", ["a rule", "a changed definition"])
async def test_what_is_not_for_this_person_to_allow_stays_refused(refusal: str) -> None:
    rules = [ApprovalRule(tools=["delete_*"], action="deny")] if refusal == "a rule" else []
    departure = Departure({}, "you allowed it", "its definition has changed")

    def changed(server: str, tool: ListedTool) -> Departure | None:
        return departure if refusal == "a changed definition" else None

    scenario = Scenario.model_validate(
        {"query": "q", "approvals": {"*": "allow"}, "expect": {"max_calls": 1}}
    )
    approver = PolicyApprover(rules=rules, departure_of=changed)
    script = _Script([calling("delete_city", city="Oslo"), {"text": "!"}])
    async with Asker(Config(), TOOLBOX, between=script.between, approver=approver) as asker:
        conversed = await asker.ask("scripted/x", scenario)
    assert conversed.tool_calls[0].result["error_code"] == "denied"


@pytest.mark.requirement("I14.1.48")
def test_new_keys_change_the_hash_of_a_suite_and_their_defaults_none() -> None:
    plain = {"query": "q", "expect": {"no_calls": True}}
    usual = {"tools": "all", "mocks": {}, "approvals": {}, "elicitations": {}, "messages": [], "weight": 1}
    changes: list[dict[str, Any]] = [
        {"tools": ["a"]},
        {"mocks": {"a": {"response": 1}}},
        {"mocks": {"a": {"response": 2}}},
        {"approvals": {"a": "deny"}},
        {"elicitations": {"a": "cancel"}},
        {"messages": [{"role": "user", "content": "c"}]},
        {"weight": 2},
    ]
    suites = [{**plain, **change} for change in changes]
    suites += [{"turns": [plain]}, {"turns": [plain, plain]}]
    hashes = [hash_of_suite(Suite.model_validate({"scenarios": [each]})) for each in (plain, *suites)]
    assert len(set(hashes)) == len(hashes)
    assert hash_of_suite(Suite.model_validate({"scenarios": [{**plain, **usual}]})) == hashes[0]


@pytest.mark.requirement("I14.1.48")
def test_the_hash_of_a_suite_is_what_it_was_before_there_were_such_keys() -> None:
    suite = {
        "scenarios": [
            {
                "query": "?",
                "expect": {
                    "calls": [{"tool": "x"}, {"tool": "y", "arguments": {"a": {"one_of": [1, 2]}}}],
                    "order": "ordered",
                },
                "tags": ["a"],
            },
            {
                "name": "b",
                "query": "q",
                "expect": {"no_calls": True, "answer": ["a", {"number": {"value": 1, "within": 0.1}}]},
            },
        ]
    }
    kept = "af658ac7a9cc468acf2a56b623e94a4121894fb6c3476dd87959f7c2f9d5a75f"
    assert hash_of_suite(Suite.model_validate(suite)) == kept
