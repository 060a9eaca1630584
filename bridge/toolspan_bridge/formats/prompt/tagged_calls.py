"""Calls with a tag for the tool and one for each parameter, as Qwen3-Coder, MiniMax, DeepSeek, GLM, Kimi K3
and Claude write them. One row of ``_STYLES`` for each style of tags.

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

__all__ = ["TaggedCall", "Tags", "bare_style", "begins_tagged", "typed"]

_MOST_PARAMETERS = 100
_CLOSES = tuple(token for row in CALLS for token in row.closes)
_ANY_CALL = any_of([token for row in CALLS for token in row.opens])
_DOUBT = "where {} ends is not certain, as it holds {} itself: write it without that, or in parts"
_ENDLESS = "the value of the parameter {!r} has no end ({})"
_UNKNOWN = "what follows {!r} is no part of the call: {!r} is no parameter of this tool, or comes twice"
_OTHERWISE = "it holds neither parameters nor JSON"
_TWICE = "the value of {!r} has a part of one name twice"
_MOST_NESTED = 20


class Tags(NamedTuple):
    """A style of tags: ``call`` is that of the tool, with its ``name``, where it has one; ``key`` begins a
    parameter, with its ``key`` and what ``more`` the tag says; ``value_closes`` ends it, with the groups of
    ``key`` in it; ``call_closes`` ends the call, empty where a mark or the end of the text does. ``nests``: a
    value may hold further parameters, which make it an object or a list.
    """

    call: re.Pattern[str] | None
    key: re.Pattern[str]
    value_closes: str
    call_closes: str
    nests: bool = False

    def closing(self, key: re.Match[str] | None) -> str:
        """What ends the value of ``key``; of none, the usual end of a value."""
        return self.value_closes.format(
            **{"key": "", "word": "parameter", "of": "", "end": "", **_groups(key)}
        )


def _groups(found: re.Match[str] | None) -> dict[str, str]:
    return {} if found is None else {name: value or "" for name, value in found.groupdict().items()}


def _xml(kind: str, of: str = "") -> Tags:
    """``<invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>``; ``of`` stands before the name
    of each tag."""
    call = re.compile(rf"<{of}{kind}(?:=| name=)(?P<name>[^>\n]{{1,300}})>")
    key = r'(?P<key>"[^">\n]{1,200}"|[^>\s]{1,200})(?P<more>[^>\n]{0,200})'
    parameter = re.compile(rf"<{of}(?P<word>parameter|param)(?:=| name=){key}>")
    return Tags(call, parameter, f"</{of}{{word}}>", f"</{of}{kind}>")


_M3 = re.escape("]<]minimax[>[")
_GLM = Tags(
    None,
    re.compile(
        r"<(?P<of>ifm\|)?arg_key(?P<end>:\w{1,40})?>\s{0,9}(?P<key>[^<\n]{1,200}?)\s{0,9}"
        r"</(?P=of)?arg_key(?P=end)?>\s{0,9}(?:<ifm\|arg_type>[^<\n]{0,40}</ifm\|arg_type>\s{0,9})?"
        r"<(?P=of)?arg_value(?P=end)?>(?P<more>)"
    ),
    "</{of}arg_value{end}>",
    "",
)
_SOLAR = Tags(
    None,
    re.compile(r"<\|tool_arg:start\|>\s{0,9}(?P<key>[^<\n]{1,200}?)\s{0,9}<\|tool_arg:value\|>(?P<more>)"),
    "<|tool_arg:end|>",
    "",
)
_STYLES = (
    *(
        _xml(kind, of)
        for of in ("", "｜DSML｜", "｜GCML｜", "steptml:", "atem:")
        for kind in ("function", "invoke")
    ),
    Tags(  # MiniMax M3: a parameter's tag is its name
        re.compile(rf'{_M3}\s{{0,9}}<invoke name="(?P<name>[^">\n]{{1,300}})">'),
        re.compile(rf"{_M3}\s{{0,9}}<(?P<key>[^/<>\s]{{1,200}})>(?P<more>)"),
        "]<]minimax[>[</{key}>",
        "]<]minimax[>[</invoke>",
        nests=True,
    ),
    Tags(  # Kimi K3
        re.compile(r'<\|open\|>call tool="(?P<name>[^"\n]{1,300})"[^<\n]{0,100}<\|sep\|>'),
        re.compile(r'<\|open\|>argument key="(?P<key>[^"\n]{1,200})"(?P<more>[^<\n]{0,100})<\|sep\|>'),
        "<|close|>argument<|sep|>",
        "<|close|>call<|sep|>",
    ),
)
_BARE_STYLES = (_GLM, _SOLAR)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


def begins_tagged(source: str, start: int) -> bool:
    """Whether the tag of a tool stands at ``start``."""
    return _call_at(source, start) is not None


def bare_style(source: str, start: int) -> Tags | None:
    """The style in which a parameter begins at ``start``, of those whose tools have no tag."""
    return next((tags for tags in _BARE_STYLES if tags.key.match(source, start)), None)


def _call_at(source: str, start: int) -> tuple[re.Match[str], Tags] | None:
    for tags in _STYLES:
        if tags.call is not None and (found := tags.call.match(source, start)):
            return found, tags
    return None


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
        there = _call_at(source, start)
        assert there is not None
        found, tags = there
        return cls(source, found.end(), found["name"].strip().strip("\"'"), tags)

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
        key, closing = "", tags.closing(None)
        while (found := tags.key.match(source, place)) and len(given) <= _MOST_PARAMETERS:
            key, closing = found["key"].strip("\"'"), tags.closing(found)
            if tags.nests and tags.key.match(source, _after_blanks(source, found.end())):
                given[key], place = self._nested(found, at(schema, "properties", key), schema)
            else:
                value, place = self._value(key, found.end(), closing, schema, {*given, key})
                given[key] = typed(value, key, schema, said=found["more"])
            place = _after_blanks(source, place)
        self.end = place
        closed = tags.call_closes and source.startswith(tags.call_closes, place)
        if closed:
            self.end = place + len(tags.call_closes)
        elif not given:
            raise _Unread(_OTHERWISE)
        if source.find(closing, self.end, self._next_call(self.end)) >= 0:
            raise _Unread(_DOUBT.format(f"the value of {key!r}", repr(closing)) if given else _OTHERWISE)
        return given

    def _nested(
        self, opened: re.Match[str], schema: Any, root: Mapping[str, Any], depth: int = 0
    ) -> tuple[Any, int]:
        """The object or list whose parts stand between the tags of ``opened``, and where it ends."""
        tags, source = self._tags, self._source
        closing, place = tags.closing(opened), _after_blanks(source, opened.end())
        parts: list[tuple[str, Any]] = []
        while (found := tags.key.match(source, place)) and len(parts) <= _MOST_PARAMETERS:
            key = found["key"]
            inner = at(schema, "items") if key == "item" and "array" in _kinds(schema, root) else None
            inner = at(schema, "properties", key) if inner is None else inner
            if tags.key.match(source, _after_blanks(source, found.end())) and depth < _MOST_NESTED:
                value, place = self._nested(found, inner, root, depth + 1)
            else:
                end = source.find(tags.closing(found), found.end())
                if end < 0:
                    raise _Unread(_ENDLESS.format(key, tags.closing(found)))
                value = _typed(_trimmed(source[found.end() : end]), inner, root)
                place = end + len(tags.closing(found))
            parts.append((key, value))
            place = _after_blanks(source, place)
        keys = [key for key, _ in parts]
        if not source.startswith(closing, place):
            raise _Unread(_ENDLESS.format(opened["key"], closing))
        end = place + len(closing)
        if set(keys) == {"item"}:
            return [value for _, value in parts], end
        if len(set(keys)) < len(keys):
            raise _Unread(_TWICE.format(opened["key"]))
        return dict(parts), end

    def _json(self, place: int) -> Any:
        try:
            value, self.end = value_at(self._source, place)
        except ValueError as error:
            raise _Unread(str(error)) from None
        after = _after_blanks(self._source, self.end)
        if self._tags.call_closes and self._source.startswith(self._tags.call_closes, after):
            self.end = after + len(self._tags.call_closes)
        return value

    def _value(
        self, key: str, start: int, closing: str, schema: Mapping[str, Any], given: set[str]
    ) -> tuple[str, int]:
        """The value at ``start``, which ends with ``closing``, and where what follows it begins."""
        tags, source = self._tags, self._source
        if whole := self._character_data(start, closing):
            return whole
        end = source.find(closing, start)
        while end >= 0:
            after = _after_blanks(source, end + len(closing))
            if self._follows(after, key, schema, given):
                self._check_inner(key, source[start:end], schema, given)
                return _trimmed(source[start:end]), after
            end = source.find(closing, end + 1)
        end = source.find(tags.call_closes, start) if tags.call_closes else -1
        value = source[start : max(end, start)]
        if end < 0 or tags.key.search(value):
            raise _Unread(_ENDLESS.format(key, closing))
        return _trimmed(value), end

    def _character_data(self, start: int, closing: str) -> tuple[str, int] | None:
        """The value at ``start`` that is in XML's ``<![CDATA[…]]>``, where it is."""
        source = self._source
        opened = _after_blanks(source, start)
        end = source.find(_CDATA_END, opened) if source.startswith(_CDATA, opened) else -1
        if end < 0:
            return None
        after = _after_blanks(source, end + len(_CDATA_END))
        if not source.startswith(closing, after):
            return None
        return source[opened + len(_CDATA) : end], _after_blanks(source, after + len(closing))

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
    return _typed(value, at(schema, "properties", key), schema, said=said)


def _typed(value: str, schema: Any, root: Mapping[str, Any], *, said: str = "") -> Any:
    kinds = frozenset(_kinds(schema, root))
    written = value.strip()
    if kinds and "string" in kinds:
        return None if "null" in kinds and written == "null" else value
    if not kinds and ('string="true"' in said or 'type="string"' in said):
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
