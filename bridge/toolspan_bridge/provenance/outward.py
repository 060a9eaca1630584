"""Which calls carry data outward after a conversation has read a secret, or content from outside.

What a call brought is marked when it ends, and the marks stay with its result: they are saved, copied and
compacted with it. A result without marks of its own came from somebody else, and counts as foreign.

Who decides how far a call reaches is our own server, for its tools (``dev.toolspan/reach``). Whatever another
server says of itself, its tools reach outside. Its hints decide only whether a call that comes after foreign
content changes something; after a secret they decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import anyio.to_thread

from toolspan_server.engines.upstreams import ListedTool

from ..messages import Assistant, Mark, Message, ToolCall, ToolOutcome, ToolResults, User
from .secrets import secret_lines, secret_names, secret_texts, strings_of

__all__ = [
    "LOCAL",
    "REACH_META",
    "Conversed",
    "MadeCall",
    "Outward",
    "Reach",
    "found_marks",
    "marks_of",
    "marks_of_unknown",
    "reach_of",
]

REACH_META = "dev.toolspan/reach"
"""The key of a tool's ``_meta`` by which our own server says how far its calls reach."""
LOCAL: Mapping[str, Any] = {"_meta": {REACH_META: "local"}}
"""The details of a tool of the bridge's own whose calls stay here."""

Reach = Literal["local", "code", "outside"]
_TOOL = "works-as:"
_VERBS = """
get list read search find fetch query show describe count check lookup look view browse select head tail stat
status info inspect explain compare preview download export summarize summarise retrieve load
echo ping calculate compute convert translate parse validate
"""
_READING = frozenset(_VERBS.split())
"""Verbs by whose names tools change nothing, where their server gives no hint."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL = re.compile(r"(?<![a-zA-Z0-9+.-])[0-9+.-]*([a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>\\^`{|}]+)")
_DOMAIN = re.compile(
    r"(?<![a-z0-9.-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,127}[a-z]{2,63}(?=[/:?#]|$)", re.IGNORECASE
)
"""A name has at most 127 labels; none is looked for from within a longer one, which would take long."""
_ADDRESSES = "url urls uri link links href website site domain host hostname endpoint address page webpage"
_ADDRESS_KEYS = frozenset(_ADDRESSES.split())
_TOKEN = re.compile(r"[^\s\"'<>(){}\[\],;]+")
_MOST_SHOWN = 3
_MOST_PIECES = 60
_LONGEST_ARGUMENT = 65_536
_LEAST_LINE = 24
_LEAST_TOKEN = 6


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that a model asked for. ``trusted`` says that ``tool`` is described by a server of our own, or
    performed here."""

    server: str
    tool: ListedTool
    arguments: Mapping[str, Any]
    trusted: bool


@dataclass(frozen=True, slots=True)
class Outward:
    """Why a call needs a person's word: it carries data outward, to ``destination``, ``after`` something.
    Each is a sentence for people."""

    destination: str
    after: tuple[str, ...]

    @property
    def facts(self) -> tuple[str, ...]:
        """Both facts: where the data would go, and what was read before."""
        return (self.destination, *self.after)

    @property
    def reason(self) -> str:
        """Both facts in one sentence."""
        return f"{self.destination}; {'; '.join(self.after)}"


def reach_of(call: MadeCall) -> Reach:
    """How far ``call`` reaches; outside, unless somebody whom we trust says otherwise."""
    if not call.trusted:
        return "outside"
    told = call.tool.meta.get(REACH_META)
    if told == "code":
        opens = call.tool.annotations.get("openWorldHint")
        return "code" if not isinstance(opens, bool) else "outside" if opens else "local"
    return "local" if told == "local" else "outside"


