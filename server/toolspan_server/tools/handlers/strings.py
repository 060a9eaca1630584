"""String tools. What they give is bounded: a result that would be larger is refused, not computed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import InvalidParameters, ToolFailure
from ...schema.keys import PURE
from ._arguments import (
    choice_of,
    integer_of,
    optional_integer,
    optional_text,
    positive_of,
    text_of,
    texts_of,
)
from ._encodings import (
    ALGORITHMS,
    NAMESPACES,
    decoded,
    encoded,
    hashed,
    name_uuid,
    random_uuid,
)
from ._letter_case import CASES
from ._regex import expanded, matches

MAX_OUTPUT = 1_000_000
"""Longest text that a string tool makes, in characters."""

MAX_PARTS = 10_000
"""Most parts that a text is split into, and most matches that a pattern gives."""


@handler("string_case", inert=PURE)
async def string_case(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"text", "case": upper|lower|title|capitalize|swap|snake|kebab|camel|pascal}`` → ``{"text"}``."""
    case = choice_of(arguments, "case", tuple(CASES))
    return {"text": CASES[case](_bounded(text_of(arguments, "text")))}


@handler("string_count", inert=PURE)
async def string_count(arguments: dict[str, Any], context: Context) -> dict[str, int]:
    """``{"text", "what": characters|words|lines|bytes}`` or ``{"text", "of": "na"}`` → ``{"count": 2}``.

    Characters are Unicode code points, bytes those of UTF-8; occurrences of ``of`` don't overlap.
    """
    text = text_of(arguments, "text")
    wanted = optional_text(arguments, "of")
    if wanted is not None:
        return {"count": text.count(_not_empty(wanted, "of"))}
    what = choice_of(arguments, "what", ("characters", "words", "lines", "bytes"), "characters")
    if what == "words":
        return {"count": len(text.split())}
    if what == "lines":
        return {"count": len(text.splitlines())}
    return {"count": len(text.encode("utf-8", "replace")) if what == "bytes" else len(text)}


@handler("string_slice", inert=PURE)
async def string_slice(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"text", "start"?, "end"?}`` → ``{"text"}``: from ``start`` (0 is the first) up to before ``end``.

    Negative places count from the end.
    """
    text = text_of(arguments, "text")
    return {"text": text[integer_of(arguments, "start", 0) : optional_integer(arguments, "end")]}


@handler("string_replace", inert=PURE)
async def string_replace(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"text", "old", "new", "count"?}`` → ``{"text", "replacements"}``; all without ``count``."""
    text, new = text_of(arguments, "text"), text_of(arguments, "new")
    old = _not_empty(text_of(arguments, "old"), "old")
    count = optional_integer(arguments, "count")
    if count is not None and count < 0:
        raise InvalidParameters(["'count' must be at least 0"])
    found = text.count(old)
    replaced = found if count is None else min(found, count)
    _room(len(text) + replaced * (len(new) - len(old)))
    return {"text": text.replace(old, new, replaced), "replacements": replaced}


