"""Which calls carry data outward after a conversation has read a secret, or content from outside.

What a call brought is marked when it ends, and the marks stay with its result: they are saved, copied and
compacted with it. A result without marks of its own came from somebody else, and counts as foreign, as do
attachments: only what a person typed is their own word.

Who decides how far a call reaches is our own server, for its tools (``dev.toolspan/reach``). Whatever another
server says of itself, its tools reach outside. Its hints and names decide only whether a call that comes
after foreign content changes something *at that server*, which a server that lies could change without being
called; what is carried there from elsewhere is looked for in the arguments. After a secret they decide
nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, cast
from urllib.parse import unquote_plus, urlsplit

import anyio.to_thread

from toolspan_server.engines.upstreams import ListedTool

from ..messages import Assistant, Mark, Message, Part, ToolCall, ToolOutcome, ToolResults, User
from .secrets import assigned_strings, path_readings, secret_lines, secret_names, secret_texts, strings_of
from .stated import states, unnamed_keys

__all__ = [
    "LOCAL",
    "REACH_META",
    "Conversed",
    "MadeCall",
    "Outward",
    "Reach",
    "found_marks",
    "marks_of",
    "marks_of_paths",
    "marks_of_unknown",
    "reach_of",
    "traces_of",
    "waits_for",
]

REACH_META = "dev.toolspan/reach"
"""The key of a tool's ``_meta`` by which our own server says how far its calls reach."""
LOCAL: Mapping[str, Any] = {"_meta": {REACH_META: "local"}}
"""The details of a tool of the bridge's own whose calls stay here."""

Reach = Literal["local", "code", "outside"]
_TOOL = "works-as:"
_READS = """
get list read search find fetch show describe count check lookup look view browse head tail stat status
info inspect explain compare preview summarize summarise retrieve echo ping calculate compute convert
translate parse validate
"""
_READING = frozenset(_READS.split())
"""Verbs that a tool may begin with and change nothing, where its server gives no hint."""

_CHANGES = """
add append apply approve archive assign ban cancel clear commit create deactivate delete deploy destroy
disable drop edit enable erase exec execute forward import insert install invite kill merge modify mutate
overwrite pay post publish purge push put reboot refund register reject remove rename replace reply
reschedule reserve reset restart restore revert revoke save send share submit subscribe terminate
transfer trash truncate unsubscribe update upload upsert wipe withdraw write and or then
"""
_CHANGING = frozenset(_CHANGES.split())
"""Words by which a name says that the tool (also) does something else, wherever in it they stand."""

_NAME_THINGS = "commit import invite merge post push put reply share transfer"
_NOUNS = frozenset(_NAME_THINGS.split())
"""Those of them that name things too: a hint that the tool only reads is believed beside them."""

_PARTICLES = frozenset(["in", "out", "off", "on", "up", "down", "back", "away", "over"])
"""Words that make another verb of the one before them: ``check_out``, ``list_on``."""

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
_LEAST_PART = 4
_MOST_PARTS = 400
_PART = re.compile(r"[^\W_]+(?:[.:@-][^\W_]+)*")
"""A word in a part of an address, which others may be put to with any sign."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that a model asked for. ``trusted`` says that ``tool`` is described by a server of our own, or
    performed here; ``config`` is the mark of its results where that server has them from a config that nobody
    trusts."""

    server: str
    tool: ListedTool
    arguments: Mapping[str, Any]
    trusted: bool
    config: Mark | None = None


@dataclass(frozen=True, slots=True)
class Outward:
    """Why a call needs a person's word: it carries data outward, to ``destination``, ``after`` something.
    Each is a sentence for people, which names the first of many; ``digest`` tells apart all that they are
    about. ``stated``: what the user typed says itself what the call does, with every value."""

    destination: str
    after: tuple[str, ...]
    digest: str = ""
    stated: bool = False

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
    found = _secrets_in(outcome)
    if reach_of(call) != "local" or outcome.result.get("error_code") not in _READ_NOTHING:
        lines = strings_of(outcome.result.get("result")) if _is(call.tool, "Grep") else ()
        named = [*secret_names(call.arguments), *secret_lines(lines)]
        found += [Mark("secret", what) for what in dict.fromkeys(named)]
    if reach_of(call) == "outside":
        found.append(Mark("foreign", _origin(call), _source(call)))
    else:
        found += [call.config] if call.config else []
        found += map(_foreign_files, _packages(call, outcome))
    return tuple(found)