def marks_of(call: MadeCall, outcome: ToolOutcome) -> tuple[Mark, ...]:
    """What ``outcome``, of ``call``, brought into its conversation."""
    texts = _texts(outcome)
    found = [Mark("secret", what) for what in secret_texts(texts)]
    if not outcome.failed:
        lines = strings_of(outcome.result.get("result")) if _is(call.tool, "Grep") else ()
        named = [*secret_names(call.arguments), *secret_lines(lines)]
        found += [Mark("secret", what) for what in dict.fromkeys(named)]
    if reach_of(call) == "outside":
        found.append(Mark("foreign", _origin(call), _source(call)))
    return tuple(found)


def marks_of_unknown(call: ToolCall | None, outcome: ToolOutcome) -> tuple[Mark, ...]:
    """The marks of a result that somebody else sent, as a client of the gateway."""
    named = () if call is None else secret_names(call.arguments)
    found = [Mark("secret", what) for what in (*named, *secret_texts(_texts(outcome)))]
    return (
        *found,
        Mark("foreign", f"a result of {outcome.name} that was sent with the conversation", _SENDER),
    )


async def found_marks(call: MadeCall, outcome: ToolOutcome) -> tuple[Mark, ...]:
    """As ``marks_of``; a long result is read off the event loop."""
    if _is_long([outcome]):
        return await anyio.to_thread.run_sync(marks_of, call, outcome)
    return marks_of(call, outcome)


class Conversed:
    """What a conversation holds so far that calls could carry outward. ``inherited`` are the marks of the
    conversation that started it; ``is_own`` tells the servers of our own."""

    def __init__(
        self, inherited: Iterable[Mark] = (), is_own: Callable[[str], bool] = lambda _name: False
    ) -> None:
        self.marks: list[Mark] = list(dict.fromkeys(inherited))
        self._is_own = is_own
        self._typed: list[str] = []
        self._results: list[tuple[str, ToolOutcome]] = []
        self._searched: set[str] = set()
        self._calls: dict[str, ToolCall] = {}
        self._seen = 0

    async def follow(self, messages: Sequence[Message]) -> None:
        """Take in what is new in ``messages``, which are all of the conversation; off the event loop where
        that is much to read."""
        new = messages[self._seen :]
        self._seen = len(messages)
        results = (each.outcomes for each in new if isinstance(each, ToolResults))
        texts = sum(len(each.text) for each in new if isinstance(each, User))
        if texts > _LONG or _is_long([each for some in results for each in some if each.marks is None]):
            await anyio.to_thread.run_sync(self._follow, new)
        else:
            self._follow(new)

    def _follow(self, messages: Sequence[Message]) -> None:
        for message in messages:
            match message:
                case User():
                    self._take_user(message)
                case Assistant():
                    self._calls |= {call.id: call for call in message.calls}
                    self._add(_CITED for _ in message.citations[:1])
                case ToolResults():
                    for outcome in message.outcomes:
                        self._take(outcome)

    def outward(self, call: MadeCall, before: Iterable[Mapping[str, Any]] = ()) -> Outward | None:
        """Why ``call`` needs a person's word; ``None`` where it does not. ``before`` are the arguments of the
        calls of the same turn, itself included: the model need not see a secret to have it sent."""
        reach = reach_of(call)
        if reach == "local":
            return None
        secrets = [mark.what for mark in self.marks if mark.kind == "secret"]
        secrets += [what for arguments in before for what in secret_names(arguments)]
        foreign = [mark.what for mark in self.marks if mark.kind == "foreign"]
        if secrets:
            to = {call.server, *_hosts(call.arguments)}
            others = [mark.what for mark in self.marks if mark.kind == "foreign" and mark.source not in to]
            return Outward(_destination(call, reach), tuple(_told(secrets, others)))
        if foreign and (_changes(call, reach) or (reach == "outside" and self._carries(call))):
            return Outward(_destination(call, reach), tuple(_told(secrets, foreign)))
        return None

    def _take_user(self, message: User) -> None:
        typed, _, attached = message.text.partition("\n\n[")
        self._typed.append(typed)
        for origin in _ORIGIN.finditer(f"[{attached}"):
            uri, server = origin.groups()
            if not self._is_own(server):
                self._add([Mark("foreign", f"{uri} of the server {server!r}", server)])
            self._add(Mark("secret", what) for what in secret_names({"uri": uri}))
        texts = [attached, *strings_of([part.data for part in message.parts if "data" not in part.data])]
        self._add(Mark("secret", what) for what in secret_texts(texts))
        for part in message.parts:
            self._add(Mark("secret", what) for what in secret_names({"uri": list(_uris(part.data))}))

    def _take(self, outcome: ToolOutcome) -> None:
        marks = outcome.marks
        if marks is None:
            marks = marks_of_unknown(self._calls.get(outcome.call_id), outcome)
        self._add(marks)
        sources = [mark.source for mark in marks if mark.kind == "foreign"]
        self._results.append((sources[0] if sources else "", outcome))
        if any(mark.what == _WEB_SEARCH for mark in marks):
            self._searched |= {url.rstrip("/.,") for text in _texts(outcome) for url in _URL.findall(text)}

    def _add(self, marks: Iterable[Mark]) -> None:
        self.marks += [mark for mark in dict.fromkeys(marks) if mark not in self.marks]

    def _carries(self, call: MadeCall) -> bool:
        """Whether a call that only reads would tell somebody what it was not they or the user who said."""
        hosts = set(_hosts(call.arguments))
        if not hosts:
            return self._holds_values(call.arguments, {call.server}, marked=True)
        known = {source for source, _ in self._results if source}
        for host, written in _addresses(call.arguments):
            if self._typed_has(host) or written.rstrip("/.,") in self._searched:
                continue
            if host not in known or self._holds_values(call.arguments, hosts, marked=False):
                return True
        return False

    def _typed_has(self, host: str) -> bool:
        plain = host.removeprefix("www.")
        pattern = re.compile(rf"(?<![\w.-])(?:www\.)?{re.escape(plain)}(?![\w-]|\.\w)", re.IGNORECASE)
        return any(pattern.search(text) for text in self._typed)

    def _holds_values(self, arguments: Mapping[str, Any], to: set[str], *, marked: bool) -> bool:
        """Whether ``arguments`` hold words of results that did not come from ``to``; of ``marked`` ones
        alone, or of all."""
        pieces = [piece for piece in _pieces(arguments) if not any(piece in typed for typed in self._typed)]
        if not pieces:
            return False
        own = {text for source, outcome in self._results if source in to for text in _texts(outcome)}
        pieces = [piece for piece in pieces if not any(piece in text for text in own)]
        for source, outcome in self._results:
            if source in to or (marked and not source):
                continue
            if any(piece in text for text in _texts(outcome) for piece in pieces):
                return True
        return False


