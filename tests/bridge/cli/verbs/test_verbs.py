"""The command line over real servers: what it prints where, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import toolspan, toolspan_process

CONFIG = """
name: shop
tools:
  max_iterations: 2
  registry:
    - name: get_weather
      description: Get current weather for a location
      parameters:
        type: object
        properties:
          location: {type: string, description: City name}
          units: {type: string, enum: [celsius, fahrenheit], default: celsius}
        required: [location]
      implementation: {type: mock, mock_response: {temperature: 22}}
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    return tmp_path


@pytest.mark.requirement("I2.6.6")
def test_tools_list_tells_every_tool_with_its_schema(shop: Path) -> None:
    ran = toolspan("tools", "list", "--json", cwd=shop)
    assert [tool["name"] for tool in ran.json["tools"]] == ["calculate", "get_weather"]
    assert ran.json["tools"][1]["parameters"]["required"] == ["location"]
    assert ran.json["tools"][0]["server"] == "shop"
    assert ran.err == ""


@pytest.mark.requirement("I2.6.6")
def test_tools_list_for_people_names_the_tools(shop: Path) -> None:
    ran = toolspan("tools", "list", cwd=shop)
    assert "get_weather" in ran.out
    assert "Get current weather for a location" in ran.out


@pytest.mark.requirement("I2.6.6")
def test_tools_show_prints_one_tool(shop: Path) -> None:
    assert toolspan("tools", "show", "get_weather", "--json", cwd=shop).json["name"] == "get_weather"
    assert "Get current weather" in toolspan("tools", "show", "get_weather", cwd=shop).out


@pytest.mark.requirement("I2.6.6", "I2.6.4", "I2.3.1")
def test_tools_call_prints_the_tool_result_object(shop: Path) -> None:
    ran = toolspan_process("tools", "call", "calculate", "expression=6*7", "--json", cwd=shop)
    assert ran.code == 0
    assert ran.json.pop("execution_time_ms") >= 0
    assert {key: ran.json[key] for key in ran.json if key != "execution_time_ms"} == {
        "success": True,
        "result": {"result": 42},
        "tool_name": "calculate",
    }


@pytest.mark.requirement("I2.6.6", "I2.3.2")
def test_a_tool_that_fails_exits_5_with_the_error_object(shop: Path) -> None:
    ran = toolspan("tools", "call", "get_weather", "--json", cwd=shop)
    assert ran.code == 5
    assert ran.json["error"] == "Invalid parameters: missing 'location'"
    assert ran.json["error_code"] == "invalid_parameters"


@pytest.mark.requirement("I2.6.6")
def test_a_tool_that_fails_is_told_to_people_on_stderr(shop: Path) -> None:
    ran = toolspan("tools", "call", "get_weather", "location=Paris", "units=kelvin", cwd=shop)
    assert ran.code == 5
    assert ran.out == ""
    assert "must be one of: celsius, fahrenheit" in ran.err


def test_arguments_come_as_one_json_object_from_stdin(shop: Path) -> None:
    ran = toolspan(
        "tools", "call", "calculate", "--arguments", "-", "--json", cwd=shop, stdin='{"expression": "1+1"}'
    )
    assert ran.json["result"] == {"result": 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tools", "call", "calculate", "expression"), "is no KEY=VALUE"),
        (("tools", "call", "calculate", "--arguments", "[1]"), "needs a JSON object"),
        (("tools", "call", "calculate", "--arguments", "{"), "is no JSON"),
        (("tools", "show", "wether"), "Tool 'wether' not found"),
    ],
)
def test_words_that_are_off_exit_2_and_say_what_to_write(
    shop: Path, words: tuple[str, ...], said: str
) -> None:
    ran = toolspan(*words, "--json", cwd=shop)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.error["code"] == "usage"
    assert said in ran.error["message"]


@pytest.mark.requirement("I2.6.6", "I2.6.4")
def test_ask_prints_the_answer_and_tells_the_calls_on_stderr(shop: Path) -> None:
    ran = toolspan("ask", "What's the weather in Paris?", cwd=shop)
    assert ran.code == 0
    assert "22" in ran.out
    assert "→ get_weather(location=Paris)" in ran.err


