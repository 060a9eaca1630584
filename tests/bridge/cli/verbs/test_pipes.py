"""``ask`` in pipes: what stdin, files and the options of output do."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, anything
from toolspan_bridge.cli.event_lines import line_schema

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
PDF = b"%PDF-1.7\n" + bytes(16)
WAV = b"RIFF\x10\x00\x00\x00WAVEfmt " + bytes(16)
MODEL = "openai/gpt-4.1"

CONFIG = """
tools:
  registry:
    - name: add
      description: Add numbers
      approval: {}
      implementation: {type: mock, mock_response: {sum: 3}}
    - name: look
      description: Look something up
      implementation: {type: mock, mock_response: {found: true}}
"""


def sent(*arguments: str, cwd: Path, stdin: str = "", model: str = MODEL) -> dict[str, Any]:
    """What ``ask`` would send, as ``--dry-run`` shows it."""
    ran = toolspan("ask", *arguments, "--dry-run", "--json", "-m", model, cwd=cwd, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran.json


def script(folder: Path, *turns: dict[str, Any]) -> str:
    (folder / "turns.yaml").write_text(json.dumps({"turns": turns}))
    return "scripted/turns.yaml"


def lines(ran: Ran) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in ran.out.splitlines()]
    schema = jsonschema_rs.validator_for(line_schema())
    for line in found:
        schema.validate(line)
    return found


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without a config, and no provider's key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


@pytest.mark.requirement("I13.3.1")
def test_text_that_is_piped_in_goes_with_the_question_and_is_told_apart(keyless: Path) -> None:
    request = sent("Summarise this", cwd=keyless, stdin="line one\nline two\n")
    assert request["question"] == "Summarise this"
    content = [part["text"] for part in request["request"]["input"][0]["content"]]
    assert content == ["Summarise this", "[resource stdin]\nline one\nline two\n"]


@pytest.mark.requirement("I13.3.1")
@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_without_a_question_stdin_is_the_question(arguments: tuple[str, ...], keyless: Path) -> None:
    request = sent(*arguments, cwd=keyless, stdin="What is MCP?\n")
    assert request["question"] == "What is MCP?" and request["files"] == []


@pytest.mark.requirement("I13.3.1")
@pytest.mark.parametrize("arguments", [(), ("-",), (" ",)])
def test_no_question_and_nothing_on_stdin_is_an_error_that_says_how_to_ask(
    arguments: tuple[str, ...], keyless: Path
) -> None:
    ran = toolspan("ask", *arguments, cwd=keyless)
    assert ran.code == 2 and 'toolspan ask "…"' in ran.err and "| toolspan ask" in ran.err


@pytest.mark.requirement("I13.3.1")
def test_a_closed_stdin_is_an_empty_one(keyless: Path) -> None:
    model = script(keyless, {"text": "Yes."})
    command = f'{sys.executable} -m toolspan_bridge ask "Is it?" -q -m {model} <&-'
    ran = subprocess.run(
        ["sh", "-c", command], cwd=keyless, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Yes.\n", "")


@pytest.mark.long
@pytest.mark.requirement("I13.3.7")
def test_output_whose_reader_leaves_ends_without_a_word(keyless: Path) -> None:
    model = script(keyless, {"text": "word " * 100_000}, {"text": "No more."})
    command = f"{sys.executable} -m toolspan_bridge ask ? --jsonl -m {model} </dev/null | head -1"
    ran = subprocess.run(
        ["sh", "-c", command], cwd=keyless, capture_output=True, text=True, timeout=120, check=False
    )
    assert json.loads(ran.stdout)["type"] == "iteration_started"
    assert [line for line in ran.stderr.splitlines() if "there are no tools" not in line] == []


@pytest.mark.requirement("I13.3.2")
def test_stdin_that_is_no_text_is_refused_before_anything_is_asked(keyless: Path) -> None:
    (keyless / "it.png").write_bytes(PNG)
    ran = toolspan("ask", "What?", cwd=keyless, stdin="\0\x01")
    assert ran.code == 2 and "stdin is no text" in ran.err and "--file -" in ran.err


@pytest.mark.requirement("I13.3.2")
def test_stdin_without_an_end_is_refused_at_its_limit(keyless: Path) -> None:
    ran = toolspan("ask", "What?", cwd=keyless, stdin="y\n" * 600_000)
    assert ran.code == 2 and "more than 1,048,576 bytes" in ran.err


@pytest.mark.requirement("I13.3.3")
def test_quiet_prints_the_answer_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    model = script(tmp_path, {"calls": [{"tool": "look", "arguments": {}}]}, {"text": "Found."})
    ran = toolspan("ask", "?", "-q", "-m", model, "--no-tool", "nothing*", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, "Found.\n", "")


@pytest.mark.requirement("I13.3.3")
def test_quiet_says_why_the_exit_code_is_not_0(keyless: Path) -> None:
    model = script(keyless, {"text": "Half of", "stop": "length"})
    ran = toolspan("ask", "?", "-q", "-m", model, cwd=keyless)
    assert ran.code == 1 and ran.out == "Half of\n" and len(ran.err.splitlines()) == 1
    ran = toolspan("ask", "?", "-q", "-m", "nobody/x", cwd=keyless)
    assert ran.code == 2 and ran.out == "" and "nobody" in ran.err


@pytest.mark.requirement("I13.3.4")
def test_jsonl_prints_each_event_within_the_schema_and_the_answer_last(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    calls: Any = [{"tool": "add", "arguments": {"a": 1}}, {"tool": "look", "arguments": {}}]
    model = script(tmp_path, {"text": "Let me see.", "calls": calls}, {"text": "Three."})
    ran = toolspan("ask", "1+2?", "--jsonl", "-m", model, cwd=tmp_path)
    found = lines(ran)
    types = [line["type"] for line in found]
    assert types[0] == "iteration_started" and types[-1] == "end"
    assert types.count("tool_call_started") == types.count("tool_call_finished") == 2
    assert {"tool_approval_request", "tool_approval_answer", "text_delta", "usage_reported"} <= set(types)
    outcomes = {line["tool_name"]: line for line in found if line["type"] == "tool_call_finished"}
    assert outcomes["add"]["result"]["error_code"] == "denied"
    assert outcomes["look"]["result"]["result"] == {"found": True}
    assert found[-1]["content"] == "Three." and found[-1]["conversation"] and "cost" in found[-1]


@pytest.mark.requirement("I13.3.4")
def test_jsonl_goes_with_a_schema_and_with_limits(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "number.json").write_text('{"type": "integer"}')
    model = script(tmp_path, {"text": "many"}, {"text": "12"})
    ran = toolspan("ask", "?", "--jsonl", "--schema", "number.json", "-m", model, cwd=tmp_path)
    assert ran.code == 0 and lines(ran)[-1]["value"] == 12
    look: dict[str, Any] = {"calls": [{"tool": "look", "arguments": {}}]}
    model = script(tmp_path, look, look, {"text": "Enough."})
    ran = toolspan("ask", "?", "--jsonl", "--max-calls", "1", "-m", model, cwd=tmp_path)
    assert ran.code == 9 and lines(ran)[-1]["limit"] == "question.calls"


@pytest.mark.requirement("I13.3.4")
def test_an_error_with_jsonl_is_a_line_of_json_on_stderr(keyless: Path) -> None:
    ran = toolspan("ask", "?", "--jsonl", "-m", MODEL, cwd=keyless)
    assert ran.code == 3 and ran.out == "" and "OPENAI_API_KEY" in ran.error["message"]
    ran = toolspan("ask", "?", "--jsonl", "--quiet", cwd=keyless)
    assert ran.code == 2 and "write one" in ran.error["message"]


@pytest.mark.requirement("I13.3.4")
def test_the_published_schema_of_lines_is_fresh() -> None:
    published = Path(__file__).parents[4] / "docs/reference/events.schema.json"
    assert json.loads(published.read_bytes()) == line_schema()


@pytest.mark.requirement("I13.3.5")
def test_files_are_told_by_their_first_bytes(keyless: Path) -> None:
    for name, data in {"a": PNG, "b": PDF, "notes.md": b"# Notes\n"}.items():
        (keyless / name).write_bytes(data)
    given = ("--file", "a", "--file", "b", "--file", "notes.md")
    content = sent("What is it?", *given, cwd=keyless)["request"]["input"][0]["content"]
    assert [part["type"] for part in content] == ["input_text", "input_image", "input_file", "input_text"]
    assert content[1]["image_url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert content[3]["text"] == "[resource notes.md]\n# Notes\n"


@pytest.mark.requirement("I13.3.5")
def test_a_file_can_be_piped_in(keyless: Path) -> None:
    request = sent("What is it?", "--file", "-", cwd=keyless, stdin="a,b\n")
    assert request["files"] == ["stdin, text/plain, 4 bytes"]
    ran = toolspan("ask", "--file", "-", cwd=keyless, stdin="a,b\n")
    assert ran.code == 2 and "write the question itself" in ran.err


@pytest.mark.requirement("I13.3.5")
@pytest.mark.parametrize(
    ("model", "data", "takes"),
    [
        ("openai/gpt-audio", WAV, True),
        (MODEL, WAV, False),
        ("gemini/gemini-2.5-pro", WAV, True),
        ("anthropic/claude-sonnet-4-5", PDF, True),
        ("anthropic/claude-sonnet-4-5", WAV, False),
        ("groq/llama-3.3-70b", PDF, False),
        ("offline/keyword", PNG, False),
    ],
)
def test_a_file_that_the_wire_does_not_take_is_an_error_before_anything_is_sent(
    model: str, data: bytes, takes: bool, keyless: Path
) -> None:
    (keyless / "it").write_bytes(data)
    ran = toolspan("ask", "?", "--file", "it", "-m", model, "--dry-run", "--json", cwd=keyless)
    assert ran.code == (0 if takes else 2), ran.err
    if takes:
        assert base64.b64encode(data).decode() in ran.out
    else:
        assert model in ran.error["message"] and "takes no" in ran.error["message"]


@pytest.mark.requirement("I13.3.5")
@pytest.mark.parametrize(
    ("data", "said"), [(b"\0\1\2", "is no image"), (b"", "is empty"), (None, "cannot be read")]
)
def test_what_no_model_takes_is_refused(data: bytes | None, said: str, keyless: Path) -> None:
    if data is not None:
        (keyless / "it").write_bytes(data)
    ran = toolspan("ask", "?", "--file", "it", cwd=keyless)
    assert ran.code == 2 and said in ran.err


@pytest.mark.requirement("I13.3.6")
def test_a_dry_run_sends_and_saves_nothing_and_needs_no_key(keyless: Path) -> None:
    (keyless / "toolspan.yaml").write_text(CONFIG)
    with FakeProvider(anything, []) as fake:
        ran = toolspan("ask", "1+2?", "--dry-run", "-m", MODEL, cwd=keyless, OPENAI_BASE_URL=f"{fake.url}/v1")
        assert not fake.received
    assert ran.code == 0
    assert "question:  1+2?" in ran.out and "toolspan__add, toolspan__look" in ran.out
    assert '"model": "gpt-4.1"' in ran.out
    assert "OPENAI_API_KEY is not set" in ran.err and "nothing was sent" in ran.err
    assert toolspan("conversations", "list", "--json", cwd=keyless).json["conversations"] == []


@pytest.mark.requirement("I13.3.6")
def test_a_dry_run_of_a_conversation_shows_what_was_said_before(keyless: Path) -> None:
    model = script(keyless, {"text": "Blue."})
    assert toolspan("ask", "My colour?", "-m", model, cwd=keyless).code == 0
    request = sent("And now?", "--continue", cwd=keyless)["request"]
    assert [item.get("content") for item in request["input"]][::2] == ["My colour?", "And now?"]


@pytest.mark.requirement("I13.3.6")
def test_a_dry_run_asks_no_local_server_about_its_model(keyless: Path) -> None:
    request = sent("?", cwd=keyless, model="ollama/llama3.2")
    assert request["format"] == "ollama" and request["request"]["messages"][-1]["content"] == "?"


@pytest.mark.requirement("I13.3.9")
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["aks", "?"], "'ask'"),
        (["tools", "lst"], "'list'"),
        (["conversations", "shwo"], "'show'"),
        (["ask", "?", "--modle", "x"], "'--model'"),
        (["serve", "--confg", "x"], "'--config'"),
    ],
)
def test_what_is_misspelt_is_told_with_what_was_meant(
    arguments: list[str], meant: str, tmp_path: Path
) -> None:
    ran = toolspan(*arguments, cwd=tmp_path)
    assert ran.code == 2 and "did you mean" in ran.err.lower() and meant in ran.err


@pytest.mark.requirement("I13.3.8")
@pytest.mark.skipif(sys.platform == "win32", reason="files are no programs there")
def test_a_file_of_a_prompt_is_a_program(keyless: Path) -> None:
    start = f"{sys.executable} -m toolspan_bridge ask --dry-run --json --model {MODEL} --prompt"
    program = keyless / "summarise"
    program.write_text(f"#!/usr/bin/env -S {start}\nSummarise it.\n")
    program.chmod(0o755)
    done = subprocess.run(
        [program, "In German."],
        cwd=keyless,
        input="some text",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    request = json.loads(done.stdout)
    assert request["question"] == "Summarise it.\n\nIn German."
    assert request["files"] == ["stdin, text/plain, 9 bytes"]


@pytest.mark.requirement("I13.3.8")
@pytest.mark.parametrize("content", [None, "#!/usr/bin/env toolspan\n", "\0"])
def test_a_prompt_that_is_no_text_is_refused(content: str | None, keyless: Path) -> None:
    if content is not None:
        (keyless / "prompt").write_text(content)
    ran = toolspan("ask", "--prompt", "prompt", cwd=keyless)
    assert ran.code == 2 and "prompt" in ran.err