_WEB_SEARCH = "results of WebSearch"
_SENDER = "the sender"
_CITED = Mark("foreign", "pages that the model's provider searched", "the web")
_LONG = 20_000
"""So many characters are read in about half a millisecond."""

_ORIGIN = re.compile(r"\[(?:resource |image |audio )?([^\s\[]*) ?of the server ([^\s\]]+)")


def _changes(call: MadeCall, reach: Reach) -> bool:
    """Whether ``call`` may change something elsewhere, by what is known of its tool."""
    hints = call.tool.annotations
    reads, destroys = hints.get("readOnlyHint"), hints.get("destructiveHint")
    if reach == "code":
        return destroys is True and reads is not True
    if isinstance(reads, bool):
        return not reads
    return destroys is True or not _reads_by_name(call.tool.name)


def _reads_by_name(name: str) -> bool:
    """Whether one of the first two words of ``name`` is a verb of reading, as in ``slack_list_users``."""
    return any(word.lower() in _READING for word in _WORD.findall(name)[:2])


def _told(secrets: Sequence[str], foreign: Sequence[str]) -> Iterator[str]:
    for kind, found in (("looks like a secret", secrets), ("came from outside", foreign)):
        named = list(dict.fromkeys(found))
        more = f", and {len(named) - _MOST_SHOWN} more" if len(named) > _MOST_SHOWN else ""
        if named:
            yield f"this conversation holds what {kind}: {', '.join(named[:_MOST_SHOWN])}{more}"


