"""Calls with a tag for the tool and one for each parameter, as Qwen3-Coder, MiniMax, DeepSeek, GLM and Claude
write them.

The values are bare text, so that only the tool's schema says what they are, and a value may hold what looks
like its own end. It ends where the next thing is again a part of the call; where that leaves a doubt, the
call is not read, and the model is told so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..shared.json_values import as_list, as_object, at, load, text
from ..shared.replies.markup import CALLS, any_of
from .call_json import python_value, value_at

__all__ = ["GLM", "TaggedCall", "Tags", "begins_tagged", "typed"]

_MOST_PARAMETERS = 100
_CLOSES = tuple(token for row in CALLS for token in row.closes)
_CALL = re.compile(
    r"<(?P<of>｜DSML｜|steptml:)?(?P<kind>function|invoke)(?:=| name=)(?P<name>[^>\n]{1,300})>"
)
_ANY_CALL = any_of([token for row in CALLS for token in row.opens])
_DOUBT = "where {} ends is not certain, as it holds {} itself: write it without that, or in parts"
_ENDLESS = "the value of the parameter {!r} has no end ({})"
_UNKNOWN = "what follows {!r} is no part of the call: {!r} is no parameter of this tool, or comes twice"
_OTHERWISE = "it holds neither parameters nor JSON"


class Tags(NamedTuple):
    """How a call is tagged: the beginning of a parameter and its end, and the end of the call, empty where a
    mark or the end of the text is."""

    key_opens: str
    key: re.Pattern[str]
    value_closes: str
    call_closes: str


def _tags(of: str, kind: str) -> Tags:
    name = rf'<{of}(?:parameter|param)(?:=| name=)(?P<key>"[^">\n]{{1,200}}"|[^>\s]{{1,200}})'
    key = re.compile(rf"{name}(?P<more>[^>\n]{{0,200}})>")
    return Tags(f"<{of}param", key, f"</{of}parameter>", f"</{of}{kind}>")


GLM = Tags(
    "<arg_key>",
    re.compile(r"<arg_key>\s{0,9}(?P<key>[^<\n]{1,200}?)\s{0,9}</arg_key>\s{0,9}<arg_value>(?P<more>)"),
    "</arg_value>",
    "",
)
_TAGS = {
    (of, kind): _tags(of, kind) for of in ("", "｜DSML｜", "steptml:") for kind in ("function", "invoke")
}


def begins_tagged(source: str, start: int) -> bool:
    """Whether the tag of a tool stands at ``start``."""
    return _CALL.match(source, start) is not None


class _Unread(Exception):
    """Why a call cannot be read."""


class TaggedCall:
    """The call of ``name`` whose parameters begin at ``start`` of ``source``. ``end`` is where it ends, once
    it is read, and ``written`` what the model wrote."""

    def __init__(self, source: str, start: int, name: str, tags: Tags) -> None:
        self.name = name
        self.end = start
        self._source = source
        self._start = start
        self._tags = tags

    @classmethod
    def at(cls, source: str, start: int) -> TaggedCall:
        """The one whose tag stands at ``start``."""
        found = _CALL.match(source, start)
        assert found is not None
        name = found["name"].strip().strip("\"'")
        return cls(source, found.end(), name, _TAGS[found["of"] or "", found["kind"]])

    @property
    def written(self) -> str:
        """The parameters as the model wrote them."""
        return self._source[self._start : self.end]

    def read(self, schema: Mapping[str, Any]) -> tuple[Any, str]:
        """The arguments, typed by the tool's ``schema``, and why they cannot be read, if so."""
        try:
            return self._arguments(schema), ""
        except _Unread as doubt:
            self.end = self._next_call(self.end)
            return None, str(doubt)

    def _arguments(self, schema: Mapping[str, Any]) -> Any:
        tags, source = self._tags, self._source
        place = _after_blanks(source, self._start)
        if source.startswith("{", place):
            return self._json(place)
        given: dict[str, Any] = {}
        key = ""
        while (found := tags.key.match(source, place)) and len(given) <= _MOST_PARAMETERS:
            key = found["key"].strip("\"'")
            value, place = self._value(key, found.end(), schema, {*given, key})
            given[key] = typed(value, key, schema, said=found["more"])
            place = _after_blanks(source, place)
        self.end = place
        closed = tags.call_closes and source.startswith(tags.call_closes, place)
        if closed:
            self.end = place + len(tags.call_closes)
        elif not given:
            raise _Unread(_OTHERWISE)
        if source.find(tags.value_closes, self.end, self._next_call(self.end)) >= 0:
            raise _Unread(
                _DOUBT.format(f"the value of {key!r}", repr(tags.value_closes)) if given else _OTHERWISE
            )
        return given

    def _json(self, place: int) -> Any:
        try:
            value, self.end = value_at(self._source, place)
        except ValueError as error:
            raise _Unread(str(error)) from None
        after = _after_blanks(self._source, self.end)
        if self._tags.call_closes and self._source.startswith(self._tags.call_closes, after):
            self.end = after + len(self._tags.call_closes)
        return value

    def _value(self, key: str, start: int, schema: Mapping[str, Any], given: set[str]) -> tuple[str, int]:
        """The value at ``start`` and where what follows it begins."""
        tags, source = self._tags, self._source
        end = source.find(tags.value_closes, start)
        while end >= 0:
            after = _after_blanks(source, end + len(tags.value_closes))
            if self._follows(after, key, schema, given):
                self._check_inner(key, source[start:end], schema, given)
                return _trimmed(source[start:end]), after
            end = source.find(tags.value_closes, end + 1)
        end = source.find(tags.call_closes, start) if tags.call_closes else -1
        value = source[start : max(end, start)]
        if end < 0 or tags.key.search(value):
            raise _Unread(_ENDLESS.format(key, tags.value_closes))
        return _trimmed(value), end

    def _follows(self, place: int, key: str, schema: Mapping[str, Any], given: set[str]) -> bool:
        """Whether what stands at ``place`` follows a value."""
        tags, source = self._tags, self._source
        if place == len(source) or (tags.call_closes and source.startswith(tags.call_closes, place)):
            return True
        if found := tags.key.match(source, place):
            following = found["key"].strip("\"'")
            if following in given or not _takes(schema, following):
                raise _Unread(_UNKNOWN.format(key, following))
            return True
        return source.startswith(_CLOSES, place)

    def _check_inner(self, key: str, value: str, schema: Mapping[str, Any], given: set[str]) -> None:
        """Raise where ``value`` holds another parameter of the tool: whether it is one is not certain."""
        for found in self._tags.key.finditer(value):
            inner = found["key"].strip("\"'")
            if inner not in given and inner in (as_object(schema.get("properties")) or {}):
                raise _Unread(_DOUBT.format(f"the value of {key!r}", repr(found[0])))

    def _next_call(self, place: int) -> int:
        """Where the next call begins after ``place``, or the text ends."""
        found = _ANY_CALL.search(self._source, place)
        return found.start() if found else len(self._source)


