"""Pictures on terminals that can show them: what is written for one.

kitty's graphics protocol (https://sw.kovidgoyal.net/kitty/graphics-protocol) takes PNG; the inline images of
iTerm2 (https://iterm2.com/documentation-images.html) are of every kind. Only Base64 of our own making is
written.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Literal

from ..width import columns_of
from .received import Received

__all__ = ["VARIABLE", "Graphics", "Protocol", "graphics_of"]

Protocol = Literal["kitty", "iterm2"]

VARIABLE = "TOOLSPAN_IMAGES"
"""The environment's word on what the terminal can show: ``kitty``, ``iterm2`` or ``none``."""

_BY_TERM: Mapping[str, Protocol] = {"xterm-kitty": "kitty", "xterm-ghostty": "kitty"}
_BY_PROGRAM: Mapping[str, Protocol] = {
    "ghostty": "kitty",
    "iTerm.app": "iterm2",
    "iTerm2": "iterm2",
    "mintty": "iterm2",
    "WezTerm": "iterm2",
}
_LEAST_COLUMNS = 40
_MOST_BYTES = 4 * 1024 * 1024
_MOST_OF_SCREEN = 0.6
_CHUNK = 4096
_USUAL_CELL = (9, 18)
_USUAL_LINES = 24


@dataclass(frozen=True, slots=True)
class Graphics:
    """How the terminal ``file`` shows pictures."""

    protocol: Protocol
    file: IO[str]

    def sequence(self, picture: Received) -> str:
        """What shows ``picture`` from the cursor on, which must be at the left margin, and leaves the cursor
        in its last line; empty where it cannot be shown: another kind of file, or one that is too large."""
        if picture.size is None or len(picture.data) > _MOST_BYTES:
            return ""
        columns = self._columns(*picture.size)
        if not columns or (self.protocol == "kitty" and picture.mime != "image/png"):
            return ""
        encoded = base64.b64encode(picture.data).decode("ascii")
        return (
            "".join(_kitty(encoded, columns))
            if self.protocol == "kitty"
            else _iterm2(picture, encoded, columns)
        )

    def _columns(self, width: int, height: int) -> int:
        """How many columns wide it is shown: no larger than it is, within the width, and not higher than a
        part of the screen; 0 for one so narrow or so wide that nothing could be seen."""
        lines, cell_width, cell_height = self._measures()
        most_lines = max(1, int(lines * _MOST_OF_SCREEN))
        by_height = most_lines * cell_height * width / (height * cell_width)
        return int(min(-(-width // cell_width), columns_of(self.file) - 1, by_height))

    def _measures(self) -> tuple[int, int, int]:
        """The lines of the terminal, and the pixels of a character, where the system knows them."""
        lines, columns, across, down = _window(self.file)
        width, height = (across // columns, down // lines) if columns and lines else (0, 0)
        if not (width and height):
            width, height = _USUAL_CELL
        return lines or _USUAL_LINES, width, height


def graphics_of(file: IO[str]) -> Graphics | None:
    """How ``file`` shows pictures; ``None`` where it is no terminal, a narrow one, or none that is known to.

    Within a multiplexer (tmux, screen) there are none: what its terminal can is not what it passes on.
    """
    if not file.isatty() or columns_of(file) < _LEAST_COLUMNS:
        return None
    protocol = _protocol(os.environ)
    return None if protocol is None else Graphics(protocol, file)


def _protocol(environment: Mapping[str, str]) -> Protocol | None:
    term, chosen = environment.get("TERM", ""), environment.get(VARIABLE, "")
    if term in ("", "dumb"):
        return None
    if chosen in ("kitty", "iterm2"):
        return "kitty" if chosen == "kitty" else "iterm2"
    in_multiplexer = environment.get("TMUX") or environment.get("STY") or term.startswith(("screen", "tmux"))
    if chosen or in_multiplexer:
        return None
    program = environment.get("TERM_PROGRAM") or environment.get("LC_TERMINAL", "")
    return _BY_TERM.get(term) or _BY_PROGRAM.get(program)


def _kitty(encoded: str, columns: int) -> Iterator[str]:
    """In pieces, of which each says whether more come; ``q=2``: the terminal does not answer."""
    for place in range(0, len(encoded), _CHUNK):
        head = f"a=T,f=100,q=2,c={columns}," if not place else ""
        more = int(place + _CHUNK < len(encoded))
        yield f"\x1b_G{head}m={more};{encoded[place : place + _CHUNK]}\x1b\\"


def _iterm2(picture: Received, encoded: str, columns: int) -> str:
    told = f"inline=1;size={len(picture.data)};width={columns};preserveAspectRatio=1"
    return f"\x1b]1337;File={told}:{encoded}\x07"


def _window(file: IO[str]) -> tuple[int, int, int, int]:
    """Lines and columns, and how many pixels they have across and down; 0 for what is not known."""
    if sys.platform == "win32":
        return 0, 0, 0, 0
    import fcntl
    import struct
    import termios

    try:
        found = fcntl.ioctl(file.fileno(), termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        return 0, 0, 0, 0
    lines, columns, across, down = struct.unpack("HHHH", found)
    return lines, columns, across, down
