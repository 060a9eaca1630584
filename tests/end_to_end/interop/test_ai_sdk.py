"""Vercel's AI SDK, which no one here wrote, uses the gateway by its providers for OpenAI and Anthropic."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.interop.test_python_clients import RUN_S, SCRIPT
from tests.support.foreign_programs import CACHE, NODE_TESTS, output_of
from tests.support.web_app import web_app

pytestmark = [pytest.mark.long, pytest.mark.node]

PACKAGES = (
    "ai@6.0.326",
    "@ai-sdk/openai@3.0.141",
    "@ai-sdk/openai-compatible@2.0.92",
    "@ai-sdk/anthropic@3.0.140",
    "zod@4.6.7",
)
PROGRAM = Path(__file__).parent / "ai_sdk.mjs"


def _program() -> list[str]:
    """The command of the script, with what it needs installed."""
    if not NODE_TESTS:
        pytest.skip("NOT RUN: Vercel's AI SDK; set TOOLSPAN_NODE_TESTS=1 to install and run it")
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("NOT RUN: Vercel's AI SDK; Node.js with npm is not installed")
    folder = CACHE / "ai-sdk"
    if not (folder / "node_modules" / "zod").exists():
        folder.mkdir(parents=True, exist_ok=True)
        output_of([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES])
    return [node, str(shutil.copy(PROGRAM, folder))]


@pytest.mark.requirement("I15.3.90")
@pytest.mark.requirement("I15.3.129")
def test_each_provider_of_the_sdk_is_answered_streamed_to_and_gets_its_own_calls_back(tmp_path: Path) -> None:
    program = _program()
    (tmp_path / "script.yaml").write_text(SCRIPT)
    with web_app(tmp_path) as app:
        seen = json.loads(output_of([*program, f"http://127.0.0.1:{app.port}"], RUN_S).splitlines()[-1])
    assert list(seen) == ["compatible", "chat", "responses", "messages"]
    for provider, found in seen.items():
        assert found["text"].startswith("get_weather: "), provider
        assert found["stream"] == found["text"], provider
        assert found["called"] == [["roll_dice"], []], provider
        assert found["result"].startswith('roll_dice: {"rolled":4}'), provider
        steps = [["I do both.", "tool-calls", [4]], ["It is warm, and you rolled.", "stop", []]]
        assert found["steps"] == {"whole": steps, "streamed": steps, "next": "Then as before."}, provider
        assert found["object"] == [{"sides": 6}] * 2, provider
        assert found["refused"] == [True, 404, False, True], provider