def marks_of_paths(paths: Sequence[Any]) -> tuple[Mark, ...]:
    """What files bring into a conversation by where they lie: ``paths`` are without links."""
    secrets = [Mark("secret", what) for what in secret_names({"path": paths})]
    folders = _package_folders(f"{path}/" for path in paths if isinstance(path, str))
    return (*secrets, *(_foreign_files(name) for name in folders))


def marks_of_unknown(call: ToolCall | None, outcome: ToolOutcome) -> tuple[Mark, ...]:
    """The marks of a result that somebody else sent, as a client of the gateway."""
    named = () if call is None else secret_names(call.arguments)
    return (
        *(Mark("secret", what) for what in named),
        *_secrets_in(outcome),
        Mark("foreign", f"a result of {outcome.name} that was sent with the conversation", _SENDER),
    )


def traces_of(call: MadeCall) -> Literal["", "code", "local"]:
    """What ``call`` may leave on this machine that a later call of its turn could send: nothing, what a
    function of the config makes, or what commands and tools of the workspace do."""
    if not call.trusted or call.tool.annotations.get("readOnlyHint") is True:
        return ""
    reach = reach_of(call)
    return "local" if _is(call.tool, "Bash") or reach == "local" else "code" if reach == "code" else ""


def waits_for(call: MadeCall, traces: Collection[str]) -> bool:
    """Whether ``call`` is made once those before it in its turn have ended, which left ``traces``. Functions
    of the config run beside each other."""
    reach = reach_of(call)
    return ("local" in traces and reach != "local") or ("code" in traces and reach == "outside")


async def found_marks(call: MadeCall, outcome: ToolOutcome) -> tuple[Mark, ...]:
    """As ``marks_of``; a long result is read off the event loop."""
    given = sum(map(len, strings_of(call.arguments)))
    if _is_long([outcome]) or _PER_WORD * given > _LONG:
        return await anyio.to_thread.run_sync(marks_of, call, outcome)
    return marks_of(call, outcome)