def typed(value: str, key: str, schema: Mapping[str, Any], *, said: str = "") -> Any:
    """``value`` as the property ``key`` of ``schema`` has it. Where a text may stand, it is one; ``said`` is
    what else the tag says of it (DeepSeek's ``string="true"``), where the schema says nothing."""
    kinds = frozenset(_kinds(at(schema, "properties", key), schema))
    written = value.strip()
    if kinds and "string" in kinds:
        return None if "null" in kinds and written == "null" else value
    if not kinds and 'string="true"' in said:
        return value
    lowered = written.lower()
    if "boolean" in kinds and lowered in ("true", "false"):
        return lowered == "true"
    if "null" in kinds and lowered in ("null", "none"):
        return None
    try:
        return load(written)
    except ValueError:
        pass
    if written[:1] in ("{", "[") and (not kinds or kinds & {"object", "array"}):
        try:
            return python_value(written)
        except ValueError:
            return value
    return value


def _kinds(schema: Any, root: Mapping[str, Any], depth: int = 8) -> Iterator[str]:
    """The JSON types that ``schema`` allows; none where it does not say."""
    inner = as_object(schema)
    if inner is None or not depth:
        return
    for kind in as_list(inner.get("type")) or [inner.get("type")]:
        yield from [text(kind)] if kind else []
    values = [*(as_list(inner.get("enum")) or []), *([inner["const"]] if "const" in inner else [])]
    if "type" not in inner:
        yield from map(_kind, values)
    for word in ("anyOf", "oneOf", "allOf"):
        for each in as_list(inner.get(word)) or []:
            yield from _kinds(each, root, depth - 1)
    if (ref := text(inner.get("$ref"))).startswith("#/"):
        yield from _kinds(at(root, *ref[2:].split("/")), root, depth - 1)


def _kind(value: Any) -> str:
    kinds = ((str, "string"), (bool, "boolean"), (int | float, "number"), (dict, "object"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _takes(schema: Mapping[str, Any], key: str) -> bool:
    properties = as_object(schema.get("properties"))
    return not properties or key in properties


def _trimmed(value: str) -> str:
    """A value without the line breaks after its tag and before its end."""
    return value.removeprefix("\n").removesuffix("\n")


def _after_blanks(source: str, start: int) -> int:
    while start < len(source) and source[start].isspace():
        start += 1
    return start
