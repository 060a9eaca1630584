"""The gateway as ``toolspan gateway`` serves it: a process of its own, with a config's tools and routes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.20")]

_SCRIPT = """
answers:
  - to: weather
    turns:
      - calls: [{tool: get_weather, arguments: {city: Paris}}]
      - text: It rains in Paris.
  - turns: [{text: Hello.}]
"""


def _config(script: Path) -> dict[str, Any]:
    weather = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

    def tool(name: str, **more: Any) -> dict[str, Any]:
        answer = {"implementation": {"type": "mock", "mock_response": {"of": name}}, "parameters": weather}
        return {"name": name, "description": f"The tool {name}.", **answer, **more}

    return {
        "version": 1,
        "tools": {"registry": [tool("get_weather"), tool("get_news")]},
        "toolsets": {"news": {"tools": ["get_news"]}},
        "responses": [
            {
                "match": {"service": "desk"},
                "llm": "scripted",
                "model": str(script),
                "prompt": "Be a desk.",
                "tools": {"enabled": True},
            }
        ],
    }


@contextmanager
def _served(folder: Path, *options: str, **more: Any) -> Generator[str]:
    script = folder / "script.yaml"
    script.write_text(_SCRIPT)
    (folder / "toolspan.yaml").write_text(json.dumps({**_config(script), **more}))
    command = [
        sys.executable,
        "-m",
        "toolspan_bridge",
        "gateway",
        "-c",
        "toolspan.yaml",
        "--port",
        "0",
        *options,
    ]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"http://[\d.:]+/v1", line):
                yield found[0]
                return
        raise AssertionError("".join(lines))
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _ask(url: str, model: str, text: str, key: str = "none", **headers: str) -> tuple[str, Any]:
    """The text of the answer, and the headers of the response."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as client:
        raw = client.chat.completions.with_raw_response.create(
            model=model, messages=[{"role": "user", "content": text}], extra_headers=named
        )
        return str(raw.parse().choices[0].message.content), raw.headers


def test_a_request_chooses_the_model_the_route_and_the_tools(tmp_path: Path) -> None:
    model = f"scripted/{tmp_path}/script.yaml"
    with _served(tmp_path) as url:
        assert _ask(url, model, "the weather?")[0] == "It rains in Paris."
        assert _ask(url, "auto/desk", "hi")[0] == "Hello."
        with pytest.raises(openai.BadRequestError, match="is the name of no tool"):
            _ask(url, model, "hi", x_toolspan_tools="nothing_*")
        with pytest.raises(openai.BadRequestError, match="there is no toolset 'x'"):
            _ask(url, model, "hi", x_toolspan_toolset="x")
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            _ask(url, "unheard", "hi")
        assert _ask(url, model, "hi", x_toolspan_toolset="news")[0] == "Hello."
        assert _ask(url, f"{model}:notools", "hi")[0] == "Hello."
        with openai.OpenAI(base_url=url, api_key="none") as client:
            assert {"best", "auto"} <= {listed.id for listed in client.models.list()}


def test_a_model_that_is_not_validated_is_refused_where_the_config_says_so(tmp_path: Path) -> None:
    model = f"scripted/{tmp_path}/script.yaml"
    with _served(tmp_path, validation={"on_unvalidated": "refuse"}) as url:
        with pytest.raises(openai.PermissionDeniedError, match="never tested") as caught:
            _ask(url, model, "hi")
        assert caught.value.code == "unvalidated"
        assert _ask(url, f"{model}:notools", "hi")[0] == "Hello."


def test_without_its_token_nobody_gets_in_and_the_refusal_has_the_clients_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", "a-token-of-the-test-that-is-long-enough")
    model = f"scripted/{tmp_path}/script.yaml"
    with _served(tmp_path, "--token-env", "GATEWAY_TOKEN") as url:
        with pytest.raises(openai.AuthenticationError) as caught:
            _ask(url, model, "hi")
        assert caught.value.type == "authentication_error"
        assert _ask(url, model, "hi", key="a-token-of-the-test-that-is-long-enough")[0] == "Hello."