def _destination(call: MadeCall, reach: Reach) -> str:
    hosts = list(dict.fromkeys(_hosts(call.arguments)))
    through = "" if call.trusted else f" through the server {call.server!r}"
    if _is(call.tool, "Bash") and call.trusted:
        return "the call sends data outward: its command can reach the network"
    if reach == "code":
        return f"the call may send data outward: {call.tool.name} runs code of the config"
    if hosts:
        return f"the call sends data outward, to {', '.join(hosts[:_MOST_SHOWN])}{through}"
    to = f"by the tool {call.tool.name!r}" if call.trusted else f"to the server {call.server!r}"
    return f"the call sends data outward, {to}"


def _origin(call: MadeCall) -> str:
    """Where the words of a result came from, for people."""
    if not call.trusted:
        return f"the server {call.server!r}"
    if _is(call.tool, "WebSearch"):
        return _WEB_SEARCH
    hosts = list(_hosts(call.arguments))
    return hosts[0] if hosts else f"results of {call.tool.name}"


def _source(call: MadeCall) -> str:
    return next(_hosts(call.arguments), call.server) if call.trusted else call.server


def _is(tool: ListedTool, name: str) -> bool:
    return tool.name == name or f"{_TOOL}{name}" in tool.tags


def _hosts(arguments: Mapping[str, Any]) -> Iterator[str]:
    return (host for host, _ in _addresses(arguments))


def _addresses(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each host that ``arguments`` name, with the address as it is written: of a URL anywhere, of a bare
    domain where an argument is named for such."""
    for key, value in arguments.items():
        for text in strings_of(value):
            shown = text[:_LONGEST_ARGUMENT]
            found = list(_URL.findall(shown))
            for url in found:
                if host := _host(url):
                    yield host, url
            bare = _DOMAIN.match(shown.strip())
            if not found and bare and (key.lower() in _ADDRESS_KEYS or shown.startswith("www.")):
                yield bare[0].lower(), shown.strip()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return url


def _pieces(arguments: Mapping[str, Any]) -> list[str]:
    """Parts of the arguments' texts by which they would be known again: long lines, and words that are no
    plain words."""
    found: dict[str, None] = {}
    for text in strings_of(arguments):
        shown = text[:_LONGEST_ARGUMENT]
        found |= dict.fromkeys(
            line.strip() for line in shown.splitlines() if len(line.strip()) >= _LEAST_LINE
        )
        words = (word.strip(".:!?") for word in _TOKEN.findall(shown))
        found |= dict.fromkeys(w for w in words if len(w) >= _LEAST_TOKEN and not w.isalpha())
        if len(found) >= _MOST_PIECES:
            break
    return list(found)[:_MOST_PIECES]


def _texts(outcome: ToolOutcome) -> list[str]:
    """The texts of a result, each once: of its blocks, else of its value."""
    blocks = [part.data for part in outcome.parts if part.type not in ("image", "audio")]
    found = list(strings_of([block.get("text", block.get("resource")) for block in blocks]))
    shown = outcome.result.get("error" if outcome.failed else "result")
    return list(dict.fromkeys([*found, *strings_of([shown, outcome.structured])]))


def _is_long(outcomes: Iterable[ToolOutcome]) -> bool:
    return sum(len(text) for outcome in outcomes for text in _texts(outcome)) > _LONG


def _uris(data: Mapping[str, Any]) -> Iterator[str]:
    """The URIs of a block and of the resource in it."""
    inner = data.get("resource")
    blocks: list[Any] = [data, inner]
    for block in blocks:
        uri: object = cast("Mapping[str, Any]", block).get("uri") if isinstance(block, Mapping) else None
        if isinstance(uri, str):
            yield uri
