"""Mocks made of recorded results: a tool's calls become rules that give these results to the same arguments.

``{"name", "description", "parameters", …, "implementation": {"type": "mock", "rules": [{"when": {"arguments":
{"equals": {…}}}, "mock_response": …}]}}``, as an entry of ``tools.registry`` in a config. Where the same
arguments had several results, these come in their order, and the last one from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from toolspan_server.engines.upstreams import ListedTool

from ...messages import ToolOutcome
from ...providers.wire.json_types import is_list, is_object
from ..fingerprint import hash_of
from .contents import Recorded, RecordedCall, RecordedServer

__all__ = ["NO_RESULT", "Mocks", "mocks_of"]

NO_RESULT = "No result is recorded for these arguments; the nearest recorded ones are {{ call.nearest }}"
_NEVER_CALLED = "No call of this tool is recorded"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REFUSED = "invalid_parameters"
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SAYS_MORE = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_MASK = "***"


@dataclass(frozen=True, slots=True)
class Mocks:
    """``tools`` are entries of ``tools.registry``, by the server that they were recorded of and their name;
    ``calls`` is how many recorded calls each answers. ``left`` says what could not be turned into mocks."""

    tools: Mapping[tuple[str, str], dict[str, Any]]
    calls: Mapping[tuple[str, str], int]
    left: tuple[str, ...]


_Rules = list[dict[str, Any]]


def mocks_of(recorded: Recorded, *, all_tools: bool = False) -> Mocks:
    """The mocks of what is ``recorded``: of each tool that was called, or with ``all_tools`` of each."""
    left: list[str] = []
    tools: dict[tuple[str, str], dict[str, Any]] = {}
    counts: dict[tuple[str, str], int] = {}
    calls = _calls(recorded)
    names: dict[str, str] = {}
    for server, tool in _listed(recorded.servers.values()):
        key = (server, tool.name)
        made = calls.pop(key, [])
        if fault := _unusable(tool, names.get(tool.name)):
            left.append(f"{server}/{tool.name}: {fault}")
            continue
        rules, faults = _rules(made, tool.schema)
        left += [f"{server}/{tool.name}: {fault}" for fault in faults]
        if not rules and not all_tools:
            left.append(f"{server}/{tool.name}: no result of it is recorded")
            continue
        names[tool.name] = server
        tools[key] = {**_definition(tool), "implementation": _mock(rules)}
        counts[key] = len(made) - len(faults)
    left += [f"{server}/{name}: a tool of the suite's own" for server, name in calls]
    return Mocks(tools, counts, tuple(left))


def _listed(servers: Sequence[RecordedServer] | Any) -> Iterator[tuple[str, ListedTool]]:
    for server in servers:
        for tool in server.tools:
            yield server.name, tool


def _calls(recorded: Recorded) -> dict[tuple[str, str], list[RecordedCall]]:
    """The calls of each tool that had a result, in the order in which their trials ended."""
    found: dict[tuple[str, str], list[RecordedCall]] = {}
    for trial in sorted(recorded.trials.values(), key=lambda each: (each.order == 0, each.order)):
        for call in trial.calls:
            if call.outcome is not None:
                found.setdefault((call.server, call.tool), []).append(call)
    return found


def _unusable(tool: ListedTool, other: str | None) -> str:
    if not _NAME.fullmatch(tool.name):
        return "a config takes no tool of this name"
    if other is not None:
        return f"the server {other!r} has a tool of this name too"
    return ""


def _definition(tool: ListedTool) -> dict[str, Any]:
    title, output = tool.details.get("title"), tool.details.get("outputSchema")
    hints = {name: tool.annotations[name] for name in _HINTS if isinstance(tool.annotations.get(name), bool)}
    return {
        "name": tool.name,
        "description": tool.description.strip() or tool.name,
        **({"title": title[:200]} if isinstance(title, str) and title else {}),
        "parameters": dict(tool.schema),
        **({"output_schema": output} if isinstance(output, Mapping) else {}),
        **({"annotations": hints} if hints else {}),
    }


def _mock(rules: _Rules) -> dict[str, Any]:
    if not rules:
        return {"type": "mock", "error": {"message": _NEVER_CALLED, "code": "not_recorded"}}
    error = {"message": NO_RESULT, "code": "not_recorded"}
    return {"type": "mock", "rules": rules, "error": error}


def _rules(
    calls: Sequence[RecordedCall], schema: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rules that answer ``calls``, and what of them cannot be answered."""
    faults: list[str] = []
    answers: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
    for call in calls:
        assert call.outcome is not None
        if _MASK in json.dumps(call.arguments):
            faults.append(f"the call {call.id} had a secret among its arguments, which is not recorded")
        elif call.outcome.result.get("error_code") == _REFUSED:
            faults.append(f"the call {call.id} was refused for its arguments, as the mock's will be")
        else:
            given = _accepted(call.arguments, schema)
            answers.setdefault(hash_of(given), (given, []))[1].append(_answer(call.outcome))
    rules = [
        {"when": {"arguments": {"equals": given}}, **_by_turns(found)} for given, found in answers.values()
    ]
    return rules, faults


