"""The config's own tools, through our own server as a subprocess."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from tests.support.mcp_peers import call
from tests.support.waiting import BOUND_S
from toolspan_bridge.toolbox import Toolbox, servers_of
from toolspan_server.config import load_config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.6.1", "I2.6.4")]

OTHERS = {"numbers": [1, 2], "wrapped": {"result": 4}, "text": "hello"}
NUMBERED = {"type": "object", "properties": {"n": {"type": "integer"}}}
ERROR = ("success", "error", "error_code", "user_action")
LOCATION = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}


def mock(name: str, response: object, **more: object) -> dict[str, object]:
    implementation = {"type": "mock", "mock_response": response}
    return {"name": name, "description": f"The tool {name}.", "implementation": implementation, **more}


async def test_own_tools_answer_with_exactly_the_tool_result_object(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.json"
    registry = [
        mock("weather", {"temperature": "${THE_DEGREES}"}, parameters=LOCATION),
        mock("strict", {"n": 1}, strict=True, output_schema=NUMBERED),
        *(mock(name, response) for name, response in OTHERS.items()),
    ]
    path.write_text(json.dumps({"version": 1, "name": "mine", "tools": {"registry": registry}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_DEGREES", "22")
        servers = servers_of(load_config(path), directory=tmp_path)
        with anyio.fail_after(BOUND_S):
            async with Toolbox.connect(servers) as toolbox:
                assert (toolbox.failures, toolbox.warnings) == ((), ())
                assert {tool.server for tool in toolbox.tools} == {"mine"}
                strict = {tool.name: tool.output_schema for tool in toolbox.tools if tool.strict}
                assert strict == {"strict": NUMBERED}
                weather = (await call(toolbox, "weather", location="Paris")).result
                missing = (await call(toolbox, "weather")).result
                others = [(await call(toolbox, name)).result["result"] for name in OTHERS]
    assert list(weather) == ["success", "result", "tool_name", "execution_time_ms"]
    assert (weather["success"], weather["result"]) == (True, {"temperature": "22"})
    assert weather["tool_name"] == "weather"
    assert list(missing) == [*ERROR, "tool_name", "execution_time_ms"]
    assert missing["error"] == "Invalid parameters: missing 'location'"
    assert missing["error_code"] == "invalid_parameters"
    assert others == list(OTHERS.values())
