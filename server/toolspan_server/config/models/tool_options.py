"""Options of a tool: its presentation, and the steps around its calls."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...engines.parameters._safe_schema import object_schema
from ...problems import Fault, Faulty
from ...schema.constraints import BeforeValidator, Limits
from ...schema.keys import CHOICE, DATA, Inert, at_most
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import (
    Count,
    Milliseconds,
)

_LONGEST_ICON = 262_144
_ICON_URL = re.compile(r"(?:https://[^\s/]\S*|data:image/[\w.+-]+(?:;[\w=.-]+)*,\S*)\Z")
_DAY = 86_400_000


def _unflagged(value: Any, _info: Any) -> Any:
    if isinstance(value, bool):
        return {} if value else None
    return value


OR_FLAG = BeforeValidator(_unflagged, {"flag": True})
"""A record or null, also as a boolean: ``true`` is a record without keys, ``false`` null."""


def result_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` unchanged. Raises ``Faulty`` when it is not a JSON Schema 2020-12 of an object."""
    return object_schema(schema, "result")


def _icon_url(source: str) -> str:
    if not _ICON_URL.match(source):
        raise Faulty(
            Fault((), "is no icon", "write an https: URL, or a data: URL such as data:image/png;base64,…")
        )
    return source


def _template(written: str) -> str:
    """``written``, checked to be a template. The parser is imported only for configs that have one."""
    from ...engines.templates import Template

    Template.parse(written)
    return written


class IconConfig(Record):
    """An icon of the tool."""

    src: str = key(
        "The image: an https: URL, or a data: URL.",
        most=_LONGEST_ICON,
        check=_icon_url,
        inert=Inert("it is the picture itself", lambda src, _: src.startswith("data:")),
    )
    mime_type: str | None = key(
        "Its media type, such as image/png.",
        pattern=r"^image/[A-Za-z0-9.+-]+$",
        default=None,
        spellings=["mimeType", "mime_type"],
        inert=DATA,
    )
    sizes: tuple[Annotated[str, Limits(pattern=r"^([0-9]{1,5}x[0-9]{1,5}|any)$")], ...] | None = key(
        "The sizes that it is made for: 48x48, or any for a scalable one.", default=None, inert=DATA
    )
    theme: Literal["light", "dark"] | None = key(
        "The background that it is made for.", default=None, inert=DATA
    )


class AnnotationsConfig(Record):
    """Hints about the tool's behaviour for clients (MCP, ToolAnnotations); nothing is enforced."""

    title: str | None = key("A name for people; title is its newer key.", most=200, default=None, inert=DATA)
    read_only: bool | None = key(
        "Whether a call changes nothing.",
        default=None,
        spellings=["read_only", "readOnlyHint", "read_only_hint"],
        inert=DATA,
    )
    destructive: bool | None = key(
        "Whether a call may overwrite or delete data.",
        default=None,
        spellings=["destructive", "destructiveHint", "destructive_hint"],
        inert=DATA,
    )
    idempotent: bool | None = key(
        "Whether repeating a call has no further effect.",
        default=None,
        spellings=["idempotent", "idempotentHint", "idempotent_hint"],
        inert=DATA,
    )
    open_world: bool | None = key(
        "Whether the tool uses systems beyond the server, such as the web.",
        default=None,
        spellings=["open_world", "openWorldHint", "open_world_hint"],
        inert=DATA,
    )


class DeprecationConfig(Record):
    """Why a tool is deprecated, and its replacement."""

    message: str | None = key(
        "The reason, and until when the tool works.", least=1, most=2_000, default=None, inert=DATA
    )
    replacement: str | None = key("The name of the tool that replaces it.", least=1, default=None, inert=DATA)


class CacheConfig(Record):
    """How long results are cached and reused for equal arguments."""

    ttl_ms: int = key(
        "How long a result is reused, in milliseconds; at most a day.", least=1, most=_DAY, inert=CHOICE
    )
    max_entries: int = key(
        "Most cached results; the least recently used is dropped.",
        least=1,
        most=100_000,
        default=1_000,
        inert=at_most(1_000),
    )
    max_bytes: int = key(
        "Most bytes of cached JSON, arguments and results together.",
        least=1_024,
        most=1 << 30,
        default=16_777_216,
        inert=at_most(16_777_216),
    )


class RateLimitConfig(Record):
    """How often a tool may run, for all callers together."""

    calls: Count = key("How many calls are allowed …", inert=CHOICE)
    per_ms: Milliseconds = key("… within so many milliseconds.", default=60_000, inert=CHOICE)
    burst: Count | None = key(
        "How many calls may come in a burst after a pause; the value of calls when absent.",
        default=None,
        inert=CHOICE,
    )


class ApprovalConfig(Record):
    """A person is asked, through the client, before each call."""

    message: str | None = key(
        "The question: a template over the arguments, such as 'Delete {{ path }}?'.",
        least=1,
        most=2_000,
        check=_template,
        default=None,
        inert=DATA,
    )
    timeout_ms: Milliseconds = key(
        "How long the answer may take, in milliseconds; the tool's timeout is paused meanwhile.",
        default=120_000,
        inert=CHOICE,
    )


class ExampleConfig(Record):
    """One call of the tool with its result: documentation, and a test for check --run-examples."""

    description: str | None = key("What the example shows, for people.", most=2_000, default=None, inert=DATA)
    arguments: dict[str, Any] = key(
        "The arguments, which must fit the parameters.", factory=dict[str, Any], inert=DATA
    )
    result: Any = key("The exact result.", default=None, inert=DATA)
    result_matches: Any = key(
        "A part of the result: objects may have more keys than here, everything else is exact.",
        default=None,
        inert=DATA,
    )
    error: str | None = key(
        "The expected failure: its error_code, or a part of its error.",
        least=1,
        most=2_000,
        default=None,
        inert=DATA,
    )

    @property
    def expected(self) -> Literal["result", "result_matches", "error"] | None:
        """The one of the three outcomes that is set; ``None``: any success."""
        given = self.model_fields_set
        if self.error is not None:
            return "error"
        if "result_matches" in given:
            return "result_matches"
        return "result" if "result" in given else None

    @override
    def check(self) -> None:
        """Check that only one outcome is expected."""
        given = sorted(self.model_fields_set & {"result", "result_matches", "error"})
        if len(given) > 1:
            raise Faulty(Fault((given[1],), f"{given[0]!r} is there too", "keep one of them", on_key=True))
