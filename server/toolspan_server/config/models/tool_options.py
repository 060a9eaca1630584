"""What a tool may say of itself beyond its parameters, and what is done around its calls."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...engines.parameters._safe_schema import object_schema
from ...problems import Fault, Faulty
from ...schema.constraints import BeforeValidator, Limits
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
"""Of a record or null: a boolean will do, ``true`` for a record of no keys, ``false`` for null."""


def result_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` as it is. Raises ``Faulty`` when it is not a JSON Schema 2020-12 of an object."""
    return object_schema(schema, "result")


def _icon_url(source: str) -> str:
    if not _ICON_URL.match(source):
        raise Faulty(
            Fault((), "is no icon", "write an https: URL, or a data: URL such as data:image/png;base64,…")
        )
    return source


def _template(written: str) -> str:
    """``written`` when it is a template. Its parser is imported only where a config has one."""
    from ...engines.templates import Template

    Template.parse(written)
    return written


class IconConfig(Record):
    """A picture that stands for the tool."""

    src: str = key(
        "Where it is: an https: URL, or a data: URL of an image.",
        most=_LONGEST_ICON,
        check=_icon_url,
    )
    mime_type: str | None = key(
        "Its media type, such as image/png.",
        pattern=r"^image/[A-Za-z0-9.+-]+$",
        default=None,
        spellings=["mimeType", "mime_type"],
    )
    sizes: tuple[Annotated[str, Limits(pattern=r"^([0-9]{1,5}x[0-9]{1,5}|any)$")], ...] | None = key(
        "The sizes that it is made for: 48x48, or any for one that scales.",
        default=None,
    )
    theme: Literal["light", "dark"] | None = key("The background that it is made for.", default=None)


class AnnotationsConfig(Record):
    """What clients may assume of the tool (MCP, ToolAnnotations); they are hints, nothing is enforced."""

    title: str | None = key("A name for people; title is the newer place.", most=200, default=None)
    read_only: bool | None = key(
        "Whether a call changes nothing.",
        default=None,
        spellings=["read_only", "readOnlyHint", "read_only_hint"],
    )
    destructive: bool | None = key(
        "Whether a call may overwrite or delete something.",
        default=None,
        spellings=["destructive", "destructiveHint", "destructive_hint"],
    )
    idempotent: bool | None = key(
        "Whether the same call again changes nothing more.",
        default=None,
        spellings=["idempotent", "idempotentHint", "idempotent_hint"],
    )
    open_world: bool | None = key(
        "Whether the tool reaches out to things beyond the server, such as the web.",
        default=None,
        spellings=["open_world", "openWorldHint", "open_world_hint"],
    )


class DeprecationConfig(Record):
    """Why a tool should not be used any more, and what to use."""

    message: str | None = key("Why, and until when it works.", least=1, most=2_000, default=None)
    replacement: str | None = key("Name of the tool that takes its place.", least=1, default=None)


class CacheConfig(Record):
    """How long results are kept and given again for equal arguments."""

    ttl_ms: int = key("How long a result is given again, in milliseconds; at most a day.", least=1, most=_DAY)
    max_entries: int = key(
        "Most results kept; the one unused for longest goes.", least=1, most=100_000, default=1_000
    )
    max_bytes: int = key(
        "Most bytes of JSON kept, arguments and results together.",
        least=1_024,
        most=1 << 30,
        default=16_777_216,
    )


class RateLimitConfig(Record):
    """How often a tool may run, all its callers together."""

    calls: Count = key("How many calls are let through …")
    per_ms: Milliseconds = key("… within so many milliseconds.", default=60_000)
    burst: Count | None = key(
        "How many may come at once after a quiet time; calls when absent.", default=None
    )


class ApprovalConfig(Record):
    """A person is asked, through the client, before each call."""

    message: str | None = key(
        "The question: a template over the arguments, such as 'Delete {{ path }}?'.",
        least=1,
        most=2_000,
        check=_template,
        default=None,
    )
    timeout_ms: Milliseconds = key(
        "How long the answer may take, in milliseconds; the tool's own time does not run meanwhile.",
        default=120_000,
    )


class ExampleConfig(Record):
    """One call of the tool and what it gives: documentation, and a test for check --run-examples."""

    description: str | None = key("What it shows, for people.", most=2_000, default=None)
    arguments: dict[str, Any] = key("The arguments; they fit the parameters.", factory=dict[str, Any])
    result: Any = key("The result, exactly.", default=None)
    result_matches: Any = key(
        "What the result holds at least: of objects the keys named here, all else exactly.",
        default=None,
    )
    error: str | None = key(
        "The call fails: its error_code, or a part of its error.",
        least=1,
        most=2_000,
        default=None,
    )

    @property
    def expected(self) -> Literal["result", "result_matches", "error"] | None:
        """Which of the three outcomes it names; ``None``: any success."""
        given = self.model_fields_set
        if self.error is not None:
            return "error"
        if "result_matches" in given:
            return "result_matches"
        return "result" if "result" in given else None

    @override
    def check(self) -> None:
        """Only one outcome can be expected."""
        given = sorted(self.model_fields_set & {"result", "result_matches", "error"})
        if len(given) > 1:
            raise Faulty(Fault((given[1],), f"{given[0]!r} is there too", "keep one of them", on_key=True))
