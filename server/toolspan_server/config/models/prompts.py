"""``prompts``: message templates that people select, with arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic_core import ValidationError
from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.base64_text import Base64
from ...schema.constraints import Limits, PlainValidator
from ...schema.faults import InvalidRecord
from ...schema.keys import DATA, FILE_INSIDE, PARTS, only
from ...schema.paths import OUTSIDE, is_inside, path_fault
from ...schema.records import (
    Record,
    key,
)
from .completions import CompletableConfig
from .resources import (
    ContentAnnotationsConfig,
    MediaType,
    OfferedConfig,
    template_faults,
)

_Name = Annotated[str, Limits(least=1, most=200)]
_Uri = Annotated[str, Limits(least=1, most=2_000)]
_Argument = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
_RESERVED = ("answers", "arguments", "call", "client")
_MIME = ["mime_type", "mimeType"]

_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "text": (("text",), ()),
    "image": ((), ("data", "file", "mime_type", "outside")),
    "audio": ((), ("data", "file", "mime_type", "outside")),
    "resource": ((), ("uri", "resource")),
    "resource_link": (("uri", "name"), ("title", "description", "mime_type")),
}
"""The required and the optional keys of each type of block, besides type and annotations."""


def _step(value: Any, info: Any) -> Any:
    from ...engines.mock_steps import MockStep

    if isinstance(value, MockStep):
        return value
    try:
        return MockStep.model_validate(value, context=info.context)
    except ValidationError as error:
        raise InvalidRecord(MockStep, error) from None


class EmbeddedConfig(Record):
    """A resource embedded in the message."""

    uri: _Uri = key("The URI: a template over the arguments.", inert=DATA)
    mime_type: MediaType | None = key("The media type.", default=None, spellings=_MIME)
    text: str | None = key("The content: a template over the arguments.", default=None, inert=DATA)
    blob: Base64 | None = key("The content: bytes in Base64.", default=None, inert=DATA)

    @override
    def check(self) -> None:
        """Check that there is either text or bytes."""
        if (self.text is None) == (self.blob is None):
            raise Faulty(
                Fault((), "has no content" if self.text is None else "has two contents", "give text or blob")
            )


class BlockConfig(Record):
    """A content block of a message; its texts are templates over the arguments."""

    type: Literal["text", "image", "audio", "resource", "resource_link"] = key(
        "The type of the block.", inert=DATA
    )
    text: str | None = key("text: the text.", default=None, inert=DATA)
    data: Base64 | None = key("image, audio: the bytes in Base64.", default=None, inert=DATA)
    file: _Name | None = key(
        "image, audio: the file with the bytes, relative to the config's folder.",
        default=None,
        inert=FILE_INSIDE,
    )
    outside: bool = key(OUTSIDE, default=False, inert=only(False))
    mime_type: MediaType | None = key(
        "image, audio, resource_link: the media type; by the file's ending when absent.",
        default=None,
        spellings=_MIME,
        inert=DATA,
    )
    uri: _Uri | None = key(
        "resource: the URI of this server's resource to embed; resource_link: the target.",
        default=None,
        inert=DATA,
    )
    resource: EmbeddedConfig | None = key(
        "resource: its content, when it is not a resource of this server.", default=None, inert=PARTS
    )
    name: _Name | None = key("resource_link: its name.", default=None, inert=DATA)
    title: _Name | None = key("resource_link: its display name.", default=None, inert=DATA)
    description: str | None = key("resource_link: a description of the target.", default=None, inert=DATA)
    annotations: ContentAnnotationsConfig | None = key("Hints for clients.", default=None, inert=PARTS)

    @override
    def check(self) -> None:
        """Check the keys against the type."""
        faults = list(self._key_faults())
        for one, other in (("data", "file"), ("uri", "resource")):
            if one in _KEYS[self.type][1] and (getattr(self, one) is None) == (getattr(self, other) is None):
                faults.append(
                    Fault((), f"a block of type {self.type} has either {one} or {other}", "give one")
                )
        if self.data is not None and self.mime_type is None:
            faults.append(Fault((), "'mime_type' is missing", f"add mime_type: {self.type}/…"))
        if self.file is not None and not self.outside and not is_inside(self.file):
            faults.append(path_fault("file", self.file))
        if faults:
            raise Faulty(*faults)

    def _key_faults(self) -> Iterator[Fault]:
        needed, allowed = _KEYS[self.type]
        for name in needed:
            if getattr(self, name) is None:
                yield Fault((), f"{name!r} is missing", f"add {name}")
        for name in sorted(self.model_fields_set - {"type", "annotations", *needed, *allowed}):
            yield Fault((name,), f"a block of type {self.type} has no {name!r}", "remove it", on_key=True)


class MessageConfig(Record):
    """One message, of the user or the assistant."""

    role: Literal["user", "assistant"] = key("The role of the speaker.", default="user", inert=DATA)
    text: str | None = key(
        "The text: a template over the arguments, such as 'Review {{ code }}'.", default=None, inert=DATA
    )
    content: tuple[BlockConfig, ...] | None = key(
        "The content blocks; each becomes a separate message, since MCP messages have one block.",
        least=1,
        default=None,
        inert=PARTS,
    )

    @override
    def check(self) -> None:
        """Check that there is either text or blocks."""
        if (self.text is None) == (self.content is None):
            raise Faulty(
                Fault((), "is empty" if self.text is None else "has text and content", "give text or content")
            )


class ArgumentConfig(CompletableConfig):
    """An argument of a prompt."""

    name: _Argument = key("The argument's name, which messages use as {{ name }}.", inert=DATA)
    title: _Name | None = key("A name for people.", default=None, inert=DATA)
    description: str | None = key("A description for people.", default=None, inert=DATA)
    required: bool = key("Whether the argument is required.", default=False, inert=DATA)


class PromptConfig(OfferedConfig):
    """Messages that a person selects, such as by a slash command."""

    name: _Name = key("The prompt's unique name.", served=True, inert=DATA)
    arguments: tuple[ArgumentConfig, ...] = key(
        "The arguments; an absent one is ''.", default=(), served=True, inert=PARTS
    )
    steps: tuple[Annotated[Any, PlainValidator(_step, {"definition": "MockStep"})], ...] = key(
        "Steps before the messages, as in mocks: questions to the client, whose answers the messages "
        "may use.",
        default=(),
        inert=PARTS,
    )
    messages: tuple[MessageConfig, ...] = key("The messages, in order.", least=1, served=True, inert=PARTS)

    @override
    def check(self) -> None:
        """Check that arguments have unique names and templates use only existing ones."""
        faults = [*self._argument_faults(), *self._template_faults()]
        if faults:
            raise Faulty(*faults)

    def _argument_faults(self) -> Iterator[Fault]:
        names = [argument.name for argument in self.arguments]
        for index, argument in enumerate(self.arguments):
            if argument.name in names[:index]:
                message = f"argument {argument.name!r} is already defined"
                yield Fault(("arguments", index, "name"), message, "give it another name")
            elif self.steps and argument.name in _RESERVED:
                message = f"{argument.name!r} means something else where there are steps"
                yield Fault(("arguments", index, "name"), message, "give it another name")
            for fault in argument.unknown(argument.name, names):
                yield Fault(("arguments", index, *fault.path), fault.message, fault.hint, fault.on_key)

    def _template_faults(self) -> Iterator[Fault]:
        known = tuple(argument.name for argument in self.arguments)
        if self.steps:
            known += ("answers", "arguments", "client")
        for index, message in enumerate(self.messages):
            for fault in template_faults(written(message), known, "argument"):
                yield Fault(("messages", index, *fault.path), fault.message, fault.hint)


def written(message: MessageConfig) -> dict[str, Any]:
    """The templates of ``message``, with their places in it."""
    if message.content is None:
        return {"text": message.text}
    return {"content": [_texts(block) for block in message.content]}


def _texts(block: BlockConfig) -> dict[str, Any]:
    texts: dict[str, Any] = {
        name: value
        for name in ("text", "uri", "name", "title", "description")
        if (value := getattr(block, name))
    }
    if block.resource is not None:
        texts["resource"] = {"uri": block.resource.uri, "text": block.resource.text or ""}
    return texts
