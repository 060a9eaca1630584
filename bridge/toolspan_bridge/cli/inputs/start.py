"""What ``toolspan init`` asks a person at a terminal: what they have that tools can be made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from ...errors import UsageError
from ..init import Calling, api_source, http_tool, mock_tool, server_spec
from ..terminal.output import print_message, print_text
from ..terminal.questions.lines import ask_line

_CHOICES = (
    "nothing yet: a tool with a made-up answer",
    "the URL of a request to a web API",
    "an OpenAPI description: a file or a URL",
    "an MCP server whose tools to record: a command or a URL",
)
_DEFAULT_MOCK = "example"


@dataclass(slots=True)
class Start:
    """What tools are made of, as the options of ``toolspan init`` name it."""

    mocks: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    apis: list[str] = field(default_factory=list[str])
    servers: list[str] = field(default_factory=list[str])
    calling: Calling = "no"

    @property
    def is_empty(self) -> bool:
        """Whether nothing is named."""
        return not (self.mocks or self.requests or self.apis or self.servers)


def asked_start(directory: Path) -> Start:
    """What the person has; an OpenAPI file is looked for from ``directory``. Raises ``click.Abort``."""
    start = Start()
    print_message("What do you have?", err=True)
    for number, text in enumerate(_CHOICES, 1):
        print_message(f"  {number}  {text}", err=True)
    while True:
        again = not start.is_empty
        choice = _choice(
            "Anything else? 1 to 4, or Enter for no" if again else "1 to 4 [1]", 0 if again else 1
        )
        if choice == 0:
            return start
        _take(start, choice, directory)


def _choice(question: str, default: int) -> int:
    while True:
        answer = ask_line(question) or str(default)
        if answer == str(default) or answer in "1234":
            return int(answer)
        print_message(f"{answer} is none of them", err=True)


def _take(start: Start, choice: int, directory: Path) -> None:
    if choice == 1:
        question = f"Name of the tool [{_DEFAULT_MOCK}]"
        start.mocks.append(_asked(question, mock_tool, _DEFAULT_MOCK))
    elif choice == 2:
        question = "URL, or METHOD URL; {name} in it is a parameter"
        start.requests.append(_asked(question, lambda text: http_tool(text, set())))
    elif choice == 3:
        start.apis.append(_asked("File or URL", lambda text: api_source(text, directory)))
    else:
        start.servers.append(_asked("Command or URL", _startable))
        start.calling = _asked_calling()


def _startable(text: str) -> None:
    """Raises ``UsageError`` when ``text`` is neither a URL nor a command that is there."""
    command = server_spec(text).command
    if command and shutil.which(command[0]) is None:
        raise UsageError(f"there is no command {command[0]!r}: install it, or correct it")


def _asked_calling() -> Calling:
    question = "Call its tools for their answers, with made-up arguments? no, read-only or all [no]"
    while True:
        answer = ask_line(question) or "no"
        for calling in get_args(Calling):
            if calling == answer:
                return cast("Calling", calling)
        print_message(f"{answer} is none of them", err=True)


def _asked(question: str, check: Callable[[str], object], default: str = "") -> str:
    """An answer that ``check`` takes; what is wrong with others is said, and it is asked again."""
    while True:
        answer = ask_line(question) or default
        try:
            check(answer)
        except UsageError as error:
            print_text(error.message, err=True)
        else:
            return answer
