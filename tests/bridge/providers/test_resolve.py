"""From ``provider/model`` to a provider."""

from __future__ import annotations

import subprocess
import sys
from contextlib import aclosing

import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge.errors import AuthError, UnknownModelError, UsageError
from toolspan_bridge.formats.prompt.renderings import DEFAULT as RENDERING
from toolspan_bridge.providers import DEFAULT_MODEL, provider_names, resolve_model
from toolspan_bridge.providers.resolve import bare_model, names_mode, split_model, with_choice


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("openai/gpt-5", ("openai", "gpt-5")),
        ("openai:gpt-5", ("openai", "gpt-5")),
        ("OpenAI/GPT-5", ("openai", "GPT-5")),
        ("openrouter/meta-llama/llama-3:free", ("openrouter", "meta-llama/llama-3:free")),
        ("openrouter:meta-llama/llama-3:free", ("openrouter", "meta-llama/llama-3:free")),
        ("ollama/llama3.2:3b", ("ollama", "llama3.2:3b")),
        ("ollama:llama3.2:3b", ("ollama", "llama3.2:3b")),
        ("bedrock/us.anthropic.claude-x-v1:0", ("bedrock", "us.anthropic.claude-x-v1:0")),
        (
            "bedrock/arn:aws:bedrock:us-east-1:1:inference-profile/x",
            ("bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/x"),
        ),
        ("scripted/runs/one.yaml", ("scripted", "runs/one.yaml")),
    ],
)
def test_a_model_is_split_at_the_first_sign_after_a_known_provider(text: str, pair: tuple[str, str]) -> None:
    assert split_model(text) == pair


def test_an_unknown_provider_gets_the_nearest_name_or_all_of_them() -> None:
    with pytest.raises(UsageError, match="did you mean 'openai'"):
        resolve_model("opnai/gpt-5")
    with pytest.raises(UsageError, match=r"provider/model \(known: anthropic, "):
        resolve_model("zzz")


@pytest.mark.parametrize("text", ["openai", "openai/", "openai: "])
def test_a_provider_without_a_model_is_told_how_to_write_it(text: str) -> None:
    with pytest.raises(UsageError, match="write openai/MODEL"):
        resolve_model(text)


def test_the_names_are_sorted_and_each_of_them_resolves_or_says_what_it_lacks() -> None:
    names = provider_names()
    assert list(names) == sorted(set(names))
    for name in names:
        try:
            provider, model = resolve_model(f"{name}/some-model")
        except (AuthError, UsageError, UnknownModelError) as error:
            assert error.exit_code in (2, 3)
        else:
            assert (provider.name, model) == (name, "some-model")


@pytest.mark.anyio
async def test_the_default_model_needs_nothing() -> None:
    provider, model = resolve_model(DEFAULT_MODEL)
    async with aclosing(provider):
        assert (provider.name, model) == ("offline", "keyword")


def test_importing_the_providers_imports_no_http_library() -> None:
    code = (
        "import sys, toolspan_bridge.providers as p; p.provider_names(); "
        "print([m for m in ('httpx2', 'anyio', 'yaml', 'botocore') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.requirement("I11.4.2")
def test_a_wording_of_the_prompt_is_chosen_before_the_provider() -> None:
    assert split_model("prompt.json-tools:ollama/gemma3") == ("prompt.json-tools:ollama", "gemma3")
    assert split_model("Prompt.JSON-tools:ollama/gemma3") == ("prompt.json-tools:ollama", "gemma3")
    provider, model = resolve_model("prompt.json-tools:ollama/gemma3")
    assert (provider.name, provider.format_name, model) == ("ollama", "prompt.json-tools:ollama", "gemma3")


@pytest.mark.requirement("I11.4.4")
@pytest.mark.parametrize(
    ("written", "worded"),
    [
        ("PROMPT:Ollama:Gemma3", "prompt.json-tools:ollama/Gemma3"),
        ("prompt.rules-first:ollama/Gemma3", "prompt.rules-first:ollama/Gemma3"),
        ("prompt:ollama/other", "prompt:ollama/other"),
        ("ollama/Gemma3", "native.cut:ollama/Gemma3"),
        ("Native:Ollama:Gemma3", "native.cut:ollama/Gemma3"),
        ("native.calls-only:ollama/Gemma3", "native.calls-only:ollama/Gemma3"),
        ("ollama/other", "ollama/other"),
        ("native:ollama/other", "native:ollama/other"),
    ],
)
def test_what_is_chosen_is_that_of_a_mode_without_a_name(written: str, worded: str) -> None:
    chosen = {("ollama/Gemma3", "prompt"): "json-tools", ("ollama/Gemma3", "native"): "cut"}
    assert with_choice(written, (), lambda model, mode: chosen.get((model, mode), "")) == worded


@pytest.mark.requirement("I25.4.9")
def test_a_rendering_of_native_calls_is_chosen_before_the_provider() -> None:
    assert split_model("Native.Text-Only:ollama/gemma3") == ("native.text-only:ollama", "gemma3")
    assert split_model("native:ollama/gemma3") == ("ollama", "gemma3")
    assert bare_model("native.cut:ollama/gemma3") == "ollama/gemma3"
    assert names_mode("native.cut:ollama/gemma3") and not names_mode("ollama/gemma3")
    provider, model = resolve_model("native.cut:ollama/gemma3")
    assert (provider.name, provider.format_name, model) == ("ollama", "native.cut:ollama", "gemma3")
    assert resolve_model(f"native.{RENDERING}:ollama/gemma3")[0].format_name == "ollama", "the usual one"


@pytest.mark.requirement("I25.4.9")
@pytest.mark.parametrize("model", ["offline/keyword", "scripted/x.yaml"])
def test_a_model_without_a_wire_takes_no_rendering(model: str) -> None:
    with pytest.raises(UsageError, match="takes no rendering"):
        resolve_model(f"native.cut:{model}")


@pytest.mark.requirement("I25.4.9")
def test_a_rendering_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"'sung' is not a rendering of native calls .*calls-only"):
        resolve_model("native.sung:ollama/gemma3")


@pytest.mark.requirement("I11.4.2")
def test_a_wording_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"'sung' is not a wording of the prompt .*tools-first"):
        resolve_model("prompt.sung:ollama/gemma3")
