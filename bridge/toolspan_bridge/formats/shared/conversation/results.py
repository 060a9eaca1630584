"""Renders a tool's outcome for a model: one text, and the media that the format supports."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ....messages import Json, Part, ToolOutcome
from ..json_values import (
    MAX_NESTING,
    as_list,
    as_object,
    clean,
    compact,
    load,
    nesting,
    text,
)
from .media import IMAGES, PDF, media_type

NO_OUTPUT = "(no output)"

_ERROR = "[tool error]"


@dataclass(frozen=True, slots=True)
class Media:
    """A file besides the text. ``data`` is base64, ``mime`` the type detected from its first bytes."""

    mime: str
    data: str
    name: str = ""

    @property
    def is_image(self) -> bool:
        return self.mime.startswith("image/")


class MediaQuota:
    """How many more files of a kind fit, by the prefix of their MIME type. Other kinds are unlimited."""

    def __init__(self, left: Mapping[str, int] | None = None) -> None:
        self._left = dict(left or {})

    def take(self, mime: str, data: str = "") -> bool:
        """Use one of the quota for the file of base64 ``data``; returns whether there was any left."""
        kind = next((kind for kind in self._left if mime.startswith(kind)), None)
        if kind is None:
            return True
        self._left[kind] -= 1
        return self._left[kind] >= 0


@dataclass(frozen=True, slots=True)
class MediaSupport:
    """The content that a format supports in the results of a turn.

    ``media`` are the MIME types besides text, ``max_media_bytes`` and ``quota`` their limits, ``structured``
    the JSON values that may accompany a text, and ``later`` the types whose files follow after the text.
    """

    max_text_bytes: int
    media: frozenset[str] = frozenset()
    max_media_bytes: int = 20_000_000
    quota: MediaQuota = field(default_factory=MediaQuota)
    structured: Literal["none", "object", "any"] = "none"
    later: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RenderedResult:
    """A tool's result for the model.

    ``text`` has no error mark and may be empty. It contains the structured content where that cannot be
    separate.
    """

    failed: bool
    text: str
    structured: Json = None
    media: tuple[Media, ...] = ()

    @property
    def text_with_error_mark(self) -> str:
        """The text with the error mark, never empty: for formats without a flag."""
        rendered = self.text or NO_OUTPUT
        return f"{_ERROR} {rendered}" if self.failed else rendered


def render_result(outcome: ToolOutcome, support: MediaSupport) -> RenderedResult:
    """``outcome`` for a format with this ``support``.

    Unsupported content becomes a placeholder that describes it; nothing is fetched.
    """
    blocks: list[str] = []
    media: list[Media] = []
    structured, duplicate = _structured(outcome)
    for part in outcome.parts:
        if duplicate is not None and part.type == "text" and _is_text_of(part, duplicate):
            continue
        rendered, file = _part(part, support)
        blocks += [rendered] if rendered.strip() else []
        media += [file] if file is not None else []
    if not outcome.parts and structured is None:
        blocks = _result_text(outcome.result)
    if structured is not None and (outcome.failed or not _fits(structured, support)):
        blocks.append(compact(structured))
        structured = None
    rendered = _cut("\n\n".join(blocks), support.max_text_bytes)
    return RenderedResult(outcome.failed, rendered, structured, tuple(media))


def render_parts(parts: Sequence[Part], support: MediaSupport) -> list[str | Media]:
    """The parts of a question, in order: files that the format supports, and text for the others."""
    found: list[str | Media] = []
    for part in parts:
        rendered, file = _part(part, support)
        found += [rendered] if rendered.strip() else []
        found += [file] if file is not None else []
    return found


def _structured(outcome: ToolOutcome) -> tuple[Json, Json]:
    """The structured content to send, and the JSON value whose text form would repeat it.

    Servers wrap other values than objects as ``{"result": …}``: then only the text is sent.
    """
    structured = _bounded(outcome.structured)
    if structured is None:
        return None, None
    inside = as_object(structured)
    if inside is not None and inside.keys() == {"result"}:
        inner = inside["result"]
        if any(part.type == "text" and _is_text_of(part, inner) for part in outcome.parts):
            return None, None
    return structured, structured


def _is_text_of(part: Part, value: Json) -> bool:
    rendered = text(clean(part.data.get("text")))
    if isinstance(value, str) and rendered == value:
        return True
    try:
        return bool(load(rendered) == value)
    except ValueError:
        return False


def _bounded(value: Json) -> Json:
    if nesting(value) > MAX_NESTING:
        return f"[a value nested deeper than {MAX_NESTING} levels omitted]"
    return clean(value)


def _fits(structured: Json, support: MediaSupport) -> bool:
    kind = "any" if as_object(structured) is None else "object"
    small = len(compact(structured).encode()) <= support.max_text_bytes
    return small and support.structured in (kind, "any")


def _result_text(result: Mapping[str, Any]) -> list[str]:
    if not result.get("success"):
        words = (text(result.get("error")), text(result.get("user_action")))
        return [clean(". ".join(word.rstrip(".") for word in words if word.strip()))]
    value = _bounded(result.get("result"))
    if value is None:
        return []
    return [value if isinstance(value, str) else compact(value)]


def _part(part: Part, support: MediaSupport) -> tuple[str, Media | None]:
    data: Mapping[str, Any] = clean(part.data)
    audience = as_object(data.get("annotations")) or {}
    if as_list(audience.get("audience")) == ["user"]:
        return f"[{part.type} for the user only]", None
    if part.type == "text":
        return text(data.get("text")), None
    if part.type == "resource_link":
        return _link(data), None
    if part.type == "resource":
        return _resource(as_object(data.get("resource")) or {}, support)
    return _file(text(data.get("data")), text(data.get("mimeType")) or part.type, "", support)


def _link(data: Mapping[str, Any]) -> str:
    size = data.get("size")
    facts = (
        text(data.get("uri")),
        text(data.get("title")) or text(data.get("name")),
        text(data.get("mimeType")),
        _size(size) if isinstance(size, int) else "",
        text(data.get("description")),
    )
    return f"[resource link: {', '.join(filter(None, facts))}]"


def _resource(resource: Mapping[str, Any], support: MediaSupport) -> tuple[str, Media | None]:
    uri = text(resource.get("uri"))
    if "text" in resource:
        return f"[resource {uri}]\n{text(resource['text'])}", None
    mime = text(resource.get("mimeType")) or "application/octet-stream"
    return _file(text(resource.get("blob")), mime, uri, support)


def _file(data: str, declared: str, name: str, support: MediaSupport) -> tuple[str, Media | None]:
    data = "".join(data.split())
    mime, size = _detected_type(data, declared), len(data) * 3 // 4 - data[-2:].count("=")
    what = f"{mime} {name}".strip()
    if not (mime in support.media and size <= support.max_media_bytes and support.quota.take(mime, data)):
        return f"[{what} omitted, {_size(size)}]", None
    return f"[{what} follows below]" if mime in support.later else "", Media(mime, data, name)


def _detected_type(data: str, declared: str) -> str:
    """The type by the first bytes. A declared type that contradicts them is ignored."""
    try:
        head = base64.b64decode(data[:64], validate=True)
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "unreadable"
    mime = declared.partition(";")[0].strip().lower()
    detected = media_type(head)
    return detected or (f"unrecognized {mime}" if mime in IMAGES | PDF else mime)


def _size(size: int) -> str:
    for unit, factor in (("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{-(-size // factor)} {unit}"
    return f"{max(size, 0)} B"


def _cut(rendered: str, limit: int) -> str:
    encoded = rendered.encode()
    if len(encoded) <= limit:
        return rendered
    kept = encoded[:limit].decode("utf-8", "ignore")
    detected = f"the first {len(kept.encode())} of {len(encoded)} bytes; max_result_bytes is {limit}"
    return f"{kept}\n[cut here: {detected}]"
