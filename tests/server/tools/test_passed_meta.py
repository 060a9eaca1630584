"""What a tool's ``_meta`` holds for other programs: a config sets it, and that of other servers passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.aggregates import ERAS, aggregate, connected, mock, own
from tests.support.configs import told

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I26.2.2")]

UI = {"ui": {"resourceUri": "ui://a/chart.html"}}


async def meta_of(config: Path, name: str, mode: str) -> dict[str, Any]:
    async with connected(config, mode=mode) as client:
        (tool,) = [each for each in (await client.list_tools()).tools if each.name == name]
        return dict(tool.meta or {})


@pytest.mark.parametrize("mode", ERAS)
async def test_an_aggregate_passes_on_what_a_tool_has_for_other_programs(tmp_path: Path, mode: str) -> None:
    server = own(tmp_path, "charts", mock("chart", _meta=UI, tags=["works-as:Read"]))
    hub = aggregate(tmp_path, {"charts": server}, {"approval": "never"}, mock("local", _meta={"a": 1}))
    assert await meta_of(hub, "charts_chart", mode) == UI, "its tags are no word of ours"
    assert await meta_of(hub, "local", mode) == {"a": 1, "dev.toolspan/reach": "local"}


def test_a_name_of_ours_is_no_meta_of_a_config(tmp_path: Path) -> None:
    tool = mock("t", _meta={"dev.toolspan/tags": ["works-as:Read"]})
    (problem,) = told(tmp_path, json.dumps({"tools": {"registry": [tool]}}))
    assert "'dev.toolspan/tags' is a name of ours" in problem
