"""Presets on the command line: kept, and asked with, as far as the provider's wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.4.33")]

MOCKS = """
tools:
  registry:
    - name: weather
      description: Tells the weather
      implementation: {type: mock, mock_response: sunny}
    - name: tides
      description: Tells the tides
      implementation: {type: mock, mock_response: low}
"""


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.delenv("TOOLSPAN_MODEL", raising=False)
    return folder


def presets(folder: Path, *arguments: str, stdin: str = "") -> Ran:
    return toolspan("presets", *arguments, cwd=folder, stdin=stdin)


def test_they_are_created_listed_shown_updated_and_deleted(tmp_path: Path) -> None:
    assert "there are no presets yet" in presets(tmp_path, "list").err
    assert presets(tmp_path, "list", "--json").json == {"presets": []}
    made = presets(
        tmp_path,
        "create",
        "Research",
        "--instructions-file",
        "-",
        "--reasoning",
        "high",
        "--json",
        stdin="Cite.",
    ).json
    assert (made["name"], made["instructions"], made["model"]) == ("Research", "Cite.", "")
    assert (made["default_reasoning_level"], made["enabled_tools"]) == ("high", ["web_search", "calculator"])
    assert presets(tmp_path, "list", "--json").json == {"presets": [made]}
    assert presets(tmp_path, "show", made["id"], "--json").json == made
    listed = presets(tmp_path, "list").out
    assert "Research" in listed and "web_search, calculator" in listed
    changed = presets(
        tmp_path,
        "update",
        "Research",
        "--name",
        "Sums",
        "--model",
        "openai/x",
        "--tool",
        "calculator",
        "--json",
    ).json
    assert changed == {
        **made,
        "name": "Sums",
        "model": "openai/x",
        "enabled_tools": ["calculator"],
        "updated_at": changed["updated_at"],
    }
    shown = presets(tmp_path, "show", "Sums").out
    assert "model: openai/x\n" in shown and "tools: calculator\n" in shown and shown.endswith("\nCite.\n")
    assert presets(tmp_path, "delete", "Sums", "--json").json == {"deleted": changed}
    gone = presets(tmp_path, "delete", "Sums")
    assert gone.code == 2 and "there is no preset 'Sums'" in gone.err


@pytest.mark.requirement("I12.4.31")
def test_tools_are_those_of_the_config_and_the_built_in_ones(tmp_path: Path) -> None:
    refused = presets(tmp_path, "create", "Sea", "--tool", "tides", "--json")
    assert (refused.code, refused.error["message"]) == (2, "Unknown tool: tides")
    assert "there are the tools calculator, " in refused.err
    (tmp_path / "toolspan.yaml").write_text(MOCKS)
    made = presets(tmp_path, "create", "Sea", "--tool", "tides", "--tool", "web_search", "--json")
    assert made.json["enabled_tools"] == ["tides", "web_search"]
    refused = presets(tmp_path, "update", "Sea", "--tool", "tide", "--json")
    assert (refused.code, refused.error["message"]) == (2, "Unknown tool: tide")


@pytest.mark.requirement("I12.4.34")
def test_the_tools_of_a_workspace_may_be_enabled_and_no_others_of_it_are_there(tmp_path: Path) -> None:
    assert presets(tmp_path, "create", "Reader", "--tool", "Read").code == 2
    options = ("--tool", "Read", "--model", "openai-responses/gpt-5.1")
    made = presets(tmp_path, "create", "Reader", *options, "--workspace", ".")
    assert made.code == 0, made.err
    with asked(tmp_path, wires("openai-responses").answer("So.")) as (fake, variables):
        ran = toolspan("ask", "Hi?", "--preset", "Reader", "--workspace", ".", cwd=tmp_path, **variables)
    assert ran.code == 0, ran.err
    assert [tool["name"].rpartition("__")[2] for tool in fake.received[0].body["tools"]] == ["Read"]


@pytest.mark.requirement("I12.4.31")
@pytest.mark.parametrize("verb", ["ask", "chat"])
def test_a_tool_that_is_not_there_any_more_is_said_before_anything_is_asked(
    tmp_path: Path, verb: str
) -> None:
    (tmp_path / "toolspan.yaml").write_text(MOCKS)
    assert presets(tmp_path, "create", "Sea", "--tool", "tides").code == 0
    (tmp_path / "toolspan.yaml").unlink()
    arguments = ("hi",) if verb == "ask" else ()
    ran = toolspan(verb, *arguments, "--preset", "Sea", cwd=tmp_path, stdin="hi\n")
    assert (ran.code, ran.out) == (2, "")
    assert "toolspan: Tool tides is not available\n" in ran.err


def test_a_preset_that_is_not_there_is_refused(tmp_path: Path) -> None:
    ran = toolspan("ask", "hi", "--preset", "Nope", cwd=tmp_path)
    assert ran.code == 2 and "there is no preset 'Nope' (presets: none)" in ran.err


def test_instructions_come_once(tmp_path: Path) -> None:
    both = presets(tmp_path, "create", "A", "--instructions", "a", "--instructions-file", "-")
    assert both.code == 2 and "keep one" in both.err
    missing = presets(tmp_path, "create", "A", "--instructions-file", "none.txt")
    assert missing.code == 2 and "none.txt: cannot be read: No such file" in missing.err
    (tmp_path / "binary").write_bytes(b"\xff")
    binary = presets(tmp_path, "create", "A", "--instructions-file", "binary")
    assert binary.code == 2 and "it is no UTF-8 text" in binary.err


@contextmanager
def asked(
    folder: Path, *answers: Any, format_name: str = "openai-responses"
) -> Iterator[tuple[FakeProvider, dict[str, str]]]:
    place = wires(format_name).PLACE
    sent = [Sent(each) for each in answers]
    with FakeProvider(anything, sent) as fake:
        yield fake, dict(place.variables(fake.url))


EFFORTS: dict[str, Any] = {
    "openai-responses": ("gpt-5.1", lambda body: body["reasoning"]["effort"]),
    "openai": ("gpt-5.1", lambda body: body["reasoning_effort"]),
    "gemini": (
        "gemini-3-pro",
        lambda body: body["generationConfig"]["thinkingConfig"]["thinkingLevel"].lower(),
    ),
    "anthropic": ("claude-opus-4-6", lambda body: body["output_config"]["effort"]),
    "ollama": ("gpt-oss:20b", lambda body: body["think"]),
}


@pytest.mark.requirement("I12.4.34")
@pytest.mark.parametrize(
    ("format_name", "level"),
    [
        *((name, level) for name in EFFORTS for level in ("low", "high")),
        ("openai-responses", "none"),
        ("openai", "medium"),
    ],
)
def test_its_instructions_model_level_and_tools_reach_the_provider(
    tmp_path: Path, format_name: str, level: str
) -> None:
    (tmp_path / "toolspan.yaml").write_text(MOCKS)
    model, effort = EFFORTS[format_name]
    provider = wires(format_name).PLACE.model.partition("/")[0]
    presets(
        tmp_path,
        *("create", "Sea", "--instructions", "Talk like a sailor.", "--model", f"{provider}/{model}"),
        *("--reasoning", level, "--tool", "tides"),
    )
    answers = [wires(format_name).answer("Aye.")] * (1 + (format_name == "ollama"))  # it is asked what it can
    with asked(tmp_path, *answers, format_name=format_name) as (fake, variables):
        ran = toolspan("ask", "How is the sea?", "--preset", "Sea", cwd=tmp_path, **variables)
    assert (ran.code, ran.out) == (0, "Aye.\n"), ran.err
    body = fake.received[-1].body
    assert effort(body) == level
    text = json.dumps(body)
    assert "Talk like a sailor." in text and 'tides"' in text and "weather" not in text
    assert model in text or model in fake.received[-1].target


@pytest.mark.requirement("I12.4.34")
def test_the_command_line_wins_over_the_preset_and_the_preset_over_a_route(tmp_path: Path) -> None:
    route = (
        "responses: [{match: {}, llm: openai, model: of-the-route, prompt: Of the route, reasoning: low}]\n"
    )
    (tmp_path / "toolspan.yaml").write_text(MOCKS + route)
    presets(
        tmp_path,
        *("create", "Sea", "--instructions", "Of the preset.", "--model", "openai-responses/gpt-5.1"),
        *("--reasoning", "high", "--tool", "tides"),
    )
    answer = wires("openai-responses").answer("Aye.")
    more = ("--system", "Of the line.", "--reasoning", "low", "--model", "openai-responses/gpt-5")
    with asked(tmp_path, answer, answer) as (fake, variables):
        toolspan("ask", "Hi?", "--preset", "Sea", cwd=tmp_path, TOOLSPAN_MODEL="openai/other", **variables)
        toolspan("ask", "Hi?", "--preset", "Sea", *more, cwd=tmp_path, **variables)
    of_preset, of_line = (each.body for each in fake.received)
    assert (of_preset["model"], of_preset["reasoning"]["effort"]) == ("gpt-5.1", "high")
    assert "Of the preset." in json.dumps(of_preset) and "Of the route" not in json.dumps(of_preset)
    assert (of_line["model"], of_line["reasoning"]["effort"]) == ("gpt-5", "low")
    assert "Of the line." in json.dumps(of_line) and "Of the preset." not in json.dumps(of_line)


@pytest.mark.requirement("I12.4.35")
def test_web_search_is_the_providers_where_no_server_has_a_tool_of_the_name(tmp_path: Path) -> None:
    presets(tmp_path, "create", "New", "--model", "openai-responses/gpt-5.1", "--tool", "web_search")
    answer = wires("openai-responses").answer("So.")
    own = MOCKS.replace("name: tides", "name: web_search")
    with asked(tmp_path, answer, answer) as (fake, variables):
        assert toolspan("ask", "News?", "--preset", "New", cwd=tmp_path, **variables).code == 0
        (tmp_path / "toolspan.yaml").write_text(own)
        assert toolspan("ask", "News?", "--preset", "New", cwd=tmp_path, **variables).code == 0
    [builtin], [function] = (each.body["tools"] for each in fake.received)
    assert builtin["type"].startswith("web_search")
    assert (function["type"], function["name"]) == ("function", "toolspan__web_search")


@pytest.mark.requirement("I12.4.35")
def test_where_the_provider_has_no_search_a_note_says_so_and_the_calculator_is_there(tmp_path: Path) -> None:
    presets(tmp_path, "create", "Plain")
    ran = toolspan("ask", "What is 17 * 23?", "--preset", "Plain", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "offline has no built-in tool 'web_search' here (it has none): it is left out" in ran.err
    assert "calculator: success true, result 391" in ran.out


@pytest.mark.requirement("I12.4.35")
def test_the_calculator_keeps_its_history_for_the_conversation_across_a_resume(tmp_path: Path) -> None:
    presets(tmp_path, "create", "Sums", "--tool", "calculator")
    for number, more in ((1, ()), (2, ("--resume", "talk.json"))):
        ran = toolspan(
            *("chat", "--preset", "Sums", "--save", "talk.json", *more),
            cwd=tmp_path,
            stdin=f"What is {number} + {number}?\n",
        )
        assert ran.code == 0, ran.err
    [history] = (tmp_path / ".toolspan" / "storage" / "local").glob("*/calculator.json")
    assert [entry["expression"] for entry in json.loads(history.read_text())["history"]] == ["1 + 1", "2 + 2"]


@pytest.mark.requirement("I12.4.35")
def test_the_calculator_needs_no_place_in_a_lock_file(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(MOCKS)
    presets(tmp_path, "create", "Sums", "--tool", "calculator")
    assert toolspan("lock", cwd=tmp_path).code == 0
    ran = toolspan("ask", "What is 6 * 7?", "--preset", "Sums", "--locked", cwd=tmp_path)
    assert "calculator: success true, result 42" in ran.out


@pytest.mark.requirement("I12.4.35")
def test_a_configs_own_calculator_is_the_one_that_is_used(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(MOCKS.replace("name: tides", "name: calculator"))
    presets(tmp_path, "create", "Sums", "--model", "openai-responses/gpt-5.1", "--tool", "calculator")
    with asked(tmp_path, wires("openai-responses").answer("So.")) as (fake, variables):
        assert toolspan("ask", "Hi?", "--preset", "Sums", cwd=tmp_path, **variables).code == 0
    [tool] = fake.received[0].body["tools"]
    assert (tool["name"], tool["description"]) == ("toolspan__calculator", "Tells the tides")


def test_its_calculator_is_that_of_the_example() -> None:
    import yaml

    import toolspan_bridge

    root = Path(__file__).parents[4]
    example = yaml.safe_load((root / "configs" / "calculator.yaml").read_text())
    own = Path(str(toolspan_bridge.__file__)).parent / "presets" / "calculator.yaml"
    assert yaml.safe_load(own.read_text())["tools"] == example["tools"]


@pytest.mark.requirement("I12.4.36")
def test_only_its_tools_are_called_in_a_conversation_that_began_with_others(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(MOCKS)
    presets(tmp_path, "create", "Sea", "--tool", "tides", "--config", "tools.yaml")
    calls = [{"tool": name, "arguments": {}} for name in ("weather", "tides")]
    (tmp_path / "turns.yaml").write_text(json.dumps({"turns": [{"calls": calls}, {"text": "done"}]}))
    options = ("-c", "tools.yaml", "-m", "scripted/turns.yaml", "--json")
    codes: list[Any] = []
    for more in ((), ("--continue", "--preset", "Sea"), ("--continue",)):
        ran = toolspan("chat", *options, *more, cwd=tmp_path, stdin="Go\n")
        assert ran.code == 0, ran.err
        codes.append([use["result"].get("error_code") for use in ran.json["tool_calls"]])
    assert codes == [[None, None], ["tool_not_allowed", None], [None, None]]
