"""``toolspan models``, and the config's own providers on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from toolspan_bridge.validation import UNTESTED

pytestmark = pytest.mark.requirement("I5.3.1")

KEY = "house-key-0123456789"
HELD = {"HOUSE_KEY": KEY, "TOOLSPAN_CONFIG": "toolspan.yaml"}
TOOLS = """
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      implementation: {type: mock, mock_response: {result: 84}}
"""


class House(FakeProvider):
    """An Ollama with one model that sees and one of a small context that does not."""

    def __init__(self) -> None:
        super().__init__(anything, [])

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if request.target == "/api/tags":
            return Sent({"models": [{"model": "qwen3:8b"}, {"model": "tiny"}]})
        if request.target == "/api/show":
            big = request.body["model"] == "qwen3:8b"
            can, context = (["tools", "vision"], 40960) if big else (["completion"], 512)
            return Sent({"capabilities": can, "model_info": {"x.context_length": context}})
        return Sent({"message": {"role": "assistant", "content": "84"}, "done": True, "done_reason": "stop"})


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with House() as fake:
        own = f"{{base_url: '{fake.url}', format: ollama, api_key: '${{HOUSE_KEY}}'}}"
        (tmp_path / "toolspan.yaml").write_text(f"name: sums\nproviders: {{house: {own}}}\n{TOOLS}")
        yield fake


def test_the_models_of_a_provider_are_listed_with_what_it_tells_of_them(house: House, tmp_path: Path) -> None:
    ran = toolspan("models", "--provider", "house", "--json", cwd=tmp_path, **HELD)
    assert (ran.code, ran.err) == (0, "")
    big, tiny = ran.json["models"]
    assert big == {
        "id": "house/qwen3:8b",
        "provider": "house",
        "model": "qwen3:8b",
        "context": 40960,
        "tools": True,
        "vision": True,
        "thinking": False,
        "usd_per_million_tokens": None,
        "validated": None,
        "badge": UNTESTED.as_dict(),
        "prompt": None,
        "modes": [],
        "better_mode": None,
    }
    assert (tiny["tools"], tiny["context"]) == (False, 512)
    assert house.received[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_table_has_the_badge_that_validation_gave(house: House, tmp_path: Path) -> None:
    environment = HELD
    suite = tmp_path / "suite.yaml"
    suite.write_text("name: one\nscenarios:\n  - {query: 12 times 7?, expect: {answer: '84'}}\n")
    validated = toolspan(
        "validate", "-m", "house:qwen3:8b", "--suite", str(suite), cwd=tmp_path, **environment
    )
    assert validated.code == 0, validated.err
    ran = toolspan("models", "-p", "House", cwd=tmp_path, **environment)
    line = next(line for line in ran.out.splitlines() if line.startswith("house/qwen3:8b"))
    badge = "🔧⚠️ provisional (n=1, 100 %, 20–100 %)"
    assert line.split() == ["house/qwen3:8b", "40,960", "yes", "yes", "no", *badge.split()]
    [model] = [
        model
        for model in toolspan("models", "-p", "House", "--json", cwd=tmp_path, **environment).json["models"]
        if model["id"] == "house/qwen3:8b"
    ]
    assert (model["validated"], model["badge"]["signed"]) == (False, badge)
    assert badge in toolspan("report", cwd=tmp_path, **environment).out, "report says the same"


def test_who_gives_no_list_is_said_in_a_line_and_costs_the_exit_code_only_when_named(
    house: House, tmp_path: Path
) -> None:
    local = {f"{name}_BASE_URL": "http://127.0.0.1:1" for name in ("VLLM", "LLAMACPP", "LMSTUDIO")}
    local |= {"OLLAMA_HOST": "127.0.0.1:1", **HELD}
    named = toolspan("models", "-p", "groq", "-p", "house", "--json", cwd=tmp_path, GROQ_API_KEY="", **local)
    assert named.code == 3
    (groq,) = named.json["unlisted"]
    assert (groq["provider"], groq["code"]) == ("groq", "auth")
    assert len(named.json["models"]) == 2
    assert toolspan("models", "-p", "vllm", cwd=tmp_path, **local).code == 4


def test_every_provider_is_asked_when_none_is_named(house: House, tmp_path: Path) -> None:
    local = {f"{name}_BASE_URL": "http://127.0.0.1:1" for name in ("VLLM", "LLAMACPP", "LMSTUDIO")}
    ran = toolspan("models", cwd=tmp_path, OLLAMA_HOST="127.0.0.1:1", **HELD, **local)
    assert ran.code == 0
    assert "offline/keyword" in ran.out and "house/tiny" in ran.out
    assert "toolspan: vllm: cannot be reached at http://127.0.0.1:1" in ran.err
    assert "openai, openai-chat, openai-responses (OPENAI_API_KEY)" in ran.err


def test_an_unknown_provider_is_told_with_those_that_there_are(house: House, tmp_path: Path) -> None:
    ran = toolspan("models", "-p", "hose", cwd=tmp_path, **HELD)
    assert ran.code == 2
    assert "no provider 'hose' (did you mean 'house'?)" in ran.err


def test_ask_and_export_know_the_configs_providers(house: House, tmp_path: Path) -> None:
    asked = toolspan("ask", "12 times 7?", "-m", "house/qwen3:8b", "--trim", "--json", cwd=tmp_path, **HELD)
    assert (asked.code, asked.json["content"], asked.json["provider"]) == (0, "84", "house")
    shown = toolspan("export", "--request", "Hi.", "--curl", "-m", "house/qwen3:8b", cwd=tmp_path, **HELD)
    assert shown.code == 0, shown.err
    assert "HOUSE_API_KEY" in shown.out and KEY not in shown.out


def test_check_refuses_a_provider_with_a_known_name(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(f"providers: {{openai: {{base_url: 'http://x'}}}}\n{TOOLS}")
    ran = toolspan("check", cwd=tmp_path)
    assert ran.code == 2
    assert "$.providers.openai" in ran.err and "replaces: true" in ran.err


def test_a_model_without_tools_is_told_of_them_in_the_prompt(house: House, tmp_path: Path) -> None:
    refused = toolspan("ask", "Hi.", "-m", "house/tiny", "--json", cwd=tmp_path, **HELD)
    assert refused.code == 1
    assert "--model prompt:house/tiny" in refused.error["message"]
    asked = toolspan("ask", "Hi.", "-m", "prompt:house/tiny", "--json", cwd=tmp_path, **HELD)
    assert (asked.code, asked.json["content"]) == (0, "84"), asked.err
