"""What a person is shown of a call: said by the code that would run it, else all of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...calls.context import Context
from ...engines.definitions.call_preview import CallPreview, arguments_section, plain_preview
from ...errors import ToolFailure
from ...parts.kind import PreviewsCalls
from ..registry import Tool


async def preview_of(tool: Tool, arguments: Mapping[str, Any], context: Context) -> CallPreview:
    """How ``tool`` would run with ``arguments``, which fit its schema.

    Where its own code finds that the call would fail, that is said, and the arguments are shown whole.
    """
    if not tool.has_preview:
        return plain_preview(arguments)
    try:
        return await cast("PreviewsCalls", tool.kind).preview(arguments, context)
    except ToolFailure as failure:
        return CallPreview(
            (arguments_section(arguments),),
            warnings=(f"As things stand the call fails: {failure.error}",),
            basis=failure.error_code,
        )


def changed_since_shown() -> ToolFailure:
    """The failure of a call that would not do any more what the person has allowed."""
    return ToolFailure(
        "The call was not made: what it would do has changed since the person was shown it",
        error_code="changed_since_shown",
        user_action="Look at what has changed, and call again: the person is asked again.",
    )
