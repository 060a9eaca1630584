"""Asks at the terminal, with the answers that a person may give."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import anyio.to_thread

from toolspan_server.engines.definitions.call_preview import CallPreview, json_text

from ....approvals import (
    Approval,
    ApprovalRequest,
    CallFiles,
    Departure,
    EditedCall,
    FilesOf,
    PersonAnswer,
    lacks_sandbox,
    question_of,
)
from ....loop import Checker
from ....messages import ToolSpec
from ..choices import print_choices
from ..output import edited_text, print_coloured, print_note, print_sentence
from ..questions.one_question import one_question, read_key, read_line
from ..width import columns_of, rows_of
from .suggestion import read_pattern, suggested
from .view import View, fitted_view, whole_view, wrapped

_ALLOWING = "yctp"
_SHORTEST_PAGE, _BELOW_PAGE = 5, 2

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
    """The person at the terminal; ``files_of`` says where relative paths of a call begin. Questions are on
    stderr.

    ``warnings_of`` gives what is to be said of a tool, by its server and name.
    """

    def __init__(
        self, files_of: FilesOf, warnings_of: Callable[[str, str], Sequence[str]] | None = None
    ) -> None:
        self._files_of = files_of
        self._warnings_of = warnings_of

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer | EditedCall:
        """The answer. Ctrl+D is a no; Ctrl+C is the signal that it is anywhere else, which ends the turn."""
        warnings = self._warnings_of(request.server, request.tool.name) if self._warnings_of else ()
        files = self._files_of(request.server, request.tool)
        question = _Question(request, question_of(request, departure, warnings), files)
        try:
            async with one_question():
                return await question.answer()
        except EOFError:
            return PersonAnswer(Approval(allowed=False, decider="person"))


class _Question:
    """One question, until it is answered: what it ``shows``, and ``draft``, what the person wrote as
    arguments that could not be taken."""

    def __init__(self, request: ApprovalRequest, shows: CallPreview, files: CallFiles) -> None:
        self._request = request
        self._shows = shows
        self._files = files
        self._draft = ""
        self._checker = Checker()

    async def answer(self) -> PersonAnswer | EditedCall:
        view = fitted_view(self._shows, columns_of(sys.stderr), rows_of(sys.stderr))
        _show(view)
        while True:
            keys = self._keys(view)
            print_choices({key: _KEYS[key] for key in keys})
            key = await read_key("allow? ", keys)
            if key == "v":
                view = whole_view(self._shows)
                await _show_in_pages(view)
            elif key == "e":
                if (edited := await self._edited()) is not None:
                    return EditedCall(edited)
                _show(view)
            elif answer := await self._answer(key):
                return answer

    def _keys(self, view: View) -> list[str]:
        unneeded = {"v"} if view.is_whole else set[str]()
        unneeded |= set() if view.may_allow else set(_ALLOWING)
        unneeded |= set() if suggested(self._request.arguments, self._files) else {"p"}
        unneeded |= set("tp") if self._request.facts else set()
        unneeded |= set("ctp") if lacks_sandbox(self._request) else set()
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
        text = await read_line("always for ", suggested(self._request.arguments, self._files))
        pattern = read_pattern(text)
        request = self._request
        if pattern is None:
            print_note("a pattern is written ARGUMENT=GLOB, such as command=git log* or path=src/**")
        elif pattern.covers(request.server, request.tool.name, request.arguments, self._files):
            return PersonAnswer(self._allowed("pattern"), pattern)
        else:
            print_note("this call is not covered by that pattern")
        return None

    def _allowed(self, scope: Literal["once", "conversation", "tool", "pattern"]) -> Approval:
        return Approval(allowed=True, decider="person", scope=scope)

    async def _edited(self) -> dict[str, Any] | None:
        """The arguments as the person edits them; ``None`` where that is no JSON object, or does not fit the
        schema, or changes nothing."""
        tool = self._request.tool
        text = self._draft = await _edited(dict(self._request.arguments), self._draft)
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            print_note(f"the arguments stay as they are: not JSON: {error}")
            return None
        if not isinstance(value, dict):
            print_note("the arguments stay as they are: they have to be a JSON object")
            return None
        arguments = cast("dict[str, Any]", value)
        spec = ToolSpec(self._request.server, tool.name, tool.description, tool.schema)
        if faults := self._checker.faults(spec, arguments):
            print_note(f"the arguments stay as they are: {'; '.join(faults)}")
            return None
        return None if arguments == self._request.arguments else arguments


def _show(view: View) -> None:
    for text, colour in view.heading:
        print_sentence(text, colour)
    print_coloured(view.lines)


async def _show_in_pages(view: View) -> None:
    """Show ``view`` a terminal at a time."""
    for text, colour in view.heading:
        print_sentence(text, colour)
    lines = wrapped(view.lines, columns_of(sys.stderr))
    most = max(_SHORTEST_PAGE, rows_of(sys.stderr) - _BELOW_PAGE)
    for start in range(0, len(lines), most):
        print_coloured(lines[start : start + most])
        if (left := len(lines) - start - most) > 0:
            await read_line(f"  {left:,} more lines: press Enter ")


async def _edited(arguments: dict[str, Any], draft: str) -> str:
    """The text that the person makes of ``draft``, else of ``arguments``: in $VISUAL or $EDITOR, else on the
    line."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        written = draft or json_text(arguments)
        return await anyio.to_thread.run_sync(edited_text, written, ".json")
    return await read_line("arguments: ", draft or json.dumps(arguments))
