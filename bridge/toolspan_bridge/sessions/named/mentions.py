"""Resources and prompts of servers that a person names in a question: ``@server:uri``, ``/server:prompt``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import UsageError
from ...messages import Mark, Part, User
from ...toolbox import Toolbox

MAX_TEXT = 262_144
"""The most characters that all that is named in one question may add to it."""

MAX_PARTS = 20
CUT = "\n[cut here: "
"""What stands where there was no room for more of a resource."""

_MENTION = re.compile(r"(?<!\S)@([^\s:@/]+):(\S+)")
_AFTER = ",.;:!?)]}\"'"


@dataclass(frozen=True, slots=True)
class Asked:
    """The text of a question with what it names, and the images and files of that. ``typed`` is the line of
    the person, ``None`` where that is all of the text; ``marks`` say what came from servers of others."""

    text: str
    parts: tuple[Part, ...] = ()
    typed: str | None = None
    marks: tuple[Mark, ...] = ()

    @classmethod
    def again(cls, question: User) -> Asked:
        """What ``question`` asked, with its origins."""
        typed = question.text.partition("\n\n[")[0] if question.typed is None else question.typed
        return cls(question.text, question.parts, typed, question.marks)


def names_prompt(line: str, toolbox: Toolbox) -> bool:
    """Whether ``line`` begins with ``/server:prompt`` of a connected server."""
    server, colon, _ = line[1:].partition(" ")[0].partition(":")
    return line.startswith("/") and bool(colon) and server in toolbox.contents.servers


async def with_mentions(line: str, toolbox: Toolbox, *, follow: bool = False) -> Asked:
    """``line`` with the prompt that it is and the resources that it names, each with its origin. With
    ``follow`` their servers are asked to tell when they change.

    What looks like a mention of a server that is not connected stays as it is. Raises ``UsageError`` and
    ``UnreachableError``.
    """
    gathered = Gathered()
    text = line
    if names_prompt(line, toolbox):
        text = await _prompt(line, toolbox, gathered)
    else:
        for server, uri in mentioned(line, toolbox):
            await add_resource(server, uri, toolbox, gathered)
            if follow:
                await toolbox.contents.subscribe(server, uri)
    whole = "\n\n".join([text, *gathered.texts])
    return Asked(whole, tuple(gathered.parts), line, tuple(gathered.marks))


class Gathered:
    """What was found, within the limits: ``texts``, each with its origin, ``parts``, and the ``marks`` of
    all that."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.parts: list[Part] = []
        self.marks: list[Mark] = []
        self._left = MAX_TEXT

    def text(self, origin: str, text: str) -> None:
        """Add ``text``, as far as there is room."""
        kept = text[: self._left]
        self._left -= len(kept)
        cut = f"{CUT}{len(text) - len(kept):,} more characters]" if len(kept) < len(text) else ""
        self.texts.append(f"[{origin}]\n{kept}{cut}\n[end of {origin}]")

    def part(self, origin: str, part: Part) -> None:
        """Add an image or a file. Raises ``UsageError`` for too many."""
        if len(self.parts) == MAX_PARTS:
            raise UsageError(f"more than {MAX_PARTS} images and files are named: name fewer")
        self.texts.append(f"[{origin} is attached: {part.type}]")
        self.parts.append(part)


def mentioned(line: str, toolbox: Toolbox) -> list[tuple[str, str]]:
    """The server and the URI of each resource that ``line`` names, of connected servers."""
    servers = toolbox.contents.servers
    found = [(match[1], match[2]) for match in _MENTION.finditer(line) if match[1] in servers]
    return list(dict.fromkeys((server, uri.rstrip(_AFTER)) for server, uri in found))


async def add_resource(server: str, uri: str, toolbox: Toolbox, gathered: Gathered) -> None:
    """Read the resource and add it to ``gathered``. Raises ``UsageError`` and ``UnreachableError``."""
    contents = await toolbox.contents.read(server, uri)
    gathered.marks += _marks_of(server, uri, toolbox)
    if not contents:
        gathered.text(f"resource {uri} of the server {server}", "")
    for content in contents:
        _add_content(f"resource {content.get('uri') or uri} of the server {server}", content, gathered)


async def _prompt(line: str, toolbox: Toolbox, gathered: Gathered) -> str:
    """The text of the prompt. What it embeds is gathered."""
    try:
        words = shlex.split(line[1:])
    except ValueError as error:
        raise UsageError(f"the arguments of the prompt cannot be read: {error}") from None
    server, _, name = words[0].partition(":")
    messages = await toolbox.contents.prompt(server, name, words[1:])
    gathered.marks += _marks_of(server, f"the prompt {name}", toolbox)
    lines: list[str] = []
    for message in messages:
        content: Any = message.get("content")
        blocks: Sequence[Any] = cast("Any", content) if isinstance(content, list) else [content]
        said = "\n".join(filter(None, (_block(block, server, gathered) for block in blocks)))
        before = "The answer was: " if message.get("role") == "assistant" else ""
        lines.append(before + said[:MAX_TEXT])
    text = "\n\n".join(filter(None, lines))
    if not text and not gathered.parts:
        raise UsageError(f"the prompt {name!r} of the server {server!r} is empty")
    return text


def _marks_of(server: str, what: str, toolbox: Toolbox) -> list[Mark]:
    if toolbox.has_own_words(server):
        return []
    return [Mark("foreign", f"{what} of the server {server!r}", server)]


def _block(block: Any, server: str, gathered: Gathered) -> str:
    if not isinstance(block, Mapping):
        return ""
    data = cast("Mapping[str, Any]", block)
    kind, text, resource = (data.get(key) for key in ("type", "text", "resource"))
    if kind == "text" and isinstance(text, str):
        return text
    if kind == "resource" and isinstance(resource, Mapping):
        content = cast("Mapping[str, Any]", resource)
        _add_content(f"resource {content.get('uri')} of the server {server}", content, gathered)
    elif kind in ("image", "audio"):
        gathered.part(f"{kind} of the server {server}", Part(str(kind), data))
    elif kind == "resource_link":
        return f"[{data.get('uri')}, a resource of the server {server}]"
    return ""


def _add_content(origin: str, content: Mapping[str, Any], gathered: Gathered) -> None:
    text, blob, mime = (content.get(key) for key in ("text", "blob", "mimeType"))
    if isinstance(text, str):
        gathered.text(origin, text)
    elif isinstance(blob, str) and isinstance(mime, str) and mime.startswith(("image/", "audio/")):
        kind = mime.partition("/")[0]
        gathered.part(origin, Part(kind, {"type": kind, "data": blob, "mimeType": mime}))
    elif isinstance(blob, str):
        gathered.part(origin, Part("resource", {"type": "resource", "resource": dict(content)}))
