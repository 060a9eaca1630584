"""What a conversation is made of, the same for every provider.

Plain data: no I/O, no provider's words. Formats render it to a wire and parse it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from .chat_traits import USUAL, ChatTraits
from .metering import Meter

Json = Any
"""Any JSON value."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is to see it. ``schema`` is the original JSON Schema of its arguments.

    ``output_schema`` is that of its structured results, if the server declares one. ``strict`` asks the
    provider to enforce the schema, which is done only where nothing is lost by it. ``late`` is 0 for a tool
    that a conversation began with; one that came into it later has a greater number, and comes after those
    of smaller numbers in every request, so that what was sent before stays as it was.
    """

    server: str
    name: str
    description: str
    schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    strict: bool = False
    late: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the tool: its server's name and its own."""
        return (self.server, self.name)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool. ``name`` is the wire name that the model wrote.

    ``arguments`` is ``None`` when what the model sent is no JSON object; ``malformed`` then says why,
    and ``raw`` holds what it sent. ``opaque`` is provider state to be sent back verbatim.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    malformed: str = ""
    opaque: Json = None


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a tool's output, as MCP gives it: ``type`` text, image, audio, resource_link, resource."""

    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """Why what is done after a result needs care. ``secret``: it looks like a secret, as ``what`` says.
    ``foreign``: its words come from ``source``, which is neither the user nor this machine."""

    kind: Literal["secret", "foreign"]
    what: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool call came to, both for people and for the model.

    ``result`` is the tool result object that users rely on (``success``, ``result`` or ``error`` …,
    ``tool_name``, ``execution_time_ms``); ``parts`` are the MCP content blocks behind it, and ``structured``
    is MCP's ``structuredContent`` where the server sent one. Without parts, models are shown ``result``.
    ``approval`` is the answer of who was asked to allow the call (``Approval.as_dict``), ``None`` where no
    approval was needed. ``cut`` says that models are shown only so many characters of its text. ``marks`` say
    what it brought into the conversation that needs care; ``None`` where that is not known, as of a result
    that somebody else sent. They tell nothing to models, and do not count in comparisons.
    """

    call_id: str
    name: str
    result: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    structured: Json = None
    approval: Mapping[str, Any] | None = None
    cut: int | None = None
    marks: tuple[Mark, ...] | None = field(default=None, compare=False)

    @property
    def failed(self) -> bool:
        """Whether the tool did not succeed."""
        return not self.result.get("success")


@dataclass(frozen=True, slots=True)
class User:
    """A message of the user, and the images, audio and documents attached to it.

    A part is an ``image`` or ``audio`` with ``data`` (base64) and ``mimeType``, or a ``resource`` with
    ``blob`` or ``text``, as MCP writes content. ``typed`` is what of it a person typed, word for word; empty
    where nobody did, ``None`` where that is not known. ``marks`` say what else went into it that needs care.
    Neither tells anything to models, nor counts in comparisons.
    """

    text: str
    parts: tuple[Part, ...] = ()
    typed: str | None = field(default=None, compare=False)
    marks: tuple[Mark, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a model's words come from: a page on the web, or a document.

    ``start`` and ``end`` are the places in the message's text that it stands for, in characters, without
    ``end`` itself; ``None`` where the provider does not say. ``quoted`` is what the source says there.
    """

    url: str
    title: str = ""
    start: int | None = None
    end: int | None = None
    quoted: str = ""

    def as_dict(self) -> dict[str, Any]:
        """``{"url", "title", "start", "end", "quoted"}``, without what is not known."""
        known = {name: getattr(self, name) for name in ("url", "title", "start", "end", "quoted")}
        return {name: value for name, value in known.items() if value not in ("", None)}

    def moved(self, places: int) -> Citation:
        """The same where ``places`` characters more stand before the text."""
        if self.start is None or self.end is None:
            return self
        return replace(self, start=self.start + places, end=self.end + places)


@dataclass(frozen=True, slots=True)
class Assistant:
    """The model's message: text, tool calls, or both. ``opaque`` is its wire form where that must be echoed,
    valid for the format ``opaque_format`` only, and only at the provider ``origin`` (empty: not known), as is
    the ``opaque`` of its calls. ``incomplete`` marks what broke off and was kept. ``citations`` are the
    sources that the provider names for the text. ``written`` is the text as the model wrote it, where its
    calls were taken out of it: so it goes back to the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    opaque: Json = None
    opaque_format: str = ""
    incomplete: bool = False
    origin: str = ""
    citations: tuple[Citation, ...] = ()
    written: str = ""


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The outcomes of one assistant turn's calls: one for each call, in their order."""

    outcomes: tuple[ToolOutcome, ...]


Message = User | Assistant | ToolResults
"""One message of a conversation: a person's, a model's, or the results of its tool calls."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests, with the provider's own numbers in ``raw``.

    ``cached_tokens`` of the input were read from the provider's cache, ``written_tokens`` of it were put
    there; ``reasoning_tokens`` are part of the output. ``dearer``: the provider says that it answered by a
    service which may cost more than the standard price.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    raw: tuple[Mapping[str, Any], ...] = ()
    written_tokens: int = 0
    dearer: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.raw + other.raw,
            self.written_tokens + other.written_tokens,
            self.dearer or other.dearer,
        )

    def as_dict(self) -> dict[str, int]:
        """The sums, as JSON."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "written_tokens": self.written_tokens,
        }