@pytest.mark.requirement("I2.6.4", "I2.6.6", "I2.6.3")
def test_ask_json_has_exactly_the_documented_keys(shop: Path) -> None:
    answer = toolspan("ask", "What's the weather in Paris?", "--json", cwd=shop).json
    keys = ["content", "model", "provider", "tool_calls", "usage", "iterations", "cost", "conversation"]
    assert list(answer) == keys
    [call] = answer["tool_calls"]
    assert list(call) == ["tool", "arguments", "result", "iteration"]
    assert call["tool"] == "get_weather"
    assert call["result"]["result"] == {"temperature": 22}


def test_ask_reads_the_question_from_stdin(shop: Path) -> None:
    ran = toolspan("ask", "-", "--json", cwd=shop, stdin="What's 2+2?\n")
    assert ran.json["tool_calls"][0]["result"]["result"] == {"result": 4}


def test_an_empty_question_is_refused(shop: Path) -> None:
    assert toolspan("ask", " ", cwd=shop).code == 2


@pytest.mark.requirement("I2.6.6", "I2.6.2", "I2.8.4")
def test_a_missing_key_exits_3_and_names_the_variable(shop: Path) -> None:
    ran = toolspan("ask", "hello", "--model", "openai/gpt-4o", "--json", cwd=shop)
    assert ran.code == 3
    assert "OPENAI_API_KEY" in ran.error["message"]


@pytest.mark.long
@pytest.mark.requirement("I2.6.6", "I2.6.2", "I2.8.4")
def test_an_address_that_does_not_answer_exits_4_and_is_named(shop: Path) -> None:
    ran = toolspan("ask", "hello", "--model", "ollama/llama3", "--json", cwd=shop, OLLAMA_HOST="127.0.0.1:9")
    assert ran.code == 4
    assert "127.0.0.1:9" in ran.error["message"]


def test_an_unknown_provider_is_refused_with_the_nearest_known_one(shop: Path) -> None:
    ran = toolspan("ask", "hello", "--model", "opnai/gpt-4o", cwd=shop)
    assert ran.code == 2
    assert "'openai'" in ran.err


@pytest.mark.requirement("I2.6.6")
def test_chat_answers_line_by_line_and_keeps_to_stdin(shop: Path) -> None:
    ran = toolspan("chat", "--json", cwd=shop, stdin="What's 2+2?\n/tools\nWhat's 3*3?\n")
    first, second = ran.out.splitlines()
    assert '"result": 4' in first
    assert '"result": 9' in second
    assert "calculate, get_weather" in ran.err


@pytest.mark.requirement("I2.6.5")
@pytest.mark.parametrize("wire", ["openai", "ollama", "gemini", "bedrock"])
def test_export_prints_the_tool_payload_of_the_format(shop: Path, wire: str) -> None:
    ran = toolspan("export", "--format", wire, cwd=shop)
    assert ran.code == 0
    assert "shop__get_weather" in ran.out
    assert isinstance(ran.json, list)


@pytest.mark.requirement("I2.6.6", "I2.2.2")
def test_check_reports_every_problem_at_once(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("tools:\n  registry:\n    - {name: a b, descripton: x}\n")
    ran = toolspan("check", "--json", cwd=tmp_path)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.error["problems"]) >= 3
    assert all(problem["line"] == 3 for problem in ran.error["problems"])


@pytest.mark.requirement("I2.6.6")
def test_check_says_that_a_config_is_right(shop: Path) -> None:
    assert toolspan("check", "--json", cwd=shop).json["ok"] is True
    assert "2 tools: get_weather (mock), calculate (builtin)" in toolspan("check", cwd=shop).out


