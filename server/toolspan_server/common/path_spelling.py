r"""File names as text: each name has one spelling, and each spelling is one name.

Most are written as they are. One with control characters, marks that reorder text, bytes that are no UTF-8, a
quote or a backslash is written in double quotes with the escapes ``\n \r \t \" \\ \xNN`` (a byte) and
``\uNNNN \UNNNNNNNN`` (a character), so that it stays on its line, shows what it is, and can be read back.
"""

from __future__ import annotations

import os
import re

from .visible import visible

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}
_LONG = {escape[1]: character for character, escape in _SHORT.items()}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.?)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def quoted(path: str) -> str:
    """``path``, as the system gives it (undecodable bytes as surrogates), in its one spelling."""
    plain = path.isprintable() and not path.startswith('"') and "\\" not in path and visible(path) == path
    if plain and path == path.strip() and not path.startswith("~"):
        return path
    return '"' + "".join(map(_escaped, path)) + '"'


def unquoted(spelling: str) -> str:
    """The path that ``spelling`` stands for, as the system would give it: bytes that are a character in UTF-8
    are that character. Raises ``ValueError`` with what is wrong with it."""
    if len(spelling) < 2 or not (spelling[0] == spelling[-1] == '"'):
        path = spelling
    else:
        path = _ESCAPE.sub(_unescaped, spelling[1:-1])
    try:
        path = os.fsdecode(os.fsencode(path))
    except UnicodeEncodeError:
        raise ValueError("it holds characters that no file name has") from None
    if "\0" in path:
        raise ValueError("it holds a NUL character")
    return path


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable() and visible(character) == character:
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape[:1] == "x" and len(escape) > 1:
        return os.fsdecode(bytes([int(escape[1:], 16)]))
    if escape[:1] in ("u", "U") and len(escape) > 1:
        code = int(escape[1:], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ValueError(f"the escape \\{escape} is no character")
        return chr(code)
    if escape not in _LONG:
        raise ValueError(f"the escape \\{escape} is unknown (write \\\\ for a backslash)")
    return _LONG[escape]
