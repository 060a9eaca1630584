"""Where each argument goes in a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

from ...schema.constraints import BeforeValidator
from ...schema.records import Record, key
from ._errors import bad_argument
from ._urls import UrlTemplate, encoded

Place = Literal["path", "query", "header", "cookie", "body", "form", "file"]
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_IN_QUERY = frozenset(("GET", "HEAD", "DELETE", "OPTIONS"))
_SEPARATORS = {"form": ",", "simple": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


class HttpParameter(Record):
    """Where one argument goes, and how it is written there."""

    place: Place | None = key(
        "Where the argument goes; by default as if it were not listed.",
        default=None,
        spellings=["in"],
    )
    name: str | None = key(
        "Its name in the request; the argument's own name by default.", least=1, most=200, default=None
    )
    style: Literal["form", "simple", "spaceDelimited", "pipeDelimited", "deepObject", "json"] | None = key(
        "How lists and objects are serialized (OpenAPI's styles, or json); by default each item of a "
        "list separately, and objects as JSON.",
        default=None,
    )
    explode: bool | None = key(
        "Whether each part of a list or object becomes a separate parameter.", default=None
    )
    whole: bool = key("Whether the argument is the whole body.", default=False)
    encoding: Literal["text", "base64"] = key("file: how the argument encodes the file.", default="text")
    filename: str | None = key("file: the file name to send.", least=1, most=200, default=None)
    mime_type: str | None = key(
        "file, form: the media type of the part.",
        pattern=r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(; ?[A-Za-z0-9_-]+=[A-Za-z0-9_.-]+)*$",
        default=None,
    )


def _from_name(value: Any, _info: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


HttpParameters = dict[str, Annotated[HttpParameter, BeforeValidator(_from_name, {"text": True})]]
"""Argument → where it goes; a text is the name that it has there."""


@dataclass(slots=True)
class PlacedArguments:
    """The arguments of one call, each at its place, as texts where the place takes nothing else."""

    path: dict[str, str] = field(default_factory=dict[str, str])
    query: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    cookies: list[str] = field(default_factory=list[str])
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    whole: list[Any] = field(default_factory=list[Any])
    form: list[tuple[str, Any, HttpParameter]] = field(default_factory=list[tuple[str, Any, HttpParameter]])
    files: list[tuple[str, Any, HttpParameter]] = field(default_factory=list[tuple[str, Any, HttpParameter]])


_PLAIN = HttpParameter.initial()


@dataclass(frozen=True, slots=True)
class ParameterMapping:
    """Where the arguments of a tool go. ``leftover`` is the place of those that nothing names, if they go."""

    mapping: Mapping[str, HttpParameter]
    in_url: frozenset[str]
    leftover: Place | None

    @classmethod
    def of(
        cls, mapping: Mapping[str, HttpParameter], url: UrlTemplate, method: str, leftover: Place | None
    ) -> ParameterMapping:
        """Those of a tool: what the method has no body for goes to the query."""
        place = "query" if leftover == "body" and method in _IN_QUERY else leftover
        return cls(mapping, frozenset(url.names), place)

    def of_argument(self, name: str) -> tuple[Place | None, str]:
        """The place of the argument, and its name there."""
        parameter = self.mapping.get(name)
        there = name if parameter is None or parameter.name is None else parameter.name
        if parameter is not None and parameter.place is not None:
            return parameter.place, there
        if there in self.in_url:
            return "path", there
        if parameter is not None and self.leftover is None:
            return "query", there
        return self.leftover, there

    def placed(self, arguments: Mapping[str, Any]) -> PlacedArguments:
        """``arguments``, each at its place. Raises ``ToolFailure`` for one that cannot be there."""
        placed = PlacedArguments()
        for argument, value in arguments.items():
            place, name = self.of_argument(argument)
            parameter = self.mapping.get(argument, _PLAIN)
            if place is not None:
                _put(placed, place, name, value, parameter)
        return placed


def _put(placed: PlacedArguments, place: Place, name: str, value: Any, parameter: HttpParameter) -> None:
    if place == "body":
        if parameter.whole:
            placed.whole.append(value)
        else:
            placed.body[name] = value
    elif value is None:
        return
    elif place == "path":
        placed.path[name] = _joined(value, parameter)
    elif place == "query":
        placed.query += query_pairs(name, value, parameter)
    elif place == "header":
        placed.headers.append((name, header_value(_joined(value, parameter), name)))
    elif place == "cookie":
        placed.cookies += [f"{part}={text}" for part, text in query_pairs(name, value, parameter)]
    else:
        (placed.form if place == "form" else placed.files).append((name, value, parameter))


def header_value(value: str, name: str) -> str:
    """``value`` as a header may hold it. Raises ``ToolFailure`` for one with a line break in it, say."""
    value = value.strip(" \t")
    if _CONTROL.search(value):
        raise bad_argument(name, "holds a control character, which a header cannot")
    encoded(value, name)
    return value


def as_text(value: Any) -> str:
    """``value`` as a text: itself, or its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def items_of(value: Any) -> list[Any]:
    """The items of a list; of anything else, a list of it."""
    return cast("Any", value) if isinstance(value, list) else [value]


def _joined(value: Any, parameter: HttpParameter) -> str:
    """As OpenAPI's style ``simple`` writes lists and objects; as JSON where that is the style."""
    if parameter.style == "json":
        return as_text(value)
    if isinstance(value, list):
        return ",".join(as_text(part) for part in items_of(value))
    if isinstance(value, dict):
        between = "=" if parameter.explode else ","
        members = cast("dict[str, Any]", value).items()
        return ",".join(f"{name}{between}{as_text(part)}" for name, part in members)
    return as_text(value)


def _deep_pairs(label: str, value: Any, name: str) -> Iterator[tuple[str, str]]:
    """``label[member]=value``, nested as deep as ``value`` is; items of lists by their numbers."""
    if isinstance(value, dict):
        for part, inner in cast("dict[str, Any]", value).items():
            yield from _deep_pairs(f"{label}%5B{encoded(part, name)}%5D", inner, name)
    elif isinstance(value, list):
        for number, inner in enumerate(items_of(value)):
            yield from _deep_pairs(f"{label}%5B{number}%5D", inner, name)
    elif value is not None:
        yield label, encoded(as_text(value), name)


def query_pairs(name: str, value: Any, parameter: HttpParameter) -> Iterator[tuple[str, str]]:
    """``name=value`` as a query or a form has it, encoded; several for a list or object."""
    style, label = parameter.style, encoded(name, name)
    is_joined = parameter.explode is False or (parameter.explode is None and style not in (None, "form"))
    if style == "deepObject" and isinstance(value, list | dict):
        yield from _deep_pairs(label, value, name)
    elif isinstance(value, list) and style != "json":
        texts = [encoded(as_text(part), name) for part in items_of(value)]
        if is_joined:
            yield label, _SEPARATORS[style or "form"].join(texts)
        else:
            yield from ((label, text) for text in texts)
    elif isinstance(value, dict) and style in _SEPARATORS:
        members = cast("dict[str, Any]", value).items()
        pairs = [(encoded(part, name), encoded(as_text(text), name)) for part, text in members]
        if is_joined:
            yield label, _SEPARATORS[style].join(text for pair in pairs for text in pair)
        else:
            yield from pairs
    else:
        yield label, encoded(as_text(value), name)
