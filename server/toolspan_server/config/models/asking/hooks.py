"""``hooks``: programs and tools that look at questions and calls, change and deny them."""

from __future__ import annotations

from typing import Literal

from typing_extensions import override

from ....problems import Fault, Faulty
from ....schema.records import Record, key
from ....schema.values import Seconds


class HookConfig(Record):
    """A hook of ask and chat: a Python function, or a tool of an MCP server."""

    point: Literal["before_turn", "after_turn", "before_call", "after_call"] = key(
        "When it runs: before a question is sent, after its answer, before a call (and before a person "
        "is asked about it), or after it."
    )
    python: str | None = key(
        "The function, as FILE.py:NAME beside this file, or MODULE:NAME.", pattern=r"^.+:\w+$", default=None
    )
    tool: str | None = key("The tool instead, as SERVER/TOOL.", pattern=r"^.+/.+$", default=None)
    tools: tuple[str, ...] | None = key(
        "Globs of the tools whose calls it sees, as Write or files/*; all when absent.", default=None
    )
    timeout_seconds: Seconds = key("The longest that it may take, in seconds.", default=10)
    on_error: Literal["deny", "ignore"] = key(
        "What becomes of a question or a call whose hook fails or takes too long.", default="deny"
    )

    @override
    def check(self) -> None:
        """Check that it is one of the two."""
        if (self.python is None) == (self.tool is None):
            raise Faulty(Fault((), "needs one of python and tool", "write python: FILE.py:NAME"))
