"""Programs in Python that no one here wrote, simonw's llm and LangChain, use the gateway.

Each comes from PyPI into an environment of its own; set TOOLSPAN_NODE_TESTS=1 to let the tests install them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.interop.test_interop import FOLDER
from tests.support.foreign_programs import NODE_TESTS, output_of, python_with
from tests.support.web_app import WebApp, web_app

pytestmark = [pytest.mark.long, pytest.mark.node, pytest.mark.xdist_group("interop")]

LLM = "llm==0.36"
LANGCHAIN = ("langchain==1.5.2", "langchain-openai==1.7.4", "langchain-anthropic==1.7.10")
RUN_S = 120
SCRIPT = """
answers:
  - to: dice and weather
    turns:
      - text: I do both.
        calls:
          - {tool: get_weather, arguments: {city: Paris}}
          - {tool: roll_dice, arguments: {sides: 6}}
        usage: {input_tokens: 5, output_tokens: 2}
      - text: It is warm, and you rolled.
  - to: and the weather
    turns:
      - calls: [{tool: get_weather, arguments: {city: Rome}}]
      - text: Still warm.
  - to: as an object
    turns: [{text: '{"sides": 6}'}]
  - to: as a call
    turns: [{calls: [{tool: Dice, arguments: {sides: 6}}]}]
  - to: and then
    turns: [{text: Then as before.}]
  - turns:
      - calls: [{tool: get_weather, arguments: {city: Paris}}]
      - text: It is warm in Paris.
"""
MODELS = """
- model_id: gateway
  model_name: scripted/script.yaml
  api_base: {url}/v1
  supports_tools: true
  supports_schema: true
- model_id: nobody
  model_name: nobody
  api_base: {url}/v1
"""
FUNCTIONS = '''
def roll_dice(sides: int) -> str:
    """Roll a die with so many sides."""
    return f"rolled {sides - 2}"
'''


@pytest.fixture
def app(tmp_path: Path) -> Iterator[WebApp]:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    with web_app(tmp_path) as running:
        yield running


def _installed(name: str, *packages: str) -> Path:
    if not NODE_TESTS:
        pytest.skip(f"NOT RUN: {name}; set TOOLSPAN_NODE_TESTS=1 to install and run it")
    return python_with(name, *packages)


@dataclass(frozen=True)
class Llm:
    """simonw's llm, with a folder and a log of its own."""

    python: Path
    home: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command line ``llm WORDS``."""
        env = {**os.environ, "LLM_USER_PATH": str(self.home), "PYTHONPATH": ""}
        return subprocess.run(
            [str(self.python), "-m", "llm", *words],
            env=env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )

    def answer(self, *words: str) -> str:
        """What it prints."""
        ran = self.run(*words)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()


@pytest.fixture
def llm(app: WebApp, tmp_path: Path) -> Llm:
    python = _installed("llm", LLM)
    home = tmp_path / "llm"
    home.mkdir()
    (home / "extra-openai-models.yaml").write_text(MODELS.format(url=app.url))
    (home / "functions.py").write_text(FUNCTIONS)
    return Llm(python, home)


@pytest.mark.requirement("I15.3.127")
def test_llm_asks_in_pieces_whole_and_asynchronously_and_continues_a_conversation(llm: Llm) -> None:
    for how in ((), ("--no-stream",), ("--async",)):
        assert llm.answer("-m", "gateway", *how, "The weather?") == "It is warm in Paris."
        assert llm.answer("-c", *how, "And then?") == "Then as before."
    logged = json.loads(llm.answer("logs", "-n", "6", "--json"))
    assert len({entry["conversation_id"] for entry in logged}) == 3


@pytest.mark.requirement("I15.3.127")
@pytest.mark.parametrize("how", [(), ("--no-stream",), ("--async",)])
def test_llms_own_functions_run_there_and_our_tools_here_and_the_conversation_goes_on(
    llm: Llm, how: tuple[str, ...]
) -> None:
    functions = ("--functions", "functions.py", "--td")
    ran = llm.run("-m", "gateway", *how, *functions, "dice and weather")
    assert ran.returncode == 0, ran.stderr
    assert " ".join(ran.stdout.split()) == "I do both. It is warm, and you rolled."
    assert "rolled 4" in ran.stderr
    assert llm.answer("-c", *how, *functions, "And the weather?") == "Still warm."


@pytest.mark.requirement("I15.3.127")
def test_llm_gets_an_answer_of_a_schema_and_tells_an_error_as_the_gateway_does(llm: Llm) -> None:
    assert json.loads(llm.answer("-m", "gateway", "--schema", "sides int", "as an object")) == {"sides": 6}
    ran = llm.run("-m", "nobody", "hi")
    assert ran.returncode != 0
    assert "The model 'nobody' does not exist" in ran.stderr


@pytest.mark.requirement("I15.3.128")
def test_langchains_models_stream_call_parse_and_run_agents_over_both_apis(app: WebApp) -> None:
    python = _installed("langchain", *LANGCHAIN)
    line = [str(python), str(FOLDER / "client_langchain.py"), app.url]
    seen: dict[str, dict[str, Any]] = json.loads(output_of(line, RUN_S).splitlines()[-1])
    assert list(seen) == ["chat", "responses", "stored responses", "messages"]
    for way, found in seen.items():
        assert found["text"] == found["stream"] == "It is warm in Paris.", way
        assert (found["bound"], found["tokens"]) == ([["roll_dice", {"sides": 6}]], 7), way
        assert found["agent"] == [
            ["human", "dice and weather"],
            ["ai", "I do both."],
            ["tool", "rolled 4"],
            ["ai", "It is warm, and you rolled."],
            ["human", "And the weather?"],
            ["ai", "Still warm."],
        ], way
        assert (found["schema"], found["calling"]) == (6, 6), way
        assert found["streamed agent"] == ["I do both.", "rolled 4", "It is warm, and you rolled."], way
        assert found["refused"].endswith("NotFoundError"), way
