"""Arguments whose faults are many, and whose check is long: told in a moment, to one client's cost alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.raw_http import tool_call
from tests.support.served import tool, write_config

from ..attack import Attack, Target


def _form(index: int) -> dict[str, Any]:
    properties = {f"k{index}": {"type": "string"}, "kind": {"const": f"v{index}"}}
    return {"type": "object", "properties": properties, "required": [f"k{index}", "kind"]}


def _config(folder: Path) -> Path:
    path = write_config(folder)
    config = json.loads(path.read_text())
    items = {
        "forms": {"oneOf": [_form(index) for index in range(30)]},
        "options": {"enum": [{"a": index} for index in range(5_000)]},
        "texts": {"not": {"pattern": "([a-z]{1,200}){1,100}y"}},
    }
    properties = {name: {"type": "array", "items": schema} for name, schema in items.items()}
    parameters = {"type": "object", "properties": properties}
    config["tools"]["registry"].append(tool("checked", {"type": "mock"}, parameters=parameters))
    path.write_text(json.dumps(config))
    return path


def _run(target: Target) -> None:
    for arguments, told in (
        ({"forms": [{}] * 9_000}, b"and more"),
        ({"options": [{"a": 4_999}] * 4_000}, b"the limit of 25,000,000 steps"),
        ({"texts": ["x" * 1_000] * 100}, b"the limit of 25,000,000 steps"),
    ):
        assert told in target.server.exchange(tool_call("checked", arguments, ("connection", "close"))), told


ATTACK = Attack(
    "I9.1.3",
    "faults without number",
    _run,
    config=_config,
    stalls=3,  # the first call compiles the config's own schema, with its 5,000 options
)
