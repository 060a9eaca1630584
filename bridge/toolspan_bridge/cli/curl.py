"""A request as a curl command for a POSIX shell, its keys left as variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..providers.wire.wire_request import WireRequest


def curl(sent: WireRequest, variables: Collection[str], *, stream: bool) -> str:
    """The command that sends exactly the bytes of ``sent.body``.

    ``$NAME`` in a header is left to the shell for each NAME in ``variables``; everything else is quoted. The
    body goes through a pipe: one argument of a program has room for 128 kB at most, a shell's own has no end.
    """
    options = ["-sS", *(["--no-buffer"] if stream else []), shlex.quote(sent.url)]
    lines = [f"curl {' '.join(options)}"]
    lines += [f"-H {_quoted(f'{name}: {value}', variables)}" for name, value in sent.headers.items()]
    lines.append("--data-binary @-")
    body = shlex.quote(sent.body.decode())
    return f"printf %s {body} |\n  " + " \\\n    ".join(lines) + "\n"


def _quoted(text: str, variables: Collection[str]) -> str:
    names = "|".join(map(re.escape, sorted(variables, key=len, reverse=True)))
    parts = re.split(rf"(\$(?:{names})(?!\w))", text) if names else [text]
    return "".join(
        f'"{part}"' if place % 2 else shlex.quote(part) for place, part in enumerate(parts) if part
    )
