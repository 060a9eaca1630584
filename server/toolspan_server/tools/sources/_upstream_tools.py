"""An upstream's tools as tools of this server: selected, renamed, described, arguments pinned or hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import ValidationError

from ...common.did_you_mean import nearest
from ...common.slices import in_slices
from ...common.tool_hints import may_destroy
from ...config import ToolConfig
from ...config.models.tool import META_PREFIX
from ...config.models.tool_options import AnnotationsConfig, ApprovalConfig, IconConfig
from ..kinds.mcp import Config as McpConfig
from ._parameters import reshaped
from ._schemas import judged

if TYPE_CHECKING:
    from ...engines.upstreams import ListedTool
    from ...schema.records import Record
    from ._mcp_config import McpSourceConfig

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_NAME = 128
_LONGEST_TITLE = 200
_MOST_ICONS = 8


@dataclass(slots=True)
class Offered:
    """The tools, those that cannot be offered, with the reason, and the warnings about them."""

    tools: list[ToolConfig] = field(default_factory=list[ToolConfig])
    left_out: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    def leave_out(self, name: str, reason: str) -> None:
        """Count the upstream's tool ``name`` as one that cannot be offered."""
        self.left_out.append(f"{name}: {reason}")
        self.warnings.append(f"tool {name!r} left out: {reason}")


@dataclass(slots=True)
class _Draft:
    tool: ListedTool
    schema: dict[str, Any]
    pin: Mapping[str, Any]
    output_schema: dict[str, Any] | None = None


async def offered(config: McpSourceConfig, listed: Sequence[ListedTool]) -> Offered:
    """The tools of ``listed`` that ``config`` selects. A tool that cannot be offered does not affect the
    others.

    Their schemas are compiled in a child process first, within limits. Raises ``OSError`` when that fails.
    """
    found = Offered()
    drafts = await _drafts(config, listed, found)
    verdicts = await judged([draft.schema for draft in drafts])
    with_output = [draft for draft in drafts if draft.output_schema is not None]
    for draft, fault in zip(
        with_output, await judged([draft.output_schema or {} for draft in with_output]), strict=True
    ):
        if fault:
            found.warnings.append(f"tool {draft.tool.name!r}: its outputSchema is not used: {fault}")
            draft.output_schema = None
    for draft, fault in zip(drafts, verdicts, strict=True):
        if fault:
            found.leave_out(draft.tool.name, f"its inputSchema cannot be used: {fault}")
    sound = [draft for draft, fault in zip(drafts, verdicts, strict=True) if not fault]
    await _make(config, sound, found)
    return found


async def _drafts(config: McpSourceConfig, listed: Sequence[ListedTool], found: Offered) -> list[_Draft]:
    names = [tool.name for tool in listed]
    for name in config.tools:
        if name not in names:
            hint = nearest(name, names)
            found.warnings.append(f"tools.{name}: the upstream has no such tool" + (hint and f" ({hint})"))
    drafts: list[_Draft] = []
    async for tool in in_slices(listed):
        if not _chosen(tool.name, config):
            continue
        change = reshaped(tool.schema, config.tools.get(tool.name))
        found.warnings += [f"tool {tool.name!r}: {warning}" for warning in change.warnings]
        if change.fault:
            found.leave_out(tool.name, change.fault)
            continue
        output = tool.details.get("outputSchema")
        schema = cast("dict[str, Any]", output) if isinstance(output, dict) else None
        drafts.append(_Draft(tool, change.schema, change.pin, _without_dialect(schema)))
    return drafts


def _chosen(name: str, config: McpSourceConfig) -> bool:
    included = any(fnmatchcase(name, glob) for glob in config.include)
    return included and not any(fnmatchcase(name, glob) for glob in config.exclude)


def _without_dialect(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if schema is None else {key: value for key, value in schema.items() if key != "$schema"}


async def _make(config: McpSourceConfig, drafts: Sequence[_Draft], found: Offered) -> None:
    known: dict[str, str] = {}
    async for draft in in_slices(drafts):
        try:
            tool = _tool(config, draft)
            other = known.setdefault(tool.name.lower(), draft.tool.name)
            if other != draft.tool.name:
                found.leave_out(draft.tool.name, f"it would be called {tool.name!r}, as {other!r} is")
            else:
                found.tools.append(tool)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            found.leave_out(draft.tool.name, str(first["msg"]))


def _tool(config: McpSourceConfig, draft: _Draft) -> ToolConfig:
    tool, change = draft.tool, config.tools.get(draft.tool.name)
    name = config.prefix + ((change and change.name) or _ILLEGAL.sub("_", tool.name))
    details = tool.details
    title = (change and change.title) or _title(details.get("title"))
    description = (change and change.description) or tool.description.strip() or title
    optional = {
        "title": title,
        "annotations": _known(AnnotationsConfig, details.get("annotations")),
        "icons": _icons(details.get("icons")),
        "meta": {name: value for name, value in tool.meta.items() if not name.startswith(META_PREFIX)},
        "timeout_ms": change and change.timeout_ms,
        "approval": _needs_approval(config, tool) and ApprovalConfig.initial(),
    }
    made = ToolConfig.model_validate(
        {
            "name": name[:_LONGEST_NAME],
            "description": description or f"The tool {tool.name} of {config.upstream}.",
            "implementation": McpConfig(
                upstream=config.upstream,
                tool=tool.name,
                pin=dict(draft.pin),
                send_defaults=change is not None and change.send_defaults,
            ),
            **{key: value for key, value in optional.items() if value},
        }
    )
    # the schemas were checked in a child process: checking again would block the event loop
    schemas = {"parameters": draft.schema, "output_schema": draft.output_schema}
    return made.model_copy(update={key: schema for key, schema in schemas.items() if schema is not None})


def _needs_approval(config: McpSourceConfig, tool: ListedTool) -> bool:
    """Whether a person has to allow each call: one that says that it is destructive is, whatever else."""
    if config.approval != "destructive":
        return config.approval == "always"
    asks_itself = tool.meta.get("dev.toolspan/approval") is True
    return may_destroy(tool.annotations) and not asks_itself


def _title(value: Any) -> str | None:
    return value.strip()[:_LONGEST_TITLE] or None if isinstance(value, str) else None


def _icons(value: Any) -> list[dict[str, Any]]:
    icons = cast("Sequence[Any]", value) if isinstance(value, list) else ()
    return [icon for each in icons[:_MOST_ICONS] if (icon := _known(IconConfig, each)) is not None]


def _known(record: type[Record], value: Any) -> dict[str, Any] | None:
    """``value`` reduced to the keys of ``record``; ``None`` when they are not valid."""
    if not isinstance(value, Mapping):
        return None
    given = cast("Mapping[str, Any]", value)
    spellings = {each for name, made in record.model_fields.items() for each in (name, *made.spellings)}
    known = {key: given[key] for key in given if key in spellings and given[key] is not None}
    try:
        record.model_validate(known)
    except ValidationError:
        return None
    return known
