"""Tools for models that know of none: said in the system prompt, called in the text, answered by the user.

Over any other format, which carries the conversation as plain text and has no part in the tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...deltas import CallDelta, Delta, TextDelta
from ...messages import Assistant, Message, Part, Reply, Request, ToolSpec, User
from ..names import NameTable
from ..shared.contract import Format, Loss, StreamParser, WireError
from ..shared.conversation.history import Answered, Asked, Said, turns
from ..shared.conversation.results import Carries, show
from ..shared.json_values import clean, compact, text
from ..shared.replies.parse import WireCall, reply
from ..shared.schemas import Plan
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from ..shared.tools.compiled import restore as restore_tool
from .parse import CallScanner, Found

__all__ = ["Prompted"]

_NAME = "prompt"
_PLAN = Plan()
_ANY_ID = re.compile(r".*", re.DOTALL)
_SHOWN = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_HOW = """\
# Tools

You can call the tools below. To call one, end your answer with a block like this, one for each call:

<tool_call>
{"name": "NAME", "arguments": {}}
</tool_call>

The arguments are a JSON object by the tool's JSON Schema. Results come in the next message, as
<tool_result> blocks in the order of the calls: wait for them, never write them yourself. When you need no
tool, answer without a block."""
_MUST_CALL = "Answer with a call of one of the tools."
_MUST_CALL_IT = "Answer with a call of the tool {}."
_ONE_CALL = "Make at most one call in an answer."


class Prompted:
    """The ``prompt`` format over ``base``: a ``Format`` like any other."""

    def __init__(self, base: Format) -> None:
        self._base = base
        self.BUILTINS: Mapping[str, Any] = getattr(base, "BUILTINS", {})

    def render_tools(self, tools: Sequence[ToolSpec], names: NameTable) -> str:
        """The part of the system prompt that tells of ``tools``; empty when there are none."""
        told = _prepare(tools, names).rendered(_tool)
        return "\n\n".join([_HOW, *(tool["told"] for tool in told)]) if told else ""

    def render_request(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The body of the base format, in plain text: no tools, no calls, no results."""
        tools = () if request.tool_choice == "none" else request.tools
        said = [request.system, self.render_tools(tools, names), *_orders(request, names)]
        plain = replace(
            request,
            messages=tuple(_messages(request)),
            system="\n\n".join(filter(None, (part.strip() for part in said))),
            tools=(),
            tool_choice="auto",
            parallel=None,
        )
        return self._base.render_request(plain, NameTable.of(()))

    def parse_reply(self, body: Any) -> Reply:
        """The base format's reply, the calls taken out of its text. Raises ``FormatError``."""
        return _with_calls(self._base.parse_reply(body))

    def parse_stream(self) -> StreamParser:
        """The base format's stream; what may become a call is held back until it is none."""
        return _Stream(self._base.parse_stream())

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> WireError:
        """As the base format reads it."""
        return self._base.parse_error(status, headers, body)

    def losses(self, tools: Sequence[ToolSpec]) -> list[Loss]:
        """What a description in words cannot say of ``tools``."""
        return list(_prepare(tools, NameTable.of(tools)).losses)

    def restore(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Unwrapped, and whole floats as integers."""
        return restore_tool(tool, arguments, _PLAN)


class _Paragraphs:
    """Text around calls: without blanks at its ends, an empty line where a call stood."""

    def __init__(self) -> None:
        self._held = ""
        self._fresh = True
        self._any = False

    def add(self, piece: str) -> str:
        """More text; gives what to show now."""
        piece = self._held + piece
        if self._fresh:
            piece = piece.lstrip()
        shown = piece.rstrip()
        self._held = piece[len(shown) :]
        if not shown:
            return ""
        between = "\n\n" if self._fresh and self._any else ""
        self._fresh, self._any = False, True
        return between + shown

    def break_off(self) -> None:
        """A call stands here."""
        self._held, self._fresh = "", True


class _Stream:
    def __init__(self, base: StreamParser) -> None:
        self._base = base
        self._scanner = CallScanner()
        self._text = _Paragraphs()
        self._count = 0

    @property
    def finished(self) -> bool:
        return self._base.finished

    def feed(self, chunk: bytes) -> list[Delta]:
        if self._base.finished:
            return []
        deltas = [shown for delta in self._base.feed(chunk) for shown in self._shown(delta)]
        return [*deltas, *self._told(self._scanner.close())] if self._base.finished else deltas

    def end(self) -> Reply:
        return _with_calls(self._base.end())

    def _shown(self, delta: Delta) -> Iterator[Delta]:
        if isinstance(delta, TextDelta):
            yield from self._told(self._scanner.feed(delta.text))
        else:
            yield delta

    def _told(self, parts: Iterable[Found]) -> Iterator[Delta]:
        for found in parts:
            if isinstance(found, WireCall):
                self._text.break_off()
                arguments = found.arguments
                written = arguments if isinstance(arguments, str) else compact(arguments)
                yield CallDelta(self._count, text(found.name), written)
                self._count += 1
            elif said := self._text.add(found):
                yield TextDelta(said)


def _with_calls(said: Reply) -> Reply:
    """What the model said in text alone. A turn that broke off carries out nothing, as ever."""
    cut = said.incomplete or said.stop == "length"
    scanner, around = CallScanner(), _Paragraphs()
    words: list[str] = []
    calls: list[WireCall] = []
    for found in (*scanner.feed(said.message.text), *scanner.close(cut=cut)):
        if isinstance(found, WireCall):
            around.break_off()
            calls.append(found)
        else:
            words.append(around.add(found))
    body = {"text": said.message.text}
    read = reply("".join(words), calls, body=body, stop=said.stop, usage=said.usage, format_name=_NAME)
    if not said.incomplete:
        return read
    message = replace(said.message, text=read.message.text, calls=())
    return replace(said, message=message, cut_calls=read.message.calls or read.cut_calls)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN)


def _tool(tool: WireTool) -> dict[str, Any]:
    lines = (f"## {tool.name}", tool.description, f"Arguments: {compact(tool.schema)}")
    return {"told": "\n".join(filter(None, lines))}


def _orders(request: Request, names: NameTable) -> Iterator[str]:
    """What else the system prompt asks of the model, where the API cannot enforce it."""
    if not request.tools or request.tool_choice == "none":
        return
    sent = (tool.name for tool in _prepare(request.tools, names).tools)
    name = must_call(request.tool_choice, sent, names)
    if name is not None:
        yield _MUST_CALL_IT.format(name)
    elif request.tool_choice == "required":
        yield _MUST_CALL
    if request.parallel is False:
        yield _ONE_CALL


def _messages(request: Request) -> Iterator[Message]:
    for turn in turns(request.messages, _ANY_ID):
        if isinstance(turn, Asked):
            yield User(turn.text, turn.parts)
        elif isinstance(turn, Said):
            yield Assistant("\n\n".join(filter(None, (turn.message.text.strip(), *_calls_told(turn)))))
        else:
            yield _results(turn, request)


def _calls_told(turn: Said) -> Iterator[str]:
    """The calls as the model should have written them; what it wrote where that cannot be read."""
    for call, made in zip(turn.calls, turn.message.calls, strict=True):
        whole = compact({"name": call.name, "arguments": call.arguments})
        yield f"<tool_call>\n{made.raw if made.arguments is None and made.raw else whole}\n</tool_call>"


def _results(turn: Answered, request: Request) -> User:
    """All results in the user's name, their images after them."""
    images = _SHOWN if request.vision else frozenset[str]()
    carries = Carries(request.max_result_bytes, media=images, later=images)
    told: list[str] = []
    parts: list[Part] = []
    for call, outcome in turn.results:
        shown = show(outcome, carries)
        said = clean(shown.marked_text).replace("</tool_result", "<\\/tool_result")
        told.append(f'<tool_result name="{call.name}">\n{said}\n</tool_result>')
        parts.extend(Part("image", {"data": m.data, "mimeType": m.mime}) for m in shown.media)
    return User("\n".join(told), tuple(parts))
