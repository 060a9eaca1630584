"""A llama.cpp server that runs on this machine: it is listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typing_extensions import override

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Received, Sent, anything

pytestmark = pytest.mark.requirement("I11.4.3")

NAME = "qwen2.5-coder-1.5b.gguf"
LISTED = ("models", "--provider", "llamacpp", "--provider", "offline", "--json")


class LlamaCpp(FakeProvider):
    def __init__(self) -> None:
        super().__init__(anything, [])

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        return Sent({"object": "list", "data": [{"id": NAME, "object": "model"}]})


def test_a_running_server_is_among_the_models_and_none_is_where_it_does_not_run(tmp_path: Path) -> None:
    with LlamaCpp() as server:
        there = {"LLAMACPP_BASE_URL": f"{server.url}/v1"}
        ran = toolspan(*LISTED, cwd=tmp_path, **there)
    assert (ran.code, ran.err) == (0, "")
    assert f"llamacpp/{NAME}" in [model["id"] for model in ran.json["models"]]
    gone = toolspan(*LISTED, cwd=tmp_path, **there)
    assert f"llamacpp/{NAME}" not in [model["id"] for model in gone.json["models"]]
    assert "llama-server" in gone.json["unlisted"][0]["message"]
