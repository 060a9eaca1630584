"""The examples of a config's tools, called and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from toolspan_server.config import Config, ToolConfig

from ..errors import UnreachableError
from ..principals import LOCAL_USER
from ..toolbox import Toolbox, own_server
from .terminal.output import compact

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """What came of one example, ``number`` counted from 1.

    ``ok`` is ``None`` when it was not run; ``reason`` says why, or what was other than expected.
    """

    tool: str
    number: int
    description: str | None
    ok: bool | None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return asdict(self)


async def run_examples(
    config: Config, *, skip_invalid: bool = False, pinned: bool = False
) -> list[ExampleOutcome]:
    """Call every example over MCP, on a server of ``config``'s own tools; ``pinned``, as they were read.

    Raises ``UnreachableError``.
    """
    tools = [tool for tool in config.tools.registry if tool.examples]
    if not tools or not config.tools.enabled:
        return []
    own = own_server(config, skip_invalid=skip_invalid, pinned=pinned)
    async with Toolbox.connect([own], principal=LOCAL_USER) as toolbox:
        if toolbox.failures:
            raise UnreachableError(str(toolbox.failures[0]))
        return [
            await _outcome(toolbox, tool, number)
            for tool in tools
            for number in range(1, len(tool.examples) + 1)
        ]


def written_examples(tool: ToolConfig) -> list[dict[str, Any]]:
    """The examples as the config writes them."""
    return [
        {name: value for name, value in example.model_dump().items() if name in example.model_fields_set}
        for example in tool.examples
    ]


async def _outcome(toolbox: Toolbox, tool: ToolConfig, number: int) -> ExampleOutcome:
    example = tool.examples[number - 1]

    def outcome_with(ok: bool | None, reason: str = "") -> ExampleOutcome:
        return ExampleOutcome(tool.name, number, example.description, ok, reason)

    if tool.approval is not None and example.error != "approval_required":
        return outcome_with(None, "each call needs a person's approval")
    spec = next((spec for spec in toolbox.tools if spec.name == tool.name), None)
    if spec is None:
        return outcome_with(False, "the server does not offer the tool")
    called = await toolbox.call(spec, example.arguments, call_id=f"example-{number}")
    reason = next(_faults(example.expected, example, called.result), "")
    return outcome_with(not reason, reason)


def _faults(expected: str | None, example: Any, outcome: Mapping[str, Any]) -> Iterator[str]:
    if expected == "error":
        if outcome["success"]:
            yield f"succeeded, but should fail with {example.error!r}"
        elif outcome["error_code"] != example.error and example.error not in outcome["error"]:
            yield f"failed with {_short(outcome['error'])} ({outcome['error_code']}), not {example.error!r}"
    elif not outcome["success"]:
        yield f"failed: {outcome['error']}"
    elif expected is not None:
        wanted = getattr(example, expected)
        yield from differences(wanted, outcome["result"], whole=expected == "result")


def differences(wanted: Any, given: Any, *, whole: bool, place: str = "result") -> Iterator[str]:
    """Where ``given`` is not the JSON ``wanted``; unless ``whole``, objects in it may have more keys."""
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        yield from _of_objects(cast("Any", wanted), cast("Any", given), whole, place)
    elif isinstance(wanted, list | tuple) and isinstance(given, list):
        yield from _of_lists(cast("Sequence[Any]", wanted), cast("Sequence[Any]", given), whole, place)
    elif isinstance(wanted, bool) != isinstance(given, bool) or wanted != given:
        yield f"{place} is {_short(given)}, not {_short(wanted)}"


def _of_objects(
    wanted: Mapping[str, Any], given: Mapping[str, Any], whole: bool, place: str
) -> Iterator[str]:
    for name, value in wanted.items():
        if name in given:
            yield from differences(value, given[name], whole=whole, place=f"{place}.{name}")
        else:
            yield f"{place} has no {name!r}"
    if whole:
        yield from (f"{place} also has {name!r}" for name in given if name not in wanted)


def _of_lists(wanted: Sequence[Any], given: Sequence[Any], whole: bool, place: str) -> Iterator[str]:
    if len(wanted) != len(given):
        yield f"{place} has {len(given)} items, not {len(wanted)}"
    for index, (value, found) in enumerate(zip(wanted, given, strict=False)):
        yield from differences(value, found, whole=whole, place=f"{place}[{index}]")


def _short(value: Any) -> str:
    import json

    return compact(json.dumps(value, ensure_ascii=False), _SHOWN)