class Conversed:
    """What a conversation holds so far that calls could carry outward. ``inherited`` are the marks of the
    conversation that started it; ``is_own`` tells the servers of our own. ``is_users`` says that its messages
    of the user are a person's, not those of an agent that started it."""

    def __init__(
        self,
        inherited: Iterable[Mark] = (),
        is_own: Callable[[str], bool] = lambda _name: False,
        *,
        is_users: bool = True,
    ) -> None:
        self._marks: dict[Mark, None] = dict.fromkeys(inherited)
        self._is_own = is_own
        self._is_users = is_users
        self._typed: list[str] = []
        self._results: list[tuple[str, ToolOutcome]] = []
        self._length = 0
        self._searched: set[str] = set()
        self._calls: dict[str, ToolCall] = {}
        self._stated: set[str] = set()
        self._seen = 0

    @property
    def marks(self) -> list[Mark]:
        """Every mark so far, each once, in order."""
        return list(self._marks)

    def add(self, marks: Iterable[Mark]) -> None:
        """Take in what a call brought, as soon as it has ended: calls that come later in its turn may carry
        it."""
        self._marks.update(dict.fromkeys(marks))

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
                    self.add(_CITED for _ in message.citations[:1])
                case ToolResults():
                    for outcome in message.outcomes:
                        self._take(outcome)

    async def judge(self, call: MadeCall, before: Iterable[Mapping[str, Any]] = ()) -> Outward | None:
        """As ``outward``; off the event loop where there is much to look through."""
        arguments = list(before)
        marks = tuple(self._marks)
        given = sum(len(text) for text in strings_of([call.arguments, *arguments]))
        if self._length + _PER_WORD * given > _LONG:
            return await anyio.to_thread.run_sync(self._outward, call, arguments, marks)
        return self._outward(call, arguments, marks)

    def outward(self, call: MadeCall, before: Iterable[Mapping[str, Any]] = ()) -> Outward | None:
        """Why ``call`` needs a person's word; ``None`` where it does not. ``before`` are the arguments of the
        calls of the same turn that it may carry the results of, itself included: the model need not see a
        secret to have it sent."""
        return self._outward(call, before, tuple(self._marks))

    def _outward(
        self, call: MadeCall, before: Iterable[Mapping[str, Any]], marks: Sequence[Mark]
    ) -> Outward | None:
        reach = reach_of(call)
        if reach == "local":
            return None
        secrets = [mark for mark in marks if mark.kind == "secret"]
        secrets += [Mark("secret", what) for arguments in before for what in secret_names(arguments)]
        foreign = [mark for mark in marks if mark.kind == "foreign"]
        if secrets:
            to = {call.server, *_hosts(call.arguments)}
            return _asked(call, reach, secrets, [mark for mark in foreign if mark.source not in to])
        if foreign and (_changes(call, reach) or (reach == "outside" and self._carries(call))):
            return _asked(call, reach, [], foreign, stated=self._is_stated(call))
        return None

    def _is_stated(self, call: MadeCall) -> bool:
        """Whether the user's last message states ``call``; once for each call."""
        if call.tool.annotations.get("destructiveHint") is True or not self._typed:
            return False
        if not states(self._typed[-1], _words_of(call), call.arguments, call.tool.schema):
            return False
        key = f"{len(self._typed)} {call.server} {call.tool.name} {json.dumps(dict(call.arguments))}"
        is_first = key not in self._stated
        self._stated.add(key)
        return is_first

    def _take_user(self, message: User) -> None:
        typed, _, attached = message.text.partition("\n\n[")
        if message.typed is not None:
            typed = message.typed
            attached = message.text.removeprefix(f"{typed}\n\n[") if message.text != typed else ""
        if self._is_users and typed:
            self._typed.append(typed)
        self.add(message.marks)
        named: set[str] = set()
        for origin in _ORIGIN.finditer(f"[{attached}"):
            uri, server = origin.groups()
            named.add(uri)
            if not self._is_own(server):
                self.add([Mark("foreign", f"{uri} of the server {server!r}", server)])
            self.add(Mark("secret", what) for what in secret_names({"uri": uri}))
        texts = [attached, *strings_of([part.data for part in message.parts if "data" not in part.data])]
        self.add(Mark("secret", what, _digest(texts)) for what in secret_texts(texts))
        for part in message.parts:
            uris = list(_uris(part.data))
            self.add(Mark("secret", what) for what in secret_names({"uri": uris}))
        if len(message.parts) > len(_GATHERED.findall(attached)):
            self.add(_attached(part) for part in message.parts if named.isdisjoint(_uris(part.data)))

    def _take(self, outcome: ToolOutcome) -> None:
        marks = outcome.marks
        if marks is None:
            marks = marks_of_unknown(self._calls.get(outcome.call_id), outcome)
        self.add(marks)
        sources = [mark.source for mark in marks if mark.kind == "foreign"]
        self._results.append((sources[0] if sources else "", outcome))
        self._length += sum(map(len, _texts(outcome)))
        if any(mark.what == _WEB_SEARCH for mark in marks):
            self._searched |= {url.rstrip("/.,") for text in _texts(outcome) for url in _URL.findall(text)}

    def _carries(self, call: MadeCall) -> bool:
        """Whether a call that only reads would tell somebody what it was not they or the user who said."""
        keys = unnamed_keys(call.arguments, call.tool.schema)
        arguments = {**call.arguments, "": [call.arguments.get(""), *keys]}
        hosts = set(_hosts(arguments))
        if not hosts:
            return self._holds_values(arguments, {call.server}, marked=True)
        known = {source for source, _ in self._results if source}
        for host, written in _addresses(arguments):
            if written.rstrip("/.,") in self._searched:
                continue
            if host not in known and not self._typed_has(host):
                return True
            if self._holds_values(arguments, {host}, marked=False):
                return True
        return False

    def _typed_has(self, host: str) -> bool:
        plain = host.removeprefix("www.")
        pattern = re.compile(rf"(?<![\w.-])(?:www\.)?{re.escape(plain)}(?![\w-]|\.\w)", re.IGNORECASE)
        return any(pattern.search(text) for text in self._typed)

    def _holds_values(self, arguments: Mapping[str, Any], to: set[str], *, marked: bool) -> bool:
        """Whether ``arguments`` hold words of results that did not come from ``to``; of ``marked`` ones
        alone, or of all. Addresses of more parts than are looked for count as holding some."""
        parts = _address_parts(arguments)
        if len(parts) > _MOST_PARTS:
            return True
        pieces = [each for each in (*_pieces(arguments), *parts) if not _is_in(each, self._typed)]
        if not pieces:
            return False
        own = {text for source, outcome in self._results if source in to for text in _texts(outcome)}
        pieces = [piece for piece in pieces if not _is_in(piece, own)]
        for source, outcome in self._results:
            if source in to or (marked and not source):
                continue
            texts = _texts(outcome)
            if any(_is_in(piece, texts) for piece in pieces):
                return True
        return False


