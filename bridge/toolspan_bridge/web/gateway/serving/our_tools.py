"""Which of our tools a request is answered with."""

from __future__ import annotations

from dataclasses import replace

from toolspan_server.engines.upstreams import ListedTool

from ....loop import Question
from ....sessions.chosen.tool_globs import ToolGlobs
from ....sessions.session import Session
from ..faults import RequestFault
from .choosing import TOOLS_HEADER, TOOLSET_HEADER, Choice

__all__ = ["with_chosen_tools"]


def with_chosen_tools(question: Question, session: Session, choice: Choice) -> tuple[Question, Session]:
    """``question`` and ``session`` with the tools of ``choice``. Raises ``RequestFault`` where a name is that
    of none."""
    if choice.tools == ():
        return replace(question, allowed_tools=(), builtins=()), session
    toolbox = session.toolbox
    if choice.toolset:
        toolset = session.config.toolsets.get(choice.toolset)
        if toolset is None:
            there = ", ".join(session.config.toolsets) or "none"
            raise RequestFault(
                f"{TOOLSET_HEADER}: there is no toolset {choice.toolset!r} (there are: {there})"
            )

        def has(server: str, tool: ListedTool) -> bool:
            return session.toolbox.is_own(server) and toolset.has(tool.name, tool.tags)

        toolbox = toolbox.accepting(has)
    if choice.tools is not None:
        globs = ToolGlobs(choice.tools)
        for idle in globs.idle(session.toolbox.tools):
            raise RequestFault(f"{TOOLS_HEADER}: {idle.removeprefix('--tool ')}")
        toolbox = toolbox.accepting(globs.among(session.toolbox.tools))
    return question, replace(session, toolbox=toolbox)
