"""The asker puts queries to models with a toolbox's tools, each provider connected once and with consent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import yaml

from toolspan_bridge import (
    Asker,
    Expect,
    Scenario,
    Store,
    Suite,
    Toolbox,
    UsageError,
    servers_of,
    validate,
)
from toolspan_server import Config, load_config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I10.5.2")]

CONFIG = {
    "name": "sums",
    "tools": {
        "max_iterations": 1,
        "registry": [
            {
                "name": "calculate",
                "description": "Evaluate a mathematical expression",
                "parameters": {
                    "type": "object",
                    "properties": {"expression": {"type": "string", "description": "Math to evaluate"}},
                    "required": ["expression"],
                },
                "implementation": {"type": "builtin", "handler": "math_eval"},
            }
        ],
    },
    "providers": {"elsewhere": {"format": "openai", "base_url": "https://models.example/v1", "api_key": "k"}},
}
CALL = {"calls": [{"tool": "calculate", "arguments": {"expression": "6*7"}}]}


def asking(query: str) -> Scenario:
    """A scenario that any answer is right for."""
    return Scenario(query=query, expect=Expect(max_iterations=99))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    path = tmp_path / "toolspan.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return load_config(path)


@pytest.fixture
async def toolbox(config: Config) -> AsyncGenerator[Toolbox]:
    async with Toolbox.connect(servers_of(config)) as toolbox:
        yield toolbox


async def test_models_are_validated_with_the_tools_of_a_config(
    config: Config, toolbox: Toolbox, tmp_path: Path
) -> None:
    suite = Suite.model_validate(
        {
            "name": "sums",
            "scenarios": [
                {"query": "What is 12 times 7?", "expect": {"calls": [{"tool": "calculate"}], "answer": "84"}}
            ],
        }
    )
    with Store.open(tmp_path / "validation.sqlite3") as store:
        async with Asker(config, toolbox) as asker:
            report = await validate(["offline/keyword"], suite, asker.ask, store)
        assert report.passed
        assert [trial.success for trial in store.trials("offline/keyword")] == [True]


async def test_a_model_is_connected_once_and_asked_at_most_as_often_as_the_config_says(
    config: Config, toolbox: Toolbox, tmp_path: Path
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(yaml.safe_dump({"turns": [CALL, {"text": "42."}, {"text": "You are welcome."}]}))
    model = f"scripted/{script}"
    async with Asker(config, toolbox) as asker:
        first = (await asker.ask(model, asking("What is 6 times 7?"))).last
        second = (await asker.ask(model, asking("Thanks!"))).last
    assert [dict(call.result)["success"] for call in first.tool_calls] == [True]
    assert (first.content, first.max_iterations_reached) == ("42.", True)
    assert (second.content, second.tool_calls) == ("You are welcome.", ())


async def test_a_model_that_nobody_offers_is_an_error_of_the_call(config: Config, toolbox: Toolbox) -> None:
    async with Asker(config, toolbox) as asker:
        with pytest.raises(UsageError, match="no provider 'nowhere'"):
            await asker.ask("nowhere/model", asking("Anybody?"))