_NOT_READ = """
file_not_found invalid_parameters invalid_path permission_denied protected outside_workspace not_a_file
"""
_READ_NOTHING = frozenset(_NOT_READ.split())
"""Error codes of our own tools by which a file that a call names was not read."""

_WEB_SEARCH = "results of WebSearch"
_SENDER = "the sender"
_CITED = Mark("foreign", "pages that the model's provider searched", "the web")
_LONG = 20_000
"""So many characters are read in about half a millisecond."""
_PER_WORD = 10
"""So many times as long it takes to look for names in arguments."""

_ORIGIN = re.compile(r"\[(?:resource |image |audio )?([^\s\[]*) ?of the server ([^\s\]]+)")


_GATHERED = re.compile(r"of the server \S+ is attached: \w+\]")


def _attached(part: Part) -> Mark:
    """What a person attached or piped in: texts that others may have written."""
    name = next(_uris(part.data), "")
    what = "text that was piped in" if name == "stdin" else f"the attached {name or part.type}"
    return Mark("foreign", what, "an attachment")


_PACKAGES = re.compile(
    r"(?<![\w.-])(node_modules|bower_components|(?:site|dist)-packages|vendor|third_party|Downloads)[/\\]"
)
"""Folders that by their names hold what others wrote."""


def _packages(call: MadeCall, outcome: ToolOutcome) -> list[str]:
    """The folders of other people's files that a call of ours named, or found something in."""
    named = strings_of([call.arguments, outcome.result.get("result") if _is(call.tool, "Grep") else ()])
    return _package_folders(each for text in named for each in path_readings(text[:_LONGEST_ARGUMENT]))


def _package_folders(texts: Iterable[str]) -> list[str]:
    found = (_PACKAGES.findall(text) for text in texts)
    return list(dict.fromkeys(name for names in found for name in names))


def _foreign_files(name: str) -> Mark:
    return Mark("foreign", f"files in {name}", name)


def _changes(call: MadeCall, reach: Reach) -> bool:
    """Whether ``call`` may change something elsewhere, by what is known of its tool: all do that nobody says
    otherwise of."""
    hints = call.tool.annotations
    reads = hints.get("readOnlyHint")
    if call.trusted and isinstance(reads, bool):
        return not reads
    if reach == "code":
        return True
    words = _words_of(call)
    if isinstance(reads, bool):
        return not reads or not (_CHANGING - _NOUNS).isdisjoint(words)
    return hints.get("destructiveHint") is True or not _reads_by_name(words)


def _words_of(call: MadeCall) -> list[str]:
    """The words of a tool's name, without those of its server's name in front, as in ``slack_list_users``;
    none of a name with other letters than a to z."""
    if not call.tool.name.isascii():
        return []
    words = [word.lower() for word in _WORD.findall(call.tool.name)]
    prefix = {word.lower() for word in _WORD.findall(call.server)} - _READING - _CHANGING
    while words and words[0] in prefix:
        words.pop(0)
    return words


def _reads_by_name(words: Sequence[str]) -> bool:
    """Whether a name of ``words`` begins with a verb of reading, and says of nothing else."""
    if not words or words[0] not in _READING:
        return False
    is_lookup = list(words[:2]) == ["look", "up"]
    return (is_lookup or _PARTICLES.isdisjoint(words[1:2])) and _CHANGING.isdisjoint(words)


def _asked(
    call: MadeCall, reach: Reach, secrets: Sequence[Mark], foreign: Sequence[Mark], *, stated: bool = False
) -> Outward:
    marks = sorted({(each.kind, each.what, each.source) for each in (*secrets, *foreign)})
    to = [call.server, call.tool.name, sorted(set(_hosts(call.arguments)))]
    unread = [text for text in strings_of(call.arguments) if len(text) > _LONGEST_ARGUMENT]
    digest = _digest([json.dumps([to, marks]), *unread])
    told = _told([each.what for each in secrets], [each.what for each in foreign])
    return Outward(_destination(call, reach), tuple(told), digest, stated)


