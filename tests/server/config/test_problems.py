"""What a wrong config is told: everything at once, each with its place and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configs import load, problems, registry, told

pytestmark = pytest.mark.requirement("I4.4.1")

BROKEN = """\
tools:
  max_iterations: 0
  default_timeout_ms: soon
  registry:
    - name: get weather
      descripton: Weather.
      implementation: {type: mok}
    - name: calculate
      description: Calculates.
      timout_ms: 5
      implementation: {type: builtin, handler: mat_eval}
      parameters: {type: object, properties: {x: {type: strng}}}
toolz: {}
"""


@pytest.mark.requirement("I2.2.2", "I2.8.4")
def test_every_problem_is_reported_at_once_with_place_and_advice(tmp_path: Path) -> None:
    assert told(tmp_path, BROKEN) == [
        "config.yaml:2:19: $.tools.max_iterations: must be an integer from 1 to 1000, not 0",
        "config.yaml:3:23: $.tools.default_timeout_ms: must be an integer from 1 to 3600000, not 'soon'",
        "config.yaml:5:7: $.tools.registry[0]: 'description' is missing (add description)",
        "config.yaml:5:13: $.tools.registry[0].name: 'get weather' does not match ^[A-Za-z0-9_.-]{1,128}$"
        " (use only what the pattern allows)",
        "config.yaml:6:7: $.tools.registry[0].descripton: unknown key 'descripton'"
        " (did you mean 'description'?)",
        "config.yaml:7:30: $.tools.registry[0].implementation.type: unknown kind 'mok'"
        " (did you mean 'mock'?)",
        "config.yaml:10:7: $.tools.registry[1].timout_ms: unknown key 'timout_ms'"
        " (did you mean 'timeout_ms'?)",
        "config.yaml:12:57: $.tools.registry[1].parameters.properties.x.type:"
        " 'strng' is not a JSON Schema type (did you mean 'string'?)",
        "config.yaml:13:1: $.toolz: unknown key 'toolz' (did you mean 'tools'?)",
    ]


@pytest.mark.requirement("I2.2.2")
def test_a_problem_has_its_parts_as_data(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "version: 2\n")
    assert (problem.line, problem.column, problem.path) == (1, 10, "$.version")
    assert problem.file == str(tmp_path / "config.yaml")
    assert problem.message == "must be 1, not 2"


@pytest.mark.requirement("I2.2.2")
@pytest.mark.parametrize("kind", ["builtin", "internal"])
def test_an_unknown_handler_is_found_at_load(tmp_path: Path, kind: str) -> None:
    text = registry("a").replace("type: mock, mock_response: 1", f"type: {kind}, handler: ech0")
    (line,) = told(tmp_path, text)
    assert line.startswith(
        f"config.yaml:5:{len('      implementation: {type: , handler: ') + len(kind) + 1}: "
    )
    assert f"$.tools.registry[0].implementation.handler: {kind.capitalize()} handler 'ech0' not found" in line


@pytest.mark.requirement("I2.2.2")
def test_an_unknown_key_of_a_kind_suggests_the_nearest(tmp_path: Path) -> None:
    (line,) = told(tmp_path, registry("a").replace("mock_response", "mock_respons"))
    assert line.endswith("unknown key 'mock_respons' (did you mean 'mock_response'?)")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("maxIterations", "max_iterations"),
        ("registri", "registry"),
        ("DEFAULT-timeout-ms", "default_timeout_ms"),
    ],
)
def test_an_unknown_key_suggests_a_key_of_the_same_object(tmp_path: Path, written: str, meant: str) -> None:
    (line,) = told(tmp_path, f"tools: {{{written}: 3}}")
    assert line.endswith(f"unknown key {written!r} (did you mean {meant!r}?)")


@pytest.mark.requirement("I2.2.2")
def test_a_key_like_no_other_lists_the_known_ones(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "services: {zzz: 3}")
    assert line.endswith("unknown key 'zzz' (known: collections, databases, upstreams, workspaces)")


@pytest.mark.parametrize("value", ["0", "-1", '"5"', "1000000000", "1e9", "5.0", "true", "[]", "many"])
def test_an_iteration_limit_out_of_range_names_the_range(tmp_path: Path, value: str) -> None:
    (line,) = told(tmp_path, f"tools: {{max_iterations: {value}}}")
    assert "config.yaml:1:25: $.tools.max_iterations: must be an integer from 1 to 1000, not " in line


@pytest.mark.parametrize("value", [".nan", ".inf", "-.INF", "1e400"])
def test_a_number_that_is_not_finite_is_refused(tmp_path: Path, value: str) -> None:
    (line,) = told(tmp_path, f"tools: {{default_timeout_ms: {value}}}")
    assert "config.yaml:1:29: $.tools.default_timeout_ms" in line
    assert "not a number that JSON can carry" in line


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_json_with_a_number_that_is_not_finite_is_refused_everywhere(tmp_path: Path, literal: str) -> None:
    text = (
        '{"tools": {"registry": [{"name": "a", "description": "b", '
        f'"implementation": {{"type": "mock", "mock_response": {literal}}}}}]}}}}'
    )
    (line,) = told(tmp_path, text, name="c.json")
    assert f"c.json:1:{text.index(literal) + 1}: $.tools.registry[0].implementation.mock_response" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tools: []", "$.tools: must be an object, not a list"),
        ("tools: {registry: {}}", "$.tools.registry: must be a list, not an object"),
        ("tools: {registry: [7]}", "$.tools.registry[0]: must be an object, not 7"),
        ("name: 5", "$.name: must be a string, not 5 (put it in quotes)"),
        ("name: ''", "$.name: must not be empty"),
        (
            "tools: {enabled: yes}",
            "$.tools.enabled: must be true or false, not 'yes' (write true, without quotes)",
        ),
        ("responses: [{temperature: 3}]", "$.responses[0].temperature: must be a number from 0 to 2, not 3"),
        (
            "responses: [{max_tokens: 0}]",
            "$.responses[0].max_tokens: must be an integer of at least 1, not 0",
        ),
        ("mcpServers: {a: {type: ws, command: b}}", "not 'ws'"),
        ("services: {collections: {a b: {path: x}}}", '$.services.collections["a b"]: '),
        ("services: {collections: {a: {}}}", "$.services.collections.a: 'path' is missing (add path)"),
        ("[]", "$: a config is an object"),
        ("just words", "$: a config is an object"),
    ],
)
def test_a_wrong_value_is_told_what_is_wanted(tmp_path: Path, text: str, said: str) -> None:
    (line,) = told(tmp_path, text)
    assert said in line


def test_a_tool_without_a_kind_is_told_the_kinds(tmp_path: Path) -> None:
    text = registry("a").replace("{type: mock, mock_response: 1}", "{mock_response: 1}")
    (line,) = told(tmp_path, text)
    assert line.endswith("'type' is missing (known kinds: builtin, http, internal, mcp, mock, pipeline)")


@pytest.mark.requirement("I2.2.2")
def test_a_duplicate_tool_name_names_both_places(tmp_path: Path) -> None:
    (line,) = told(tmp_path, registry("fetch", "other", "fetch"))
    assert line.startswith("config.yaml:9:13: $.tools.registry[2].name: tool 'fetch' is already defined at ")
    assert line.endswith("config.yaml:3:13 (give it another name)")


def test_a_missing_key_hides_no_other_problem_of_its_tool(tmp_path: Path) -> None:
    text = "tools: {registry: [{name: a}, {name: a}]}"
    assert [problem.path for problem in problems(tmp_path, text)].count("$.tools.registry[1].name") == 1
    assert len(problems(tmp_path, text)) == 5


def test_names_that_differ_only_by_case_are_refused(tmp_path: Path) -> None:
    (line,) = told(tmp_path, registry("fetch", "Fetch"))
    assert "tool 'Fetch' differs only by case from 'fetch' at " in line


@pytest.mark.requirement("I2.2.2")
def test_a_bad_tool_is_left_out_on_request_and_named(tmp_path: Path) -> None:
    text = (
        registry("good", "bad name", "good", "fine")
        + "responses: [{tools: {allowed_tools: [fine, bad name]}}]"
    )
    config = load(tmp_path, text, skip_invalid=True)
    assert [tool.name for tool in config.tools.registry] == ["good", "fine"]
    assert [problem.path for problem in config.skipped] == [
        "$.tools.registry[1].name",
        "$.tools.registry[2].name",
    ]


def test_a_tool_is_kept_when_only_a_bad_one_has_its_name(tmp_path: Path) -> None:
    text = registry("a", "a").replace("description: A tool.", "description: ''", 1)
    config = load(tmp_path, text, skip_invalid=True)
    assert [tool.description for tool in config.tools.registry] == ["A tool."]
    assert [problem.path for problem in config.skipped] == ["$.tools.registry[0].description"]


def test_leaving_out_bad_tools_covers_nothing_else(tmp_path: Path) -> None:
    from toolspan_server import ConfigError

    with pytest.raises(ConfigError) as caught:
        load(tmp_path, registry("bad name") + "toolz: 1", skip_invalid=True)
    assert [problem.path for problem in caught.value.problems] == ["$.toolz"]


def test_without_the_request_nothing_is_skipped(tmp_path: Path) -> None:
    assert load(tmp_path, registry("good"), skip_invalid=True).skipped == ()
    assert [p.path for p in problems(tmp_path, registry("bad name"))] == ["$.tools.registry[0].name"]


def test_allowed_tools_that_are_unknown_list_the_known(tmp_path: Path) -> None:
    (line,) = told(tmp_path, registry("one", "two") + "responses: [{tools: {allowed_tools: [one, tow]}}]")
    assert line.endswith(".allowed_tools[1]: unknown tool 'tow' (did you mean 'two'? known: one, two)")


def test_allowed_tools_of_connected_servers_are_not_judged(tmp_path: Path) -> None:
    text = "mcpServers: {a: {command: b}}\nresponses: [{tools: {allowed_tools: [theirs]}}]"
    assert load(tmp_path, text).responses[0].tools is not None


@pytest.mark.parametrize("pattern", ["weather", "/(weather|forecast)/", "/weather/i", "a/b", r"\bday\b"])
def test_an_intent_pattern_may_stand_between_slashes(tmp_path: Path, pattern: str) -> None:
    config = load(tmp_path, f"responses: [{{match: {{intent_regexp: '{pattern}'}}}}]")
    assert config.responses[0].match.intent_regexp == pattern


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("/(a/", "missing )"), ("(?=a)", "RE2"), ("/a/g", "flag 'g' is not known (only i is")],
)
def test_an_intent_pattern_that_does_not_compile_is_refused(tmp_path: Path, pattern: str, said: str) -> None:
    (line,) = told(tmp_path, f"responses: [{{match: {{intent_regexp: '{pattern}'}}}}]")
    assert said in line and "$.responses[0].match.intent_regexp: " in line


def test_a_message_is_one_line_of_bounded_length(tmp_path: Path) -> None:
    (line,) = told(tmp_path, f'name: "{"x" * 10}\\n{"y" * 9000}"\nversion: "{"v" * 9000}"')
    assert len(line) < 2200 and "\n" not in line


@pytest.mark.requirement("I9.3.25")
def test_of_many_faults_the_first_hundred_are_told_and_how_many_more(tmp_path: Path) -> None:
    lines = told(tmp_path, "\n".join(f"key{number}: 1" for number in range(3_000)))
    assert len(lines) == 101
    assert lines[0].startswith("config.yaml:1:1: $.key0: unknown key 'key0'")
    assert "more problems were found, and there may be others (correct the reported ones first)" in lines[-1]


def test_a_list_of_wrong_entries_is_not_called_empty(tmp_path: Path) -> None:
    lines = told(tmp_path, "prompts: [{name: p, messages: [{role: system, text: x}]}]")
    assert [line.partition(": ")[2] for line in lines] == [
        "$.prompts[0].messages[0].role: must be 'user' or 'assistant', not 'system'"
    ]


@pytest.mark.parametrize("value", ["0", "-1", "1e9"])
def test_a_time_out_of_its_range_is_told_the_range(tmp_path: Path, value: str) -> None:
    (line,) = told(tmp_path, f"limits: {{answer_seconds: {value}}}")
    assert "$.limits.answer_seconds: must be a number above 0, at most 3600" in line


def test_a_name_is_suggested_out_of_thousands_too(tmp_path: Path) -> None:
    names = ", ".join(
        f"{{name: tool_{number}, description: d, implementation: {{type: mock, mock_response: 1}}}}"
        for number in range(1_000)
    )
    (line,) = told(tmp_path, f"tools: {{registry: [{names}]}}\ntoolsets: {{a: {{tools: [tol_77]}}}}")
    assert "(did you mean 'tool_77'?)" in line
