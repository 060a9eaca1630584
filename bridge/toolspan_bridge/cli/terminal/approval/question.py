"""Asks at the terminal, with the answers that a person may give."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import anyio.to_thread

from ....approvals import Approval, ApprovalRequest, BaseOf, Departure, PersonAnswer, lacks_sandbox
from ....loop import Checker
from ....messages import ToolSpec
from ..choices import print_choices
from ..output import edited_text, print_coloured, print_note, print_sentence
from ..questions.one_question import one_question, read_key, read_line
from .suggestion import read_pattern, suggested
from .view import View

_KEYS = {
    "y": "once",
    "c": "in this conversation",
    "t": "always this tool",
    "p": "always a pattern",
    "n": "no",
    "r": "no, with a reason",
    "e": "edit the arguments",
    "v": "view all",
}


class TerminalPerson:
    """The person at the terminal; ``base_of`` says where relative paths of a call begin. Questions are on
    stderr.

    ``warnings_of`` gives what is to be said of a tool, by its server and name.
    """

    def __init__(
        self, base_of: BaseOf, warnings_of: Callable[[str, str], Sequence[str]] | None = None
    ) -> None:
        self._base_of = base_of
        self._warnings_of = warnings_of

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer:
        """The answer. Ctrl+D is a no; Ctrl+C is the signal that it is anywhere else, which ends the turn."""
        warnings = self._warnings_of(request.server, request.tool.name) if self._warnings_of else ()
        base = self._base_of(request.server, request.tool)
        question = _Question(request, departure, base, warnings)
        try:
            async with one_question():
                return await question.answer()
        except EOFError:
            return PersonAnswer(Approval(allowed=False, decider="person"))


class _Question:
    """One question, until it is answered; ``arguments`` are those of the call as the person edited them, and
    ``draft`` is what they wrote that could not be taken."""

    def __init__(
        self, request: ApprovalRequest, departure: Departure | None, base: Path, warnings: Sequence[str]
    ) -> None:
        self._request = request
        self._departure = departure
        self._base = base
        self._warnings = warnings
        self._arguments = request.arguments
        self._draft = ""
        self._checker = Checker()

    async def answer(self) -> PersonAnswer:
        is_whole = self._show()
        while True:
            keys = self._keys(is_whole=is_whole)
            print_choices({key: _KEYS[key] for key in keys})
            key = await read_key("allow? ", keys)
            if key == "v":
                is_whole = self._show(whole=True)
            elif key == "e":
                await self._edit()
                is_whole = self._show()
            elif answer := await self._answer(key):
                return answer

    def _show(self, *, whole: bool = False) -> bool:
        view = View(self._request, self._arguments, self._departure, self._base, self._warnings, whole=whole)
        for text, colour in view.heading:
            print_sentence(text, colour)
        print_coloured(view.lines)
        return view.is_whole

    def _keys(self, *, is_whole: bool) -> list[str]:
        unneeded = {"v"} if is_whole else set[str]()
        unneeded |= set() if suggested(self._arguments, self._base) else {"p"}
        unneeded |= set("tp") if self._request.facts else set()
        unneeded |= set("ctp") if lacks_sandbox(self._request.tool) else set()
        return [key for key in _KEYS if key not in unneeded]

    async def _answer(self, key: str) -> PersonAnswer | None:
        if key == "r":
            reason = (await read_line("reason, for the model: ")).strip()
            return PersonAnswer(Approval(allowed=False, decider="person", reason=reason))
        if key == "n":
            return PersonAnswer(Approval(allowed=False, decider="person"))
        if key == "p":
            return await self._pattern()
        scopes: dict[str, Literal["once", "conversation", "tool"]] = {"c": "conversation", "t": "tool"}
        return PersonAnswer(self._allowed(scopes.get(key, "once")))

    async def _pattern(self) -> PersonAnswer | None:
        text = await read_line("always for ", suggested(self._arguments, self._base))
        pattern = read_pattern(text)
        request = self._request
        if pattern is None:
            print_note("a pattern is written ARGUMENT=GLOB, such as command=git log* or path=src/**")
        elif pattern.covers(request.server, request.tool.name, self._arguments, self._base):
            return PersonAnswer(self._allowed("pattern"), pattern)
        else:
            print_note("this call is not covered by that pattern")
        return None

    def _allowed(self, scope: Literal["once", "conversation", "tool", "pattern"]) -> Approval:
        changed = None if self._arguments == self._request.arguments else self._arguments
        return Approval(allowed=True, decider="person", arguments=changed, scope=scope)

    async def _edit(self) -> None:
        """Have the arguments edited; what is no JSON object, or does not fit the schema, leaves them."""
        tool = self._request.tool
        text = self._draft = await _edited(dict(self._arguments), self._draft)
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            print_note(f"the arguments stay as they are: not JSON: {error}")
            return
        if not isinstance(value, dict):
            print_note("the arguments stay as they are: they have to be a JSON object")
            return
        arguments = cast("dict[str, Any]", value)
        spec = ToolSpec(self._request.server, tool.name, tool.description, tool.schema)
        if faults := self._checker.faults(spec, arguments):
            print_note(f"the arguments stay as they are: {'; '.join(faults)}")
        else:
            self._arguments, self._draft = arguments, ""


async def _edited(arguments: dict[str, Any], draft: str) -> str:
    """The text that the person makes of ``draft``, else of ``arguments``: in $VISUAL or $EDITOR, else on the
    line."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        written = draft or json.dumps(arguments, indent=2, ensure_ascii=False)
        return await anyio.to_thread.run_sync(edited_text, written, ".json")
    return await read_line("arguments: ", draft or json.dumps(arguments))
