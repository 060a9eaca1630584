"""Upper bounds of what a request may cost, and the limit of output that keeps it within an amount.

No tokenizer is needed: a token is never less than a byte, so that a text has at most as many tokens as its
UTF-8 has bytes. Images and files are in bytes what they are not in tokens, and have bounds of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..formats.shared.settings import dearer_setting
from ..messages import Assistant, Message, Part, Request, ToolResults, ToolSpec, Usage, User
from .contract import Provider
from .deployments import DeploymentsProvider
from .prices import Pricing, price_of
from .wire.json_types import is_object

__all__ = [
    "IMAGE_TOKENS",
    "LEAST_OUTPUT_TOKENS",
    "USUAL_OUTPUT_TOKENS",
    "InputBound",
    "Unbounded",
    "affordable_output",
    "body_input",
    "most_input",
    "most_usd",
    "pricings_at",
    "usual_output",
]

USUAL_OUTPUT_TOKENS = 4_096
"""The limit of an answer's tokens that a request gets which has none of its own and is paid from a budget."""
LEAST_OUTPUT_TOKENS = 16
"""The least limit that every provider takes."""
IMAGE_TOKENS = 16_384
"""The most tokens of an image, of any size and detail."""
_MINI_IMAGE_TOKENS = 50_000
"""Those of gpt-4o-mini, which counts 5,667 for each tile of an image."""
_THOUGHT_TOKENS = {"low": 2_048, "medium": 8_192, "high": 16_384}
_REQUEST_TOKENS, _TOOL_TOKENS, _MESSAGE_TOKENS = 256, 128, 64
"""The frames in which formats write a request, a tool and a message."""
_ADDED_TOKENS, _CLAUDE_TOOLS_TOKENS = 32, 1_024
"""What providers add beside that, and Anthropic's system prompt for tools."""


_LONGEST_PREFIX = 200
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]+")
_KEYED = re.compile(
    rb'(?<!\\)"(?:bytes|data|file_data|image_url|url)": ?"(?:data:[\w.+/-]{1,127};base64,)?\Z'
)
_LISTED = re.compile(rb'[\[,] ?"\Z')
"""What stands before the content of a file in the body of a request, by every format."""


class Unbounded(Exception):
    """No bound is known of what a request costs; the text says why, without an end."""


@dataclass(frozen=True, slots=True)
class InputBound:
    """The most input tokens of a request: ``text`` bytes, ``media`` tokens of its images and files, and what
    the provider has ``added``. ``encoded`` is the base64 of those media that stand nowhere else in it."""

    text: int
    media: int
    added: int = 0
    encoded: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.text + self.media + self.added


def most_input(request: Request, pricings: Sequence[Pricing]) -> InputBound:
    """The most input tokens of ``request`` at models of ``pricings``. Raises ``Unbounded``."""
    if request.builtins:
        named = ", ".join(request.builtins)
        raise Unbounded(f"what the provider's own tools cost ({named}) is not known before they are used")
    if dearer := dearer_setting(request.settings):
        raise Unbounded(f"what {dearer} costs is not known")
    text = _REQUEST_TOKENS + _bytes(request.system) + sum(map(_tool_bytes, request.tools))
    added = _ADDED_TOKENS
    if request.tools and any("claude" in each.name.lower() for each in pricings):
        added += _CLAUDE_TOOLS_TOKENS
    if request.answer_schema is not None:
        text += _json_bytes(request.answer_schema)
    media, encoded = 0, list[str]()
    for message in request.messages:
        text += _MESSAGE_TOKENS + _message_bytes(message)
        for part in _media(message):
            media += _media_tokens(part, pricings)
            text += _json_bytes(_described(part))
            encoded.append(_encoded(part))
    return InputBound(text, media, added, tuple(_nowhere_else(encoded, request)))


def body_input(body: bytes, bound: InputBound) -> int:
    """The most input tokens of ``body``, which is a request of ``bound`` as it is sent."""
    as_text = len(body) - sum(_as_media(body, data.encode()) for data in bound.encoded)
    return as_text + bound.added + bound.media


def most_usd(pricings: Sequence[Pricing], input_tokens: int, output_tokens: int) -> float | None:
    """The most that so many tokens cost at the dearest of ``pricings``, in US dollars; ``None`` where the
    price of one is not known. Input counts at its dearest: as it is, or written into the provider's cache."""
    most = 0.0
    for pricing in pricings:
        if pricing.is_free:
            continue
        if pricing.unbounded:
            return None
        plain = pricing.cost(Usage(input_tokens, output_tokens))
        if plain is None:
            return None
        stored = pricing.cost(Usage(input_tokens, output_tokens, written_tokens=input_tokens))
        most = max(most, max(plain, stored or 0.0) * pricing.most_surcharge)
    return most


def affordable_output(pricings: Sequence[Pricing], input_tokens: int, usd: float, wanted: int) -> int:
    """The most tokens of an answer, up to ``wanted``, with which a request costs ``usd`` at most; 0 where
    there is no such answer."""

    def fits(output: int) -> bool:
        cost = most_usd(pricings, input_tokens, output)
        return cost is not None and cost <= usd

    if fits(wanted):
        return wanted
    low, high = 0, wanted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def usual_output(request: Request) -> int:
    """The limit of the answer that ``request`` gets where it has none: its thoughts are part of it."""
    return USUAL_OUTPUT_TOKENS + _THOUGHT_TOKENS.get(request.reasoning or "", 0)


