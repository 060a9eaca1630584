"""What Bedrock's InvokeModel takes for Claude: Anthropic's rules, with the version inside."""

from __future__ import annotations

from typing import Any

from . import anthropic, common

check_schema = anthropic.check_schema


def check_request(body: Any, model: str = "anthropic.claude-sonnet-4-5") -> None:
    common.check_wire(body)
    known = anthropic.KEYS - {"cache_control", "model", "stream"}
    assert body.keys() <= known | {"anthropic_beta", "anthropic_version"}
    assert anthropic.check_beta(body, ",".join(body.get("anthropic_beta", []))) == ""
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert not any("type" in tool for tool in body.get("tools", [])), "Anthropic's own tools do not run here"
    anthropic.check_body(body, model)
