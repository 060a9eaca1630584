"""Secrets in an entry: found by what they are called and how they look, and replaced."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from toolspan_server.common.secrets.key_shapes import (
    holds_key,
    is_key,
    without_key_shapes,
    without_url_passwords,
)

from ._variables import variable_name

_CALLED = re.compile(
    r"(?:^|[^a-z])(?:api[^a-z]?key|key|token|secret|pass(?:word|wd|phrase)?|pwd|pat|credentials?|auth|authorization"
    r"|cookie|session|bearer|jwt|dsn|sig(?:nature)?|connection[^a-z]?string)(?:$|[^a-z])|apikey|accesskey",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[A-Za-z0-9_+=-]{28,}")
_PAIR = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?P<between>\s*[:=]\s*)(?P<value>.+)", re.DOTALL)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey)\s+", re.IGNORECASE)
_REFERENCE = re.compile(r"(?<!\$)\$\{[A-Za-z_]")
_HARMLESS = re.compile(r"(?:true|false|null|none|yes|no|on|off|[0-9]{1,5})?", re.IGNORECASE)

Put = Callable[[str, str], str]
"""What stands for a secret: from what it is called and its value."""


def without_secrets(entry: Mapping[str, Any], put: Put) -> dict[str, Any]:
    """``entry`` with each secret in its variables, headers, arguments and URL replaced by ``put``."""
    found = dict(entry)
    for key in ("env", "headers"):
        if pairs := cast("Mapping[str, str]", entry.get(key) or {}):
            found[key] = {name: _of_pair(name, value, put) for name, value in pairs.items()}
    if isinstance(url := entry.get("url"), str):
        found["url"] = _of_text(url, put)
    if arguments := cast("list[str]", entry.get("args") or []):
        found["args"] = _of_arguments(arguments, put)
    return found


def shown_connection(entry: Mapping[str, Any]) -> str:
    """The command line or URL of ``entry`` with ``***`` for secrets."""
    shown = without_secrets(entry, lambda _, __: "***")
    url = shown.get("url")
    return str(url) if url is not None else shlex.join([shown["command"], *shown.get("args", ())])


class Replacements:
    """Names of variables for secrets: the same name never stands for two values.

    ``taken`` are variables that the config uses already.
    """

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        self._values = dict(taken or {})
        self.names: dict[str, str] = {}
        """Each variable that has to be set now, and the server that needs it."""

    def of(self, server: str) -> Put:
        """What puts ``${VAR}`` for a secret of ``server``: a variable of its environment keeps its name."""

        def put(called: str, value: str) -> str:
            own = variable_name(called)
            of_server = variable_name(f"{server}-{called}").upper()
            names = [own] if re.fullmatch(r"[A-Z][A-Z0-9_]+", called) else []
            names += [of_server, *(f"{of_server}_{number}" for number in range(2, 1_000))]
            name = next(each for each in names if self._values.get(each, value) == value)
            self._values[name] = value
            self.names.setdefault(name, server)
            return f"${{{name}}}"

        return put


def is_secret(called: str, value: str) -> bool:
    """Whether ``value``, which is called ``called``, is to be kept secret: by its name, or as it looks."""
    if _HARMLESS.fullmatch(value.strip()) or _REFERENCE.search(value):
        return False
    if holds_key(value) or _RANDOM.fullmatch(value):
        return True
    return bool(_CALLED.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", called))) and not _is_path(value)


def _is_path(value: str) -> bool:
    return bool(re.match(r"(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)", value))


def _of_pair(name: str, value: str, put: Put) -> str:
    if not is_secret(name, value):
        return _of_text(value, put, name)
    scheme = _SCHEME.match(value)
    kept = scheme.group() if scheme else ""
    return kept + put(name, value[len(kept) :])


def _of_arguments(arguments: list[str], put: Put) -> list[str]:
    found: list[str] = []
    flag = ""
    for argument in arguments:
        if flag and not argument.startswith("-"):
            pair = _PAIR.fullmatch(argument)
            if pair is not None and (flag in ("header", "H", "e", "env") or _CALLED.search(pair["name"])):
                found.append(_in_pair(pair, put))
            else:
                found.append(_of_pair(flag, argument, put))
            flag = ""
            continue
        name, equals, value = argument.partition("=")
        if argument.startswith("-") and equals:
            found.append(f"{name}={_of_pair(name.lstrip('-'), value, put)}")
        elif argument.startswith("-"):
            found.append(argument)
            flag = argument.lstrip("-")
        else:
            pair = _PAIR.fullmatch(argument)
            is_pair = pair is not None and "//" not in pair["between"] + pair["value"][:2]
            found.append(_in_pair(pair, put) if pair and is_pair else _of_text(argument, put))
    return found


def _in_pair(pair: re.Match[str], put: Put) -> str:
    return pair["name"] + pair["between"] + _of_pair(pair["name"], pair["value"], put)


def _of_text(text: str, put: Put, called: str = "secret") -> str:
    """``text`` without the password and the secret parameters of a URL in it, and what looks like a key."""
    if _REFERENCE.search(text):
        return text
    if "://" in text:
        text = without_url_passwords(text, lambda value: put(f"{called}-password", value))
        return _query(text, put)
    return put(called, text) if is_key(text) or _RANDOM.fullmatch(text) else text


def _query(url: str, put: Put) -> str:
    try:
        pairs = parse_qsl(urlsplit(url).query)
    except ValueError:
        return url
    for name, value in pairs:
        if is_secret(name, value):
            before, equals, rest = url.partition(f"{name}=")
            after = re.search(r"[&#].*", rest)
            url = before + equals + put(name, value) + (after.group() if after else "")
    return without_key_shapes(url, lambda value: put("secret", value)) if "$" not in url else url
