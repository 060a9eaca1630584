"""The model that answers when none is named: shown, set, asked for once, never changed silently."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.terminal import Terminal
from toolspan_bridge.providers.resolve import known_names

pytestmark = pytest.mark.requirement("I13.4.9")
TOOLS = (
    "tools: {registry: [{name: greet, description: Greet, implementation: {type: mock, mock_response: Hi}}]}"
)
NOWHERE = {f"{name}_BASE_URL": "http://127.0.0.1:1" for name in ("VLLM", "LLAMACPP", "LMSTUDIO")}


class Local(FakeProvider):
    """An Ollama with two models, which answer with their names."""

    def __init__(self) -> None:
        super().__init__(anything, [])

    def respond(self, request: Received) -> Sent:
        if request.target == "/api/tags":
            return Sent({"models": [{"model": "qwen3:8b"}, {"model": "tiny"}]})
        if request.target == "/api/show":
            return Sent({"capabilities": ["tools"], "model_info": {"x.context_length": 40960}})
        message = {"role": "assistant", "content": f"I am {request.body['model']}"}
        return Sent({"message": message, "done": True, "done_reason": "stop"})


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A folder with a config, and a user who has set nothing."""
    (tmp_path / "toolspan.yaml").write_text(TOOLS)
    variables = {name: "" for name in os.environ if name.endswith("_API_KEY")}
    own = {"XDG_CONFIG_HOME": str(tmp_path / "user"), "TOOLSPAN_MODEL": "", "OLLAMA_HOST": "127.0.0.1:1"}
    with patch.dict(os.environ, {**variables, **NOWHERE, **own}):
        yield tmp_path


def show(home: Path, *arguments: str, **variables: str) -> Ran:
    return toolspan("models", "--default", *arguments, "--json", cwd=home, **variables)


def test_it_is_shown_with_where_it_is_set(home: Path) -> None:
    assert show(home).json == {"default": "offline/keyword", "source": "none is set"}
    file = home / "user" / "toolspan" / "config.toml"
    assert show(home, "ollama/qwen3:8b").json == {"default": "ollama/qwen3:8b", "source": str(file)}
    over = show(home, TOOLSPAN_MODEL="openai/gpt-5").json
    assert over == {"default": "openai/gpt-5", "source": "$TOOLSPAN_MODEL"}
    shown = toolspan("models", "--default", cwd=home)
    assert shown.out == f"ollama/qwen3:8b ({file})\n"


def test_an_unknown_provider_is_refused_and_what_else_is_in_the_file_stays(home: Path) -> None:
    file = home / "user" / "toolspan" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('# mine\ndefault_model = "ollama/a"\n')
    assert show(home, "olama/b").code == 2
    assert show(home, "ollama/b").code == 0
    assert file.read_text() == '# mine\ndefault_model = "ollama/b"\n'
    for broken, why in (
        ("default_model = 3", "no string"),
        ("[", "config.toml"),
        ("x = 1", "unknown key 'x'"),
    ):
        file.write_text(broken)
        for arguments in (("models", "--default", "ollama/c"), ("ask", "Hi?")):
            ran = toolspan(*arguments, cwd=home)
            assert (ran.code, why in ran.err) == (2, True), ran.err
        assert file.read_text() == broken


def test_what_was_set_answers_and_what_is_named_wins(home: Path) -> None:
    with Local() as local:
        assert show(home, "ollama/qwen3:8b").code == 0
        for more, who in (((), "qwen3:8b"), (("-m", "ollama/tiny"), "tiny")):
            asked = toolspan("ask", "Hi?", *more, "--json", cwd=home, OLLAMA_HOST=local.url)
            assert asked.json["content"] == f"I am {who}"
        by_variable = toolspan(
            "ask", "Hi?", "--json", cwd=home, OLLAMA_HOST=local.url, TOOLSPAN_MODEL="ollama/tiny"
        )
        assert by_variable.json["content"] == "I am tiny"


def test_without_a_terminal_it_is_said_which_was_taken_and_why(home: Path) -> None:
    with patch.dict(os.environ, {"OPENAI_API_KEY": "sk-not-a-real-key-0123456789"}):
        asked = toolspan("ask", "Say greet", cwd=home)
    assert asked.code == 0
    assert (
        "no model is set, so offline/keyword answers, which is no language model; openai could" in asked.err
    )
    assert "models --default" in asked.err
    assert "no model is set" not in toolspan("ask", "Say greet", cwd=home).err
    assert not (home / "user").exists()


@pytest.mark.long
def test_at_a_terminal_it_is_asked_for_once_and_kept(home: Path) -> None:
    with Local() as local, patch.dict(os.environ, {"OLLAMA_HOST": local.url}):
        with Terminal("ask", "Hi?", cwd=home) as terminal:
            terminal.until("ollama: ollama/qwen3:8b, ollama/tiny")
            terminal.until("Default model")
            terminal.type("olama/tiny\r")
            terminal.until("no provider 'olama'")
            terminal.type("\x15ollama/tiny\r")
            terminal.until("ollama/tiny is the default model from now on")
            terminal.until("I am tiny")
            assert terminal.ended() == 0
        with Terminal("ask", "Hi?", cwd=home) as terminal:
            terminal.until("I am tiny")
            assert terminal.ended() == 0
            assert "Default model" not in terminal.shown


@pytest.mark.long
@pytest.mark.parametrize(("keys", "code"), [("\x04", 1), ("\x03", 130)])
def test_no_answer_keeps_nothing(home: Path, keys: str, code: int) -> None:
    with (
        Local() as local,
        patch.dict(os.environ, {"OLLAMA_HOST": local.url}),
        Terminal("ask", "Hi?", cwd=home) as terminal,
    ):
        terminal.until("Default model")
        terminal.type(keys)
        assert terminal.ended() in (code, 130)
    assert not (home / "user").exists()


def test_every_key_that_a_provider_asks_for_looks_like_one(home: Path) -> None:
    """So that a provider with a key is never overlooked before the slower look."""
    from toolspan_bridge.errors import AuthError, BridgeError
    from toolspan_bridge.providers import resolve_model
    from toolspan_bridge.providers.usable import may_have_credentials

    for name in known_names():
        try:
            resolve_model(f"{name}/-")
        except AuthError as error:
            words = error.message.replace(",", " ").split()
            variables = [word for word in words if word.isupper() and "_" in word]
            assert any(may_have_credentials({each: "x"}) for each in variables), error.message
        except BridgeError:
            continue
