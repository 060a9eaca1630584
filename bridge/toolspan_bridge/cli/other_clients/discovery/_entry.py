"""One server as another client writes it, as an entry of ``mcpServers``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ._variables import Translation

_TYPES = {"sse": "sse", "stdio": "stdio"} | dict.fromkeys(
    ("http", "streamable-http", "streamable_http", "streamableHttp", "remote"), "http"
)
_ENVIRONMENT = ("env", "environment", "envs")
_URLS = ("url", "serverUrl", "httpUrl", "uri")


class Unusable(Exception):
    """The entry is no server that can be started or connected to. The message says why."""


def entry_of(client: str, raw: Any, translation: Translation) -> dict[str, Any]:
    """``raw`` of ``client`` as an entry of ``mcpServers``. What is lost is added to the problems of
    ``translation``. Raises ``Unusable``."""
    if not isinstance(raw, dict):
        raise Unusable("the entry is no object")
    given = cast("dict[str, Any]", raw)
    url = next((value for key in _URLS if isinstance(value := given.get(key), str) and value), None)
    command = _command(given)
    if (url is None) == (command is None):
        raise Unusable(_without_transport(client, given) if url is None else "both a command and a URL")
    if url is not None:
        found = _remote(client, url, given, translation)
    else:
        found = _local(command or [], given, translation)
    if given.get("disabled") is True or given.get("enabled") is False:
        found["disabled"] = True
    return found


def _without_transport(client: str, given: Mapping[str, Any]) -> str:
    if client == "goose" and given.get("type") in ("builtin", "platform", "frontend", "inline_python"):
        return "it is a part of Goose itself"
    if client == "zed":
        return "it is an extension of Zed, which has its command"
    return "neither a command nor a URL"


def _command(given: Mapping[str, Any]) -> list[str] | None:
    """The command line: a text and ``args``, a list, or an object with ``path`` and ``args``."""
    command: Any = given.get("command", given.get("cmd"))
    arguments: Any = given.get("args")
    if isinstance(command, dict):
        nested = cast("dict[str, Any]", command)
        command, arguments = nested.get("path"), nested.get("args")
    if isinstance(command, list):
        return _texts(cast("Sequence[Any]", command), "command") or None
    if command is None or command == "":
        return None
    if not isinstance(command, str):
        raise Unusable("command is no text")
    if arguments is not None and not isinstance(arguments, list):
        raise Unusable("args is no list")
    return [command, *_texts(cast("Sequence[Any]", arguments or []), "args")]


def _texts(values: Sequence[Any], what: str) -> list[str]:
    if not all(isinstance(value, str | int | float) for value in values):
        raise Unusable(f"{what} holds what is no text")
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _local(command: list[str], given: Mapping[str, Any], translation: Translation) -> dict[str, Any]:
    if given.get("type") not in (None, "stdio", "local"):
        raise Unusable(f"type {given['type']!r} with a command")
    start, *arguments = (translation.text(part) for part in command)
    nested: Any = given.get("command")
    around = cast("dict[str, Any]", nested) if isinstance(nested, dict) else given
    env = _pairs(around, _ENVIRONMENT, translation)
    forwarded: Any = given.get("env_vars", given.get("env_keys"))
    for name in cast("Sequence[Any]", forwarded) if isinstance(forwarded, list) else ():
        if isinstance(name, str) and name:
            env.setdefault(name, f"${{{name}}}")
    for key in ("envFile", "env_file"):
        if isinstance(given.get(key), str):
            translation.problems.append(f"{key} {given[key]!r} is not read: write its variables under env")
    folder = given.get("cwd")
    return {
        "command": start,
        **({"args": arguments} if arguments else {}),
        **({"env": env} if env else {}),
        **({"cwd": translation.text(folder)} if isinstance(folder, str) and folder else {}),
    }


def _remote(client: str, url: str, given: Mapping[str, Any], translation: Translation) -> dict[str, Any]:
    kind: Any = given.get("type", given.get("transport"))
    if kind is not None and (not isinstance(kind, str) or kind not in _TYPES or kind == "stdio"):
        raise Unusable(f"type {kind!r} is none that can be connected to")
    by_sse = _TYPES.get(kind or "") == "sse" or (client == "gemini-cli" and kind is None and "url" in given)
    headers = _pairs(given, ("headers", "http_headers"), translation)
    options: Any = given.get("requestOptions")
    if isinstance(options, dict):
        headers |= _pairs(cast("dict[str, Any]", options), ("headers",), translation)
    if isinstance(variable := given.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    elif isinstance(key := given.get("apiKey"), str):
        headers["Authorization"] = f"Bearer {translation.text(key)}"
    by_variable: Any = given.get("env_http_headers")
    if isinstance(by_variable, dict):
        named = cast("dict[str, Any]", by_variable)
        headers |= {name: f"${{{variable}}}" for name, variable in named.items() if variable}
    return {
        **({"type": "sse"} if by_sse else {"type": "http"} if kind is not None else {}),
        "url": translation.text(url),
        **({"headers": headers} if headers else {}),
    }


def _pairs(given: Mapping[str, Any], keys: tuple[str, ...], translation: Translation) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in keys:
        pairs: Any = given.get(key)
        if pairs is None:
            continue
        if not isinstance(pairs, dict):
            raise Unusable(f"{key} is no object")
        for name, value in cast("dict[str, Any]", pairs).items():
            if isinstance(value, dict | list):
                raise Unusable(f"{key}.{name} is no text")
            if value is not None:
                found[name] = translation.text(_text(value))
    return found