ToolChoice = Literal["auto", "none", "required"] | tuple[str, str]
"""Whether the model calls tools; (server, tool) is the one that it must call."""


ReasoningEffort = Literal["none", "low", "medium", "high"]
"""How much a model is to think before it answers."""

EFFORTS: tuple[ReasoningEffort, ...] = ("none", "low", "medium", "high")
"""Every ``ReasoningEffort``, from the least."""


@dataclass(frozen=True, slots=True)
class WireOptions:
    """What a provider knows of itself and its model, and adds to a request before its format writes it.

    ``chat`` is what its Chat Completions takes. ``thinking`` says that the model is known to think, which
    rules out some choices. ``drop_unbound`` lets the provider leave out thoughts of the model that belong to
    a beginning which has changed since, rather than refuse the request. ``standard_tier`` is what the service
    of the standard price is called, where the account may have another one by default.
    """

    chat: ChatTraits = USUAL
    thinking: bool = False
    drop_unbound: bool = False
    standard_tier: str = ""


_USUAL_WIRE = WireOptions()


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: everything that a format needs to write it.

    ``vision`` and ``audio`` say whether the model takes images and sound; where it does not, a placeholder
    stands for each. ``max_result_bytes`` cuts the text of each tool result, and the cut is stated in it.
    ``builtins`` are tools of the provider's own by their common names (``web_search``). ``parallel`` is
    whether several calls may come in one turn, where the provider lets one choose. ``stream`` asks for the
    answer in pieces. ``trim`` lets the oldest exchanges be left out where the model's context is known to
    be too short for all. ``reasoning`` is the effort asked for; ``None`` leaves it to the model.
    ``answer_schema`` is the JSON Schema that the answer has to fit. ``settings`` are further ones of the
    answer by their names in Chat Completions (``top_p``, ``seed``, …: ``formats.shared.settings``). ``cache``
    lets the provider keep the request's beginning where that only saves; ``conversation`` is the same for all
    requests of one conversation. ``defer_tools``: beyond that many tools the model searches for those that it
    needs, where the provider has such a search; ``None`` leaves it to what it takes at once. ``wire`` is
    added by the provider. ``meter`` follows each attempt to send it. ``caps_price``: it must not cost more
    than the known price. A provider that has the model from several others is told to pay none of them more,
    and one whose accounts have a default service is told to answer by the standard one.
    """

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    vision: bool = True
    max_result_bytes: int = 1_048_576
    builtins: tuple[str, ...] = ()
    parallel: bool | None = None
    stream: bool = False
    audio: bool = False
    trim: bool = False
    reasoning: ReasoningEffort | None = None
    answer_schema: Mapping[str, Any] | None = None
    cache: bool = True
    conversation: str = ""
    builtin_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    defer_tools: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wire: WireOptions = _USUAL_WIRE
    meter: Meter | None = field(default=None, compare=False, repr=False)
    caps_price: bool = False


StopReason = Literal["stop", "length", "context", "refusal", "malformed", "error", "pause", "other"]
"""Why a turn ended.

``length``: at a limit of tokens that its answer may have; ``context``: the model's whole context is full;
``refusal``: the model refused, or a filter of the provider blocked the
question or the answer; ``malformed``: the model wrote a call that the provider cannot read; ``error``: the
provider ended it for a reason of its own; ``pause``: it wants the turn sent back as it is, to go on with it;
``other``: no reason, or an unspecific one, as many compatible servers give.
"""

BROKEN_STOPS: frozenset[StopReason] = frozenset({"length", "context", "refusal", "malformed", "error"})
"""The reasons after which a turn is no whole one, and no call of it is made."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider said that broke its stream off: the ``status`` that it would have had as an answer of
    HTTP, the provider's word for its ``kind``, and whether the same request may be answered later
    (``None``: not known)."""

    status: int
    kind: str = ""
    retryable: bool | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model. It is a tool turn if it has calls, whatever ``stop`` is.

    A turn that was cut off or broken (``stop`` is among ``BROKEN_STOPS``) has no calls to carry out: any of
    them may be incomplete in a way that cannot be seen. They are in ``cut_calls``, to be shown and not to be
    executed. ``incomplete`` is a turn whose stream broke off: what came is kept, and again no call of it is
    executed; ``trouble`` then says why, for people to read, and ``failure`` for programs. ``attempts`` counts
    how often the provider was asked.
    ``rescued``: the model wrote its calls as text, from which they were taken.
    ``only_thought``: all of its text was thoughts in tags.
    ``finish`` is the provider's own word for why it ended. ``notes`` say what was left out of the request so
    that it could be answered, and what else is odd, for people to read.
    """

    message: Assistant
    stop: StopReason = "stop"
    usage: Usage = field(default_factory=Usage)
    cut_calls: tuple[ToolCall, ...] = ()
    incomplete: bool = False
    trouble: str = ""
    attempts: int = 1
    notes: tuple[str, ...] = ()
    rescued: bool = False
    finish: str = ""
    failure: Failure | None = None
    only_thought: bool = False
