"""Which one tool a request makes the model call."""

from __future__ import annotations

from collections.abc import Iterable

from ....messages import ToolChoice
from ...names import NameTable


def must_call(choice: ToolChoice, sent: Iterable[str], names: NameTable) -> str | None:
    """The wire name of the one tool that must be called; ``None`` when none is named, or it was left out.

    A tool that was left out cannot be called: then the model may choose, rather than being forced to call
    another.
    """
    if not isinstance(choice, tuple):
        return None
    tools = ((name, names.tool(name)) for name in sent)
    return next((name for name, tool in tools if tool is not None and tool.key == choice), None)
