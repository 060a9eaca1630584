r"""Text from elsewhere, as a terminal and a person may see it: what acts or hides is written out.

A control character moves the cursor, rewrites the screen or fills the clipboard; an invisible one, or one
that reverses the order of others, makes a text look like another. Each is shown as Python escapes it
(``\x1b``, ``\u202e``, ``\U000e0041``), never dropped. What scripts and emoji need stays: joiners and marks
where their scripts use them, variation selectors after what varies, the three flags that are made of tags.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
_ORDER = "\u202a-\u202e\u2066-\u2069"
_MARKS = "\u061c\u200e\u200f"
_JOINERS = "\u200c\u200d"
_INVISIBLE = (
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_VARIATIONS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
_SURROGATES = "\ud800-\udfff"

# Patterns are texts, which ``re`` compiles when they are first needed: most output is plain ASCII.
_SUSPECT = f"[{_CONTROLS}{_ORDER}{_MARKS}{_JOINERS}{_INVISIBLE}{_VARIATIONS}{_TAGS}{_SURROGATES}]"

_NARROWEST = 20
_COMMAND = re.compile(r"`[^`\n]+`")
_HELD = "\0"

_FLAG = "\U0001f3f4"
_REGIONS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_FLAG_TAGS = "[\U000e0061-\U000e007a]{5}\U000e007f"
_UNDECIDED = f"(?:\r|{_FLAG}[\U000e0061-\U000e007a]{{0,5}})\\Z"

_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_JOINING = "[\u0590-\u109f\u1700-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]"
_PICTURE = "[\xa9\xae\u203c\u2049\u2122-\u3299\U0001f000-\U0001faff]"
_VARYING = (
    "[0-9#*\xa9\xae\u1820-\u18aa\u203c-\u3299\u3400-\u9fff\ua850-\ua873\uf900-\ufaff\U0001f000-\U0003ffff]"
)
_BEFORE = 12
"""How many characters before one decide whether it belongs there."""


def visible(text: str) -> str:
    """``text`` with every character that controls a terminal, or is hidden from people, as an escape.

    Line feeds, tabs and the carriage return of a line's end stay.
    """
    return _replaced(text, 0, _python)


def visible_line(text: str) -> str:
    """``text`` as ``visible`` gives it, on one line: line feeds and tabs are written as escapes too."""
    return visible(text).replace("\r\n", "\\r\\n").replace("\n", "\\n").replace("\t", "\\t")


def visible_json(text: str) -> str:
    """JSON ``text`` with the same characters as escapes of JSON: another spelling of the same value."""
    return _replaced(text, 0, _json)


def hidden_characters(text: str) -> list[str]:
    """Each sort of character in ``text`` that ``visible`` would escape, once: ``U+200B ZERO WIDTH SPACE``."""
    found = dict.fromkeys(text[place] for place in _places(text, 0))
    return [f"U+{ord(each):04X} {_name(each)}" for each in found]


class VisibleStream:
    """A streamed text, made visible: a character that the next one may explain is held back."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that can be shown after ``piece``."""
        text = self._held + piece
        waiting = re.search(_UNDECIDED, text)
        self._held = text[waiting.start() :] if waiting else ""
        return self._shown(text[: len(text) - len(self._held)])

    def end(self) -> str:
        """The text that was held back."""
        text, self._held = self._held, ""
        return self._shown(text)

    def _shown(self, text: str) -> str:
        whole = self._before + text
        shown = _replaced(whole, len(self._before), _python)
        self._before = whole[-_BEFORE:]
        return shown


def _replaced(text: str, start: int, escape: Callable[[str], str]) -> str:
    """``text`` from ``start`` on with what does not belong there escaped."""
    parts: list[str] = []
    for place in _places(text, start):
        parts += (text[start:place], escape(text[place]))
        start = place + 1
    return "".join(parts) + text[start:] if parts else text[start:]


def _places(text: str, start: int) -> Iterator[int]:
    """Where in ``text``, from ``start`` on, a character acts or hides and does not belong."""
    if text.isascii() and text.isprintable():
        return
    tags_until = 0
    for match in re.compile(_SUSPECT).finditer(text, start):
        place = match.start()
        if place < tags_until:
            continue
        tags = re.match(_FLAG_TAGS, text[place : place + 6]) if text[place - 1 : place] == _FLAG else None
        if tags and tags.group() in _REGIONS:
            tags_until = place + tags.end()
        elif not _belongs(text, place):
            yield place