def _by_turns(answers: list[dict[str, Any]]) -> dict[str, Any]:
    while len(answers) > 1 and answers[-1] == answers[-2]:
        answers = answers[:-1]
    return answers[0] if len(answers) == 1 else {"sequence": answers}


def _answer(outcome: ToolOutcome) -> dict[str, Any]:
    result = outcome.result
    if outcome.failed:
        code, action = str(result.get("error_code", "")), str(result.get("user_action", ""))
        return {
            "error": {
                "message": _literal(str(result.get("error", "")) or "The tool failed"),
                **({"code": code} if _CODE.fullmatch(code) else {}),
                **({"user_action": _literal(action)} if action else {}),
            }
        }
    blocks = [dict(part.data) for part in outcome.parts]
    if not blocks or _is_plain(outcome, blocks):
        return {"mock_response": result.get("result")}
    structured = {} if outcome.structured is None else {"structured": _literal(outcome.structured)}
    return {"content": _literal(blocks), **structured}


def _is_plain(outcome: ToolOutcome, blocks: list[dict[str, Any]]) -> bool:
    """Whether a mock that returns the result's value sends the same blocks: one text, that value as JSON."""
    value, (first, *more) = outcome.result.get("result"), blocks
    if more or set(first) != {"type", "text"}:
        return False
    if isinstance(value, str):
        return bool(first["text"] == value == outcome.structured)
    try:
        shown = json.loads(str(first["text"]))
    except (ValueError, RecursionError):
        return False
    return bool(shown == value == outcome.structured)


def _literal(value: Any) -> Any:
    """``value``, whose texts are templates that give them as they are."""
    if isinstance(value, str):
        return value.replace("{{", '{{ "{{" }}')
    if isinstance(value, Mapping):
        return {name: _literal(part) for name, part in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_literal(part) for part in cast("Sequence[Any]", value)]
    return value


def _accepted(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` as a tool of ours gets them: with the schema's defaults, without what it does not
    define."""
    known = _properties(schema)
    says_more = any(name in schema for name in _SAYS_MORE)
    kept = {name: value for name, value in arguments.items() if says_more or not known or name in known}
    return cast("dict[str, Any]", _filled(kept, schema))


def _filled(value: Any, schema: Mapping[str, Any]) -> Any:
    if is_list(value) and is_object(schema.get("items")):
        return [_filled(item, schema["items"]) for item in value]
    if not isinstance(value, Mapping):
        return value
    filled = dict(cast("Mapping[str, Any]", value))
    for name, part in _properties(schema).items():
        if name in filled:
            filled[name] = _filled(filled[name], part)
        elif "default" in part:
            filled[name] = part["default"]
    return filled


def _properties(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    given = schema.get("properties")
    if not isinstance(given, Mapping):
        return {}
    named = cast("Mapping[str, Any]", given)
    return {name: part for name, part in named.items() if isinstance(part, Mapping)}
