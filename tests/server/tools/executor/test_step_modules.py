"""A step is a module: its key of a tool, its place among the others and what it does are all in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.parts.step import STEPS
from toolspan_server.tools.executor.step import StepModule

REPEAT = '''
"""The result is given several times."""

from toolspan_server.parts.step import StepConfig
from toolspan_server.schema.records import key

ORDER = 65


class Config(StepConfig):
    """How many times the result is given."""

    times: int = key("The number.", least=1, most=9)


def build(following, inputs):
    times = Config.of(inputs.tool.config).times

    async def step(arguments, context):
        return [await following(arguments, context)] * times

    return step
'''

PROGRAM = """
import sys
import anyio
import toolspan_server.tools.executor.steps as steps

steps.__path__.append({folder!r})
from toolspan_server.calls.caller import LOCAL
from toolspan_server.config import load_config
from toolspan_server.live.runtime import running

async def main():
    async with running(load_config({config!r})) as executor:
        for name in ("plain", "often"):
            print((await executor.execute(name, None, LOCAL)).result)

anyio.run(main)
print([name for name in {names!r} if "toolspan_server.tools.executor.steps." + name in sys.modules])
"""


@pytest.mark.requirement("I10.2.2", "I3.3.3")
def test_a_step_in_one_module_brings_its_key_and_others_stay_unimported(tmp_path: Path) -> None:
    (tmp_path / "repeat.py").write_text(REPEAT)
    mock = {"description": "a", "implementation": {"type": "mock", "mock_response": 1}}
    tools = [{"name": "plain", **mock}, {"name": "often", "repeat": {"times": 3}, **mock}]
    config = tmp_path / "toolspan.json"
    config.write_text(json.dumps({"tools": {"registry": tools}}))
    names = ["repeat", "cache", "rate_limit", "approval", "output_schema", "validate"]
    program = PROGRAM.format(folder=str(tmp_path), config=str(config), names=names)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["1", "[1, 1, 1]", "['repeat', 'validate']"]


@pytest.mark.requirement("I10.2.2")
def test_every_step_has_a_place_of_its_own() -> None:
    places: dict[int, list[str]] = {}
    for name in STEPS.names:
        places.setdefault(cast("StepModule", STEPS.module(name)).ORDER, []).append(name)
    assert [names for names in places.values() if len(names) > 1] == []
    order = [names[0] for _, names in sorted(places.items())]
    assert order.index("approval") < order.index("timeout") < order.index("cache") < order.index("rate_limit")