def _belongs(text: str, place: int) -> bool:
    """Whether the suspect at ``place`` is there for its script's sake."""
    character = text[place]
    before = text[max(0, place - _BEFORE) : place]
    if character == "\r":
        return text[place + 1 : place + 2] == "\n"
    if character in _MARKS:
        return re.search(_RIGHT_TO_LEFT, before) is not None
    if character in _JOINERS:
        base = _base(before)
        return bool(re.match(_JOINING, base)) or (character == "\u200d" and bool(re.match(_PICTURE, base)))
    if re.match(f"[{_VARIATIONS}]", character):
        return re.match(_VARYING, before[-1:]) is not None
    return False


def _base(before: str) -> str:
    """The last character of ``before`` that others are put on: marks, variations and skin tones are not."""
    for character in reversed(before):
        tone = "\U0001f3fb" <= character <= "\U0001f3ff"
        if not tone and not unicodedata.combining(character) and not re.match(f"[{_VARIATIONS}]", character):
            return character
    return ""


def _python(character: str) -> str:
    if character in "\r":
        return "\\r"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _name(character: str) -> str:
    return unicodedata.name(character, "CONTROL" if ord(character) < 0xA0 else "no character")


def broken_between_words(text: str, columns: int) -> str:
    """``text`` in lines of fewer than ``columns``, further ones indented; a longer word, and a command in
    backquotes, which is there to be copied, stays in one piece."""
    import textwrap

    width = max(_NARROWEST, columns - 1)
    held = _COMMAND.sub(lambda command: command[0].replace(" ", _HELD), text)
    lines = [
        part
        for line in held.splitlines()
        for part in textwrap.wrap(
            line,
            width,
            subsequent_indent="    ",
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
    ]
    return "\n".join(lines).replace(_HELD, " ")


_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159"
) | {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}
"""Characters that are drawn as nothing, or as a blank, although their category is one of what is seen."""

_MOST_MARKS = 3
_TAB = "→   "
_PLAIN_RUN = re.compile("([ -~\n\t]+)|([^ -~\n\t])")
_LONG_BLANKS = re.compile(" {61,}")
_EMPTY_LINES = re.compile("(?<=\n)(?:[ \t]*\n){6,}")


def written_out(text: str) -> str:
    r"""``text`` for a person who decides about it: with nothing in it that cannot be seen.

    By an allow-list, and stricter than ``visible``: letters, digits, punctuation and symbols stay, and up to
    three marks on a letter. All else is an escape (``\u200d``, ``\u3164``, ``\xa0``), also where a script or
    an emoji needs it. Line feeds stay, a tab is an arrow, and blanks that would push what follows out of
    sight are counted: ``⟨300 spaces⟩``, ``⟨40 empty lines⟩``.
    """
    return _seen(_EMPTY_LINES.sub(_count_lines, text), _python)


def written_out_line(text: str) -> str:
    """``text`` as ``written_out`` gives it, on one line."""
    return written_out(text).replace("\n", "\\n")


def written_out_json(text: str) -> str:
    """JSON ``text`` with everything that cannot be seen as escapes of JSON: the same value."""
    return "".join(_seen_parts(text, _json))


def _seen(text: str, escape: Callable[[str], str]) -> str:
    shown = text if text.isascii() and text.isprintable() else "".join(_seen_parts(text, escape))
    return _LONG_BLANKS.sub(lambda blanks: f"⟨{len(blanks[0])} spaces⟩", shown.replace("\t", _TAB))


def _count_lines(lines: re.Match[str]) -> str:
    return f"⟨{lines[0].count(chr(10))} empty lines⟩\n"


def _seen_parts(text: str, escape: Callable[[str], str]) -> Iterator[str]:
    """Each character of ``text``, or its escape; line feeds and tabs stay. A mark is judged by what stands
    before it in the result: an escape takes none."""
    marks = -1  # how many marks the letter before has; -1: there is no letter that could have one
    for found in _PLAIN_RUN.finditer(text):
        plain, character = str(found[1] or ""), str(found[2] or "")
        if plain:
            marks = 0 if plain[-1].isalpha() else -1
            yield plain
            continue
        category = unicodedata.category(character)
        is_mark = category in ("Mn", "Mc")
        if is_mark and 0 <= marks < _MOST_MARKS and character not in _BLANK:
            marks += 1
            yield character
        elif category[0] in "LNPS" and character not in _BLANK:
            marks = 0 if category[0] == "L" else -1
            yield character
        else:
            marks = -1
            yield escape(character)
