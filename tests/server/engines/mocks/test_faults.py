"""What is wrong with a mock is said when the config is read, at its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import tool
from toolspan_server import load_config
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I4.2.2", "I4.4.1")

HERE = "$.tools.registry[0].implementation"
ASK = {"elicitation": {"message": "Sure?"}}


@pytest.mark.parametrize(
    ("implementation", "expected"),
    [
        ({"response": "{{ city"}, ".response: '{{' is not closed"),
        ({"response": {"a": [1, "{{ }}"]}}, ".response.a[1]: expected the name of a value"),
        ({"mock_response": 1, "response": 2}, ".response: 'mock_response' and 'response' are two answers"),
        ({"response": 1, "sequence": [{"response": 2}]}, ".sequence: 'response' and 'sequence' are two"),
        ({"sequence": [{"delay_ms": 1}]}, ".sequence[0]: says no answer"),
        ({"sequence": []}, ".sequence: must not be empty"),
        ({"then": "cycle"}, ".then: says what comes after a sequence"),
        ({"rules": [{"when": {}}]}, ".rules[0]: says no answer"),
        ({"rules": [{"response": 1}]}, ".rules[0]: 'when' is missing"),
        (
            {"rules": [{"when": {"x": {"regx": "a"}}, "response": 1}]},
            ".rules[0].when.x.regx: unknown condition",
        ),
        ({"rules": [{"when": {"x": {"regex": "("}}, "response": 1}]}, ".when.x.regex: not an RE2 pattern"),
        ({"rules": [{"when": {"x": {"regex": "(?=a)"}}, "response": 1}]}, ".x.regex: not an RE2 pattern"),
        ({"rules": [{"when": {"x": {"in": 1}}, "response": 1}]}, ".when.x.in: must be a list"),
        ({"rules": [{"when": {"x": {"not": {"gt": []}}}, "response": 1}]}, ".x.not.gt: must be a number or"),
        ({"rules": [{"when": {"x y": 1}, "response": 1}]}, '.when["x y"]: expected the end of the path'),
        ({"rules": [{"whn": {}, "response": 1}]}, ".rules[0].whn: unknown key 'whn' (did you mean 'when'?)"),
        (
            {"random": {"choices": [{"weight": 0, "response": 1}]}},
            ".choices[0].weight: must be a number",
        ),
        ({"error": {"message": "no", "code": "two words"}}, ".error.code: 'two words' does not match"),
        ({"error": {}}, ".error: 'message' is missing"),
        ({"fail_every": 0}, ".fail_every: must be an integer from 1 to"),
        ({"delay_ms": -1}, ".delay_ms: must be an integer from 0 to 3600000"),
        ({"delay_ms": 5, "delay_max_ms": 4, "response": 1}, ".delay_max_ms: must be at least delay_ms"),
        ({"structured": {}, "response": 1}, ".structured: stands beside content only"),
        ({"content": [{"type": "picture"}]}, ".content[0].type: unknown type of content 'picture'"),
        ({"content": [{"text": "x"}]}, ".content[0]: must be a text, or an object with a 'type'"),
        ({"content": [{"type": "text"}]}, ".content[0]: 'text' is missing"),
        ({"content": [{"type": "text", "text": 1}]}, ".content[0].text: must be a string"),
        ({"content": [{"type": "text", "txt": "x", "text": ""}]}, ".content[0].txt: unknown key 'txt'"),
        ({"content": [{"type": "image", "data": "%%"}]}, ".content[0].data: is not base64"),
        ({"content": [{"type": "image", "data": "AAAA"}]}, ".content[0]: the media type of the image is not"),
        ({"content": [{"type": "image"}]}, ".content[0]: needs either 'data' (base64) or 'file'"),
        ({"content": [{"type": "image", "file": "../x.png"}]}, ".content[0].file: '../x.png' is outside"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b"}}]},
            "needs one of 'text', 'blob'",
        ),
        ({"content": ["{{ x | nope }}"]}, ".content[0]: unknown filter 'nope'"),
        ({"steps": [{}]}, ".steps[0]: must be one of progress, log, ask"),
        ({"steps": [{"delay_ms": 1, "release": True}]}, ".steps[0]: must be one of"),
        ({"steps": [{"log": {"level": "loud", "data": 1}}]}, ".steps[0].log.level: must be"),
        ({"steps": [{"ask": {}}]}, ".steps[0].ask: has no question"),
        ({"steps": [{"ask": {"a": {}}}]}, ".steps[0].ask.a: must have one of elicitation, sampling"),
        ({"steps": [{"ask": {"a": ASK}}, {"ask": {"a": ASK}}]}, ".steps: two questions are named 'a'"),
        ({"steps": [{"ask": {"a b": ASK}}]}, '.steps[0].ask["a b"]: '),
        (
            {"steps": [{"ask": {"a": {"sampling": {"messages": [{}]}}}}]},
            "must be an object with",
        ),
        ({"on_decline": {"response": 1}}, ".on_decline: no step asks anything"),
        ({"response": "{{ answers.who }}"}, ".response: nothing asks for the answer 'who'"),
        (
            {"steps": [{"ask": {"sure": ASK}}], "response": ["{{ answers.shure.action }}"]},
            ".response[0]: nothing asks for the answer 'shure' (did you mean 'sure'?)",
        ),
        (
            {"rules": [{"when": {"client.smapling": True}, "response": 1}]},
            "'client' has no 'smapling' (did you mean 'sampling'?)",
        ),
        ({"response": "{{ call.count }}"}, ".response: 'call' has no 'count'"),
    ],
)
def test_a_fault_is_reported_at_its_place(
    implementation: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [tool("m", {"type": "mock", **implementation})]}}))
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    said = str(raised.value)
    assert expected in said
    assert HERE in said
    assert all(problem.line for problem in raised.value.problems)


def test_a_form_holds_simple_fields_only(tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"address": {"type": "object"}}}
    steps = [{"ask": {"a": {"elicitation": {"message": "?", "requestedSchema": form}}}}]
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [tool("m", {"type": "mock", "steps": steps})]}}))
    with pytest.raises(ConfigError, match=r"requestedSchema\.properties\.address: is no simple field"):
        load_config(path)


def test_what_a_variable_puts_into_an_answer_is_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.json"
    implementation = {"type": "mock", "rules": [{"when": {"a": 1}, "response": "in ${TOWN}"}]}
    path.write_text(json.dumps({"tools": {"registry": [tool("m", implementation)]}}))
    config = load_config(path, environ={"TOWN": "Trondheim"})
    assert not config.has_secrets