def _digest(texts: Iterable[str]) -> str:
    """What tells these texts from others."""
    found = sha256()
    for text in texts:
        found.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _told(secrets: Sequence[str], foreign: Sequence[str]) -> Iterator[str]:
    for kind, found in (("looks like a secret", secrets), ("came from outside", foreign)):
        if found:
            yield f"this conversation holds what {kind}: {_shown(found)}"


def _shown(names: Iterable[str]) -> str:
    """The first of ``names``, each once, and how many more there are."""
    each = list(dict.fromkeys(names))
    more = f", and {len(each) - _MOST_SHOWN} more" if len(each) > _MOST_SHOWN else ""
    return ", ".join(each[:_MOST_SHOWN]) + more


def _destination(call: MadeCall, reach: Reach) -> str:
    hosts = list(_hosts(call.arguments))
    through = "" if call.trusted else f" through the server {call.server!r}"
    if _is(call.tool, "Bash") and call.trusted:
        return "the call sends data outward: its command can reach the network"
    if reach == "code":
        return f"the call may send data outward: {call.tool.name} runs code of the config"
    if hosts:
        return f"the call sends data outward, to {_shown(hosts)}{through}"
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
    plain words. Of addresses these are their parts."""
    found: dict[str, None] = {}
    for text in strings_of(arguments):
        shown = _URL.sub(" ", text[:_LONGEST_ARGUMENT])
        found |= dict.fromkeys(
            line.strip() for line in shown.splitlines() if len(line.strip()) >= _LEAST_LINE
        )
        words = (word.strip(".:!?") for word in _TOKEN.findall(shown))
        found |= dict.fromkeys(w for w in words if len(w) >= _LEAST_TOKEN and not w.isalpha())
        if len(found) >= _MOST_PIECES:
            break
    return list(found)[:_MOST_PIECES]


def _address_parts(arguments: Mapping[str, Any]) -> list[str]:
    """What the addresses in ``arguments`` say beside their hosts, decoded: the segments of their paths, the
    keys and values of their queries, whole and word for word, without plain words."""
    found: dict[str, None] = {}
    for _, written in _addresses(arguments):
        address = written if "://" in written else f"//{written}"
        try:
            pieces = urlsplit(address)
            said = [pieces.username or "", pieces.password or "", *pieces.path.split("/")]
            said += [each for pair in re.split("[&;]", pieces.query) for each in pair.split("=", 1)]
            said.append(pieces.fragment)
        except ValueError:
            said = [address]
        for each in said:
            once = unquote_plus(each)
            for text in (once, unquote_plus(once)):
                words = (text, *_TOKEN.findall(text), *_PART.findall(text))
                found |= dict.fromkeys(
                    word for word in words if len(word) >= _LEAST_PART and not word.isalpha()
                )
    return list(found)


def _is_in(piece: str, texts: Iterable[str]) -> bool:
    """Whether ``piece`` stands in one of ``texts``; a short one as a word of its own."""
    found = (text for text in texts if piece in text)
    if len(piece) >= _LEAST_TOKEN:
        return next(found, None) is not None
    pattern = re.compile(rf"(?<!\w){re.escape(piece)}(?!\w)")
    return any(pattern.search(text) for text in found)


def _texts(outcome: ToolOutcome) -> list[str]:
    """The texts of a result, each once: of its blocks, else of its value."""
    blocks = [part.data for part in outcome.parts if part.type not in ("image", "audio")]
    found = list(strings_of([block.get("text", block.get("resource")) for block in blocks]))
    shown = outcome.result.get("error" if outcome.failed else "result")
    return list(dict.fromkeys([*found, *strings_of([shown, outcome.structured])]))


def _secrets_in(outcome: ToolOutcome) -> list[Mark]:
    """A mark for each kind of secret in the texts of a result; another result's are others."""
    texts = _texts(outcome)
    assigned = assigned_strings([outcome.result.get("result"), outcome.structured])
    found = secret_texts([*texts, "\n".join(assigned)])
    return [Mark("secret", what, _digest(texts)) for what in found]


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
