"""Tools that a person names: mocks, requests to a web API, whole APIs."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ...errors import UsageError
from ._document import Entry

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


def mock_tool(name: str) -> Entry:
    """A tool that gives a made-up answer."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r}: use letters, digits, _ - and ., at most 128")
    words = name.replace("_", " ").replace("-", " ").replace(".", " ")
    data = {
        "name": name,
        "description": f"Say here what {words} does and when to use it: models choose by this.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What it is about."}},
            "required": ["query"],
        },
        "implementation": {"type": "mock", "mock_response": {"answer": "A made-up answer."}},
    }
    return Entry(
        data,
        [
            "Answers with mock_response, whatever the arguments are. Replace implementation by",
            "{type: http, url: …} when the real thing exists; nothing else changes.",
        ],
    )


def http_tool(text: str, taken: set[str]) -> Entry:
    """A tool that makes a request: ``URL``, or ``METHOD URL``; ``{name}`` in it is a parameter."""
    method, space, url = text.partition(" ")
    if not space:
        method, url = "GET", text
    parts = _url(url)
    if method.upper() not in _METHODS:
        raise UsageError(f"{text!r}: {method!r} is no method ({', '.join(_METHODS)})")
    names = list(dict.fromkeys(_PLACEHOLDER.findall(url)))
    implementation: dict[str, Any] = {"type": "http", "url": url}
    if method.upper() != "GET":
        implementation["method"] = method.upper()
    implementation |= _reach(parts.hostname or "")
    properties = {name: {"type": "string", "description": f"The {name} in the URL."} for name in names}
    data = {
        "name": _free(_named(method.lower(), parts.path), taken),
        "description": f"Say here what {parts.hostname}{parts.path} gives and when to use it.",
        "parameters": {"type": "object", "properties": properties, "required": names},
        "implementation": implementation,
    }
    return Entry(
        data,
        [
            "Other parameters go into the query (GET) or the JSON body (POST). See docs/how-to/http.md for",
            "headers, auth from variables, response_path, retry and what may be reached.",
        ],
    )


def api_source(place: str, directory: Path) -> Entry:
    """The tools of an OpenAPI description: a file (kept relative to ``directory``), or a URL."""
    if re.match(r"https?://", place):
        where: dict[str, Any] = {"url": place, **_reach(_url(place).hostname or "")}
    else:
        path = Path(place).absolute()
        if not path.is_file():
            raise UsageError(f"{place!r}: there is no such file")
        inside = path.is_relative_to(directory.absolute())
        where = {"file": path.relative_to(directory.absolute()).as_posix() if inside else str(path)}
    return Entry(
        {"type": "openapi", **where},
        [
            "Every operation becomes a tool; choose some with include, such as",
            "include: {tags: [orders], operations: [listOrders]}. A key that they need, by its name in the",
            "description: credentials: {apiKey: {value_env: SHOP_KEY}}.",
        ],
    )


def _url(url: str) -> SplitResult:
    parts = None
    try:
        parts = urlsplit(url)
        whole = (
            parts.scheme in ("http", "https") and parts.hostname and not re.search(r"[\x00-\x20\x7f]", url)
        )
    except ValueError:
        whole = False
    if parts is None or not whole:
        raise UsageError(f"{url!r} is not an http or https URL")
    if "@" in parts.netloc:
        raise UsageError("leave the password out of the URL, and use auth with a variable")
    return parts


def _reach(host: str) -> dict[str, Any]:
    """What lets the request through to this machine or a private network, if it goes there."""
    try:
        private = not ipaddress.ip_address(host).is_global
    except ValueError:
        private = host == "localhost" or host.endswith(".localhost")
    return {"allow_private": [host]} if private else {}


def _named(method: str, path: str) -> str:
    words = [word for word in re.split(r"[^A-Za-z0-9]+", _PLACEHOLDER.sub("", path)) if word]
    return "_".join([method, *words])[:100] if words else f"{method}_root"


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with a number after it; noted in ``taken``, where case does not count."""
    found, number = name, 2
    while found.lower() in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found.lower())
    return found
