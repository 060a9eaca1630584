"""Calls whose arguments can be read as files in very many ways, under rules that deny some."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.raw_http import RawClient, request

from ..attack import Attack, Target

WORST = {
    "escapes": "%2541" * 1_600,
    "entities": "&amp;amp;#x26;" * 580,
    "quotes": '"a" \\x41 %41 &amp; $HOME \x01 \'' * 300,
    "paths": " ".join(f"../{n}/a/b/c" for n in range(1_000)),
    "globs": " ".join(f"**/*{n}*?" for n in range(900)),
    "variables": "$HOME$PATH" * 800,
    "json": '["' + '","'.join(f"%41\\\\u0041&amp;{n}" for n in range(300)) + '"]',
    "unicode": 'é\u200b%41"\\' * 1_000,
    "folders": ("/a" * 60 + " ") * 60,
}
"""Texts that each take long in a way of their own."""


def _config(folder: Path) -> Path:
    path = folder / "toolspan.json"
    tool = {
        "name": "take",
        "description": "Take anything",
        "parameters": {"type": "object"},
        "implementation": {"type": "mock", "mock_response": 1},
    }
    rule = {"action": "deny", "paths": ["secrets/**", "**/.env", "~/.ssh/**"]}
    path.write_text(json.dumps({"tools": {"registry": [tool]}, "approvals": {"rules": [rule]}}))
    return path


def run(target: Target) -> None:
    """Each call is made, or a person would have to be asked."""
    many = [f"{text[:4_000]}{n}" for n in range(40) for text in WORST.values()]
    for name, value in [*WORST.items(), ("many", many)]:
        raw = json.dumps({"name": "take", "arguments": {"value": value}}).encode()
        with RawClient(target.server.address) as client:
            head = ("content-type", "application/json"), ("content-length", str(len(raw)))
            status = client.send(request("POST", "/api/tools/call", *head), raw).answer().status
        assert status in (200, 409), f"{name}: {status}"


ATTACK = Attack(
    "I24.5.5",
    "long arguments that may name files",
    run,
    config=_config,
    gateway=True,
    steady=request("GET", "/healthz"),
    memory_mib=300,
    units=1_500,
)
