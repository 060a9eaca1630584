"""Bodies of requests: JSON, forms, multipart forms, text."""

from __future__ import annotations

import binascii
import json
import secrets
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from ._errors import bad_argument
from ._parameter_mapping import (
    HttpParameter,
    PlacedArguments,
    as_text,
    items_of,
    query_pairs,
)

BodyFormat = Literal["json", "form", "multipart", "text", "none"]
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))


def body_of(
    placed: PlacedArguments, template: Any, wanted: BodyFormat | None, method: str, *, templated: bool
) -> tuple[bytes | None, str]:
    """The body and its ``Content-Type``; ``None`` for a request that has none.

    ``template`` is the rendered body when the tool has one (``templated``). Raises ``ToolFailure``.
    """
    if placed.files or wanted == "multipart":
        fields = [*_members(placed, template), *placed.form]
        return _multipart(fields, placed.files)
    if placed.form or wanted == "form":
        fields = [*_members(placed, template), *placed.form]
        pairs = [pair for field in fields if field[1] is not None for pair in query_pairs(*field)]
        return "&".join(f"{name}={value}" for name, value in pairs).encode(), (
            "application/x-www-form-urlencoded"
        )
    value = template if templated else placed.whole[0] if placed.whole else placed.body
    if isinstance(value, dict) and templated:
        value = {**cast("dict[str, Any]", value), **placed.body}
    if wanted == "text":
        return as_text(value).encode("utf-8", "backslashreplace"), "text/plain; charset=utf-8"
    given = templated or placed.whole or placed.body
    if wanted == "none" or (not given and method not in _WITH_BODY):
        return (b"", "") if method in _WITH_BODY else (None, "")
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace"), (
        "application/json"
    )


def _members(placed: PlacedArguments, template: Any) -> Iterator[tuple[str, Any, HttpParameter]]:
    plain = HttpParameter.initial()
    for members in (template, *placed.whole, placed.body):
        if isinstance(members, Mapping):
            for name, value in cast("Mapping[str, Any]", members).items():
                yield name, value, plain


def _fields(value: Any, parameter: HttpParameter) -> Iterator[tuple[str, str | None]]:
    """The text of each part of a multipart form for ``value``, and its media type: a part for each item of a
    list, unless the list is JSON; an object is JSON (OpenAPI 3.1, Encoding Object, ``contentType``)."""
    if value is None:
        return
    plain = (parameter.mime_type or "").partition(";")[0].lower()
    if plain == "application/json" or plain.endswith("+json"):
        yield json.dumps(value, ensure_ascii=False), parameter.mime_type
        return
    for part in items_of(value):
        is_json = isinstance(part, dict | list) and parameter.mime_type is None
        yield as_text(part), "application/json" if is_json else parameter.mime_type


def _multipart(
    fields: list[tuple[str, Any, HttpParameter]], files: list[tuple[str, Any, HttpParameter]]
) -> tuple[bytes, str]:
    boundary = secrets.token_hex(16)
    parts: list[bytes] = []
    for name, value, parameter in fields:
        for text, kind in _fields(value, parameter):
            parts.append(_part(boundary, name, None, kind, text.encode("utf-8", "replace")))
    for name, value, parameter in files:
        for one in items_of(value):
            content = _file(name, one, parameter)
            kind = parameter.mime_type or "application/octet-stream"
            parts.append(_part(boundary, name, parameter.filename or name, kind, content))
    parts.append(f"--{boundary}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def _part(boundary: str, name: str, filename: str | None, kind: str | None, content: bytes) -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"'
    if filename is not None:
        head += f'; filename="{_quoted(filename)}"'
    if kind is not None:
        head += f"\r\nContent-Type: {kind}"
    return head.encode("utf-8", "replace") + b"\r\n\r\n" + content + b"\r\n"


def _quoted(name: str) -> str:
    """As HTML's multipart forms write names: no quote and no line break."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _file(name: str, value: Any, parameter: HttpParameter) -> bytes:
    text = as_text(value)
    if parameter.encoding == "text":
        return text.encode("utf-8", "replace")
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise bad_argument(name, "is not base64") from None
