"""A chat in a real folder, on a terminal, with a model that plays a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.support.terminal import Terminal
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import ToolResults

Call = tuple[str, dict[str, Any]]

WORKSPACE = "work"
SAVED = "talk.json"
_PROMPT_BEGINS, _PROMPT_ENDS = "\x1b[?2004h", "\x1b[?2004l"


def script(folder: Path, *turns: Call | str | list[Call], name: str = "turns.yaml") -> str:
    """The model that plays ``turns``: a call, several calls, or an answer; in a file of ``folder``."""
    written = [_turn(turn) for turn in turns]
    (folder / name).write_text(yaml.safe_dump({"turns": written}))
    return f"scripted/{name}"


def chat(folder: Path, model: str, *options: str) -> Terminal:
    """The chat in the folder ``work`` of ``folder``; its conversation is kept in ``talk.json``."""
    resume = ("--resume", SAVED) if (folder / SAVED).exists() else ()
    arguments = ("chat", "-m", model, "--workspace", WORKSPACE, "--save", SAVED, *resume, *options)
    return Terminal(*arguments, cwd=folder)


def say(terminal: Terminal, *lines: str, prompt: str = "you>") -> str:
    """Type each of ``lines`` at the prompt, and give what is shown until the next one: nothing is asked
    meanwhile."""
    shown = ""
    for line in lines:
        terminal.type(f"{line}\r")
        terminal.until(_PROMPT_ENDS)
        shown += terminal.until(_PROMPT_BEGINS)
        terminal.until(prompt)
    return shown


def answer(terminal: Terminal, text: str) -> None:
    """Type ``text`` at a question, which is over then."""
    terminal.type(f"{text}\r")
    terminal.until(_PROMPT_ENDS)


def results(folder: Path) -> list[dict[str, Any]]:
    """The results of all calls of the kept conversation, in order."""
    messages = Conversation.load(folder / SAVED).messages
    found = [message for message in messages if isinstance(message, ToolResults)]
    return [dict(outcome.result) for message in found for outcome in message.outcomes]


def _turn(turn: Call | str | list[Call]) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"text": turn}
    calls = turn if isinstance(turn, list) else [turn]
    return {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in calls]}