def pricings_at(provider: Provider, pricing: Pricing) -> tuple[Pricing, ...]:
    """The prices that a request to ``provider`` may have: ``pricing``, or those of its deployments."""
    if isinstance(provider, DeploymentsProvider):
        return tuple(each.pricing for each in provider.deployments)
    return (pricing,)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _json_bytes(value: Any) -> int:
    return _bytes(_json(value))


def _tool_bytes(tool: ToolSpec) -> int:
    return _TOOL_TOKENS + sum(map(_bytes, (tool.name, tool.description))) + _json_bytes(dict(tool.schema))


def _message_bytes(message: Message) -> int:
    match message:
        case User(text=text, parts=parts):
            return _bytes(text) + sum(_json_bytes(dict(part.data)) for part in parts if not _is_media(part))
        case Assistant(text=text, calls=calls, opaque=opaque):
            own = 0 if opaque is None else _json_bytes(opaque)
            return _bytes(text) + own + sum(_bytes(call.name) + _bytes(call.raw) + 32 for call in calls)
        case ToolResults(outcomes=outcomes):
            shown = (part for each in outcomes for part in each.parts if not _is_media(part))
            said = sum(_json_bytes(dict(part.data)) for part in shown)
            return said + sum(_json_bytes(each.structured or dict(each.result)) + 32 for each in outcomes)


def _media(message: Message) -> Iterator[Part]:
    match message:
        case User(parts=parts):
            yield from (part for part in parts if _is_media(part))
        case ToolResults(outcomes=outcomes):
            yield from (part for each in outcomes for part in each.parts if _is_media(part))
        case Assistant():
            return


def _is_media(part: Part) -> bool:
    return part.type in ("image", "audio") or (part.type == "resource" and "blob" in _resource(part))


def _encoded(part: Part) -> str:
    return str(_resource(part).get("blob", "") if part.type == "resource" else part.data.get("data", ""))


def _described(part: Part) -> dict[str, Any]:
    """What is said of a file beside its content: its type and its name may reach the model as text."""
    if part.type == "resource":
        return {key: value for key, value in _resource(part).items() if key != "blob"}
    return {key: value for key, value in part.data.items() if key != "data"}


def _nowhere_else(encoded: Sequence[str], request: Request) -> Iterator[str]:
    """Those of ``encoded`` that no text of ``request`` has: what is one of them in its body is a file."""
    if not encoded:
        return
    texts = [request.system, *(_json(dict(tool.schema)) for tool in request.tools)]
    texts += [text for tool in request.tools for text in (tool.name, tool.description)]
    texts += [_json(request.answer_schema), _json(dict(request.settings)), _json(request.builtin_options)]
    for message in request.messages:
        texts += _texts(message)
    for data in dict.fromkeys(encoded):
        if _BASE64.fullmatch(data) and not any(data in text for text in texts):
            yield data


def _texts(message: Message) -> Iterator[str]:
    match message:
        case User(text=text, parts=parts):
            yield text
        case Assistant(text=text, calls=calls, opaque=opaque):
            yield from (text, _json(opaque), *(each for call in calls for each in (call.name, call.raw)))
            return
        case ToolResults(outcomes=outcomes):
            yield from (_json([each.structured, dict(each.result)]) for each in outcomes)
            parts = tuple(part for each in outcomes for part in each.parts)
    yield from (_json(_described(part) if _is_media(part) else dict(part.data)) for part in parts)


def _as_media(body: bytes, data: bytes) -> int:
    """The size of ``data`` where ``body`` holds it as a file's content, and not in a text."""
    start = body.find(data)
    end = start + len(data)
    before = body[max(0, start - _LONGEST_PREFIX) : start]
    is_listed = b'"images"' in body and _LISTED.search(before) is not None
    is_media = start >= 0 and body[end : end + 1] == b'"' and (is_listed or _KEYED.search(before) is not None)
    return len(data) if is_media else 0


def _resource(part: Part) -> Mapping[str, Any]:
    found = part.data.get("resource")
    return found if is_object(found) else {}


def _media_tokens(part: Part, pricings: Sequence[Pricing]) -> int:
    if part.type == "audio":
        raise Unbounded("what audio costs is not known before it is heard")
    if part.type == "image":
        is_mini = any("4o-mini" in each.name.lower() for each in pricings)
        return _MINI_IMAGE_TOKENS if is_mini else IMAGE_TOKENS
    if str(_resource(part).get("mimeType", "")).startswith(("audio/", "video/")):
        raise Unbounded("what sound and film cost is not known before they are read")
    contexts = [price_of(each.provider, each.name).context for each in pricings if not each.is_free]
    known = [context for context in contexts if context is not None]
    if len(known) < len(contexts):
        raise Unbounded("how much of a file the model reads is not known")
    return max(known, default=0)