@handler("string_regex", inert=PURE)
def string_regex(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    r"""``{"text", "pattern"}`` → ``{"matches": [{match, start, end, groups}], "count", "truncated"}``.

    With ``"replacement"`` (``\1`` and ``\g<name>`` are groups) → ``{"text", "replacements"}``. RE2
    syntax: no lookaround, no backreferences, linear time. ``max_matches`` is 100 by default, and all
    when replacing; a search may take one second.
    """
    text, pattern = text_of(arguments, "text"), text_of(arguments, "pattern")
    replacement = optional_text(arguments, "replacement")
    limited = replacement is None or arguments.get("max_matches") is not None
    most = positive_of(arguments, "max_matches", 100, MAX_PARTS) if limited else None
    found = matches(pattern, text, context)
    if replacement is None:
        return _found(islice(found, most), rest=found)
    return _replaced(islice(found, most), text, replacement)


@handler("string_split", inert=PURE)
async def string_split(arguments: dict[str, Any], context: Context) -> dict[str, list[str]]:
    """``{"text", "separator"?, "max_parts"?}`` → ``{"parts"}``; at white space without ``separator``.

    With ``max_parts`` the last part keeps what is left.
    """
    text, separator = text_of(arguments, "text"), optional_text(arguments, "separator")
    if separator is not None:
        _not_empty(separator, "separator")
    given = optional_integer(arguments, "max_parts")
    most = MAX_PARTS if given is None else positive_of(arguments, "max_parts", MAX_PARTS, MAX_PARTS)
    parts = text.split(separator, most if given is None else most - 1)
    if len(parts) > most:
        raise ToolFailure(
            f"The text has more than {MAX_PARTS:,} parts",
            user_action="Give max_parts, or split a shorter text.",
        )
    return {"parts": parts}


@handler("string_join", inert=PURE)
async def string_join(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"parts": ["a", "b"], "separator": ", "}`` → ``{"text": "a, b"}``; no separator by default."""
    parts, separator = texts_of(arguments, "parts"), text_of(arguments, "separator", "")
    _room(sum(map(len, parts)) + len(separator) * max(0, len(parts) - 1))
    return {"text": separator.join(parts)}


@handler("string_base64", inert=PURE)
async def string_base64(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"text", "mode": encode|decode}`` → ``{"text"}``; of UTF-8. Decodes the URL alphabet too."""
    text, mode = text_of(arguments, "text"), choice_of(arguments, "mode", ("encode", "decode"))
    return {"text": encoded(_bounded(text)) if mode == "encode" else decoded(text)}


@handler("string_hash", inert=PURE)
async def string_hash(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"text", "algorithm": sha256|sha512|sha1|md5|blake2b}`` → ``{"hash": hexadecimal, "algorithm"}``.

    Of the text's UTF-8; sha256 by default.
    """
    algorithm = choice_of(arguments, "algorithm", ALGORITHMS, "sha256")
    return {"hash": hashed(text_of(arguments, "text"), algorithm), "algorithm": algorithm}


@handler("string_uuid", inert=PURE)
async def string_uuid(arguments: dict[str, Any], context: Context) -> dict[str, str]:
    """``{"version": 4}`` → ``{"uuid"}``, random; ``{"version": 5, "name", "namespace"}``: always the same.

    ``namespace`` is dns, url, oid, x500 or a UUID.
    """
    version = integer_of(arguments, "version", 4)
    if version == 4:
        return {"uuid": random_uuid()}
    if version != 5:
        raise InvalidParameters(["'version' must be one of: 4, 5"])
    namespace = text_of(arguments, "namespace", NAMESPACES[0])
    return {"uuid": name_uuid(text_of(arguments, "name"), namespace)}


def _found(wanted: Iterator[Any], rest: Iterator[Any]) -> dict[str, Any]:
    listed: list[dict[str, Any]] = []
    length = 0
    for one in wanted:
        groups = list(one.groups())
        length += len(one.group()) + sum(len(group or "") for group in groups)
        _room(length)
        listed.append({"match": one.group(), "start": one.start(), "end": one.end(), "groups": groups})
    return {"matches": listed, "count": len(listed), "truncated": next(rest, None) is not None}


def _replaced(wanted: Iterator[Any], text: str, replacement: str) -> dict[str, Any]:
    pieces: list[str] = []
    length = place = count = 0
    for one in wanted:
        count += 1
        new = expanded(one, replacement)
        pieces += [text[place : one.start()], new]
        length += one.start() - place + len(new)
        _room(length)
        place = one.end()
    _room(length + len(text) - place)
    return {"text": "".join([*pieces, text[place:]]), "replacements": count}


def _bounded(text: str) -> str:
    _room(len(text))
    return text


def _room(length: int) -> None:
    if length > MAX_OUTPUT:
        raise ToolFailure(
            f"The result would have {length:,} characters, the limit is {MAX_OUTPUT:,}",
            user_action="Work on a shorter text.",
        )


def _not_empty(text: str, name: str) -> str:
    if not text:
        raise InvalidParameters([f"'{name}' must have at least 1 character"])
    return text
