"""What Bedrock's InvokeModel takes for Claude: Anthropic's rules, with the version inside."""

from __future__ import annotations

from typing import Any

from . import anthropic, common

check_schema = anthropic.check_schema


def check_request(body: Any) -> None:
    common.check_wire(body)
    assert body.keys() <= (anthropic.KEYS - {"model", "stream"}) | {"anthropic_version"}
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert not any("type" in tool for tool in body.get("tools", [])), "Anthropic's own tools do not run here"
    anthropic.check_body(body)
