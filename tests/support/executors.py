"""Executors of a few tools, built in the test, and calls of single handlers."""

from __future__ import annotations

import inspect
from typing import Any

from toolspan_server import (
    Config,
    Context,
    Executor,
    Registry,
)
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.registration import find_handler

ANY_OBJECT = {"type": "object", "additionalProperties": True}


def tool(name: str, implementation: dict[str, Any], parameters: Any = None, **more: Any) -> dict[str, Any]:
    """An entry of ``tools.registry`` that takes any arguments unless ``parameters`` says otherwise."""
    described = {"name": name, "description": f"The tool {name}.", "implementation": implementation}
    return {**described, "parameters": ANY_OBJECT if parameters is None else parameters, **more}


def builtin(name: str, handler: str = "", parameters: Any = None, **more: Any) -> dict[str, Any]:
    """A builtin tool; its handler has the tool's name unless ``handler`` is given."""
    return tool(name, {"type": "builtin", "handler": handler or name}, parameters, **more)


def registry_of(*tools: dict[str, Any]) -> Registry:
    """The registry of a config with ``tools``."""
    return Registry.from_config(Config.model_validate({"tools": {"registry": list(tools)}}))


def executor_of(*tools: dict[str, Any], **options: Any) -> Executor:
    """An executor of ``tools``; ``options`` are its own."""
    return Executor(registry_of(*tools), **options)


async def handled(handler: str, **arguments: Any) -> Any:
    """What the builtin handler gives for ``arguments``, called directly."""
    function = find_handler("builtin", handler)
    assert function is not None, handler
    result = function(arguments, Context(LOCAL, tool_name=handler))
    return await result if inspect.isawaitable(result) else result