def test_check_says_what_there_is_where_no_tool_is_written_down(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(
        "tools: {sources: [{type: openapi, file: api.yaml}]}\n"
        "prompts: [{name: greet, messages: [{text: hi}]}]\n"
        "toolsets: {few: {tools: [a]}}\n"
    )
    lines = toolspan("check", cwd=tmp_path).out.splitlines()[1:]
    assert lines == ["tools of 1 source: openapi", "1 prompt: greet", "1 toolset: few"]
    told = toolspan("check", "--json", cwd=tmp_path).json
    assert (told["tools"], told["sources"], told["prompts"]) == ([], ["openapi"], ["greet"])
    assert (told["toolsets"], told["resources"]) == (["few"], [])


def test_a_folder_without_a_config_is_told_what_to_do(tmp_path: Path) -> None:
    ran = toolspan("check", cwd=tmp_path)
    assert ran.code == 2
    assert "--config FILE" in ran.err


def test_the_config_is_found_by_its_variable(shop: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = toolspan("check", "--json", cwd=elsewhere, TOOLSPAN_CONFIG=str(shop / "toolspan.yaml"))
    assert ran.json["files"] == [str(shop / "toolspan.yaml")]


def test_an_unknown_verb_exits_2(tmp_path: Path) -> None:
    ran = toolspan_process("serv", cwd=tmp_path)
    assert ran.code == 2
    assert "no such command 'serv': did you mean 'serve'?" in ran.err


@pytest.mark.requirement("I2.2.3", "I2.8.4")
def test_a_secret_shows_nowhere(tmp_path: Path) -> None:
    secret = "s3cr3t-value-of-the-variable"
    (tmp_path / "toolspan.yaml").write_text(
        CONFIG + "mcpServers:\n  gone: {command: no-such-program, args: ['--key', '${KEY}']}\n"
    )
    for words in (("check",), ("tools", "list"), ("tools", "show", "calculate"), ("ask", "What's 2+2?")):
        ran = toolspan(*words, "--trust", "--json", cwd=tmp_path, KEY=secret)
        assert ran.code == 0
        assert secret not in ran.out + ran.err


@pytest.mark.requirement("I2.7.1", "I2.7.2")
def test_validate_prints_a_table_and_writes_the_records(shop: Path) -> None:
    suite = shop / "suite.yaml"
    suite.write_text('scenarios:\n  - {query: "What\'s 2+2?", expect: {calls: [{tool: calculate}]}}\n')
    ran = toolspan("validate", "--suite", str(suite), "--trials", "2", cwd=shop)
    assert ran.code == 0
    assert "2/2" in ran.out
    [record] = toolspan("report", "--json", cwd=shop).json
    assert record["model_id"] == "offline/keyword"
    assert (record["test_count"], record["success_count"], record["validated"]) == (2, 2, True)
    assert (shop / ".toolspan" / "validation.json").exists()
    assert "provisional (n=2, 100 %, 34–100 %)" in toolspan("report", cwd=shop).out


@pytest.mark.requirement("I2.7.3")
def test_a_model_below_the_threshold_exits_6(shop: Path) -> None:
    suite = shop / "suite.yaml"
    suite.write_text('scenarios:\n  - {query: "What\'s 2+2?", expect: {no_calls: true}}\n')
    ran = toolspan("validate", "--suite", str(suite), "--json", cwd=shop)
    assert ran.code == 6
    assert ran.json["passed"] is False


def test_a_report_of_nothing_says_how_to_get_one(shop: Path) -> None:
    ran = toolspan("report", cwd=shop)
    assert ran.code == 2
    assert "toolspan validate" in ran.err


def test_a_route_without_a_key_gives_way_loudly(tmp_path: Path) -> None:
    config = CONFIG + (
        "responses:\n  - match: {intent_regexp: /weather/}\n    llm: openai\n    model: gpt-4o\n"
        "    tools: {}\n"
        '    prompt: "You tell the weather.\\n\\nUser: {{user_message}}"\n'
    )
    (tmp_path / "toolspan.yaml").write_text(config)
    ran = toolspan("ask", "What's the weather in Paris?", "--json", "--trust", cwd=tmp_path)
    assert ran.json["provider"] == "offline"
    assert "OPENAI_API_KEY" in ran.err
    assert "no language model" in ran.err
