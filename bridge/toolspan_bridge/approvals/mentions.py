"""Files that the arguments of a tool may name, when nobody knows how the tool reads them.

Our own tools say which of their arguments are paths, and how they read them. Any other tool may take each
text for a path, a URL, a command, JSON or a glob, relative to a folder that is not known here. So each text
is read in all of these ways. To be denied, one reading is enough. To be allowed, the text has to be so plain
that all readings are one path. In between are texts of which one cannot tell: a person is asked about them.
"""

from __future__ import annotations

import html
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, cast
from urllib.parse import unquote

from toolspan_server.common.beside_loop import LARGE_BYTES, run_beside
from toolspan_server.common.call_patterns import PathGlobs
from toolspan_server.common.path_spelling import unquoted

Doubt = Literal["yes", "perhaps", "no"]
"""Whether a rule's files are meant."""

_DEEPEST = 32
_MOST_CHARACTERS = 8_192
_MOST_READ = 65_536
"""The characters of all texts in all their readings that are looked at."""
_MUCH_TEXT = 128
"""From so many characters on arguments are judged away from the event loop: a name of a file takes 0.1 ms."""
_MOST_READINGS = 32
_MOST_WORDS = 400
_LONGEST_PATH, _MOST_PARTS = 4_096, 64
_MOST_WILD, _LONGEST_WILD = 50, 256
_MOST_STEPS = 20_000

_PLAIN = re.compile(r"[\w./+@][\w./+@-]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ESCAPE = re.compile(
    r"\\U([0-9a-f]{8})|[\\%]u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\0?([0-7]{3})",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/\s]*(?=/))?")
_TRAILING = re.compile(r"(?<=[^./ ])[. ]++(?=/|$)")
_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_COARSE = re.compile(r"[\s\"'`;|&<>()\0]+")
_FINE = re.compile(r"[^\w./~+@*?-]+")
_VARIABLE = re.compile(r"\$(?:\{[^{}$]*+\}|\([^()$]*+\)|[{(]|[A-Za-z_]\w*+)|`[^`]*`")
_WILD = re.compile(r"\*\*|\*|\?|\[\[?[^\[\]/]++\]|\{(?:[^{}\s\"',.]|\.(?!\.))*+(?:,|\.\.)[^{}\s\"']*+\}|\0")
_STARS = re.compile(r"(?<=[^/])\*\*+|\*\*+(?=[^/])")

_ONE, _MANY, _DEEP, _FOLDERS = 1, 2, 3, 4
"""One character and any number of them in a folder, any number anywhere; before ``**`` and a slash, which may
both be left out."""

_Token = str | int


def is_plain_path(text: str) -> bool:
    """Whether every reader takes ``text`` for the same path, if for one."""
    return (
        bool(_PLAIN.fullmatch(text)) and unicodedata.normalize("NFKC", text) == text and "//" not in text[1:]
    )


def texts_in(value: Any, depth: int = 0) -> Iterator[str | None]:
    """The texts in arguments, names of members included, unless they are plain names of arguments; ``None``
    for what lies too deep to be looked at."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            if depth or not _NAME.fullmatch(name):
                yield name
            yield from texts_in(each, depth + 1) if depth < _DEEPEST else (None,)
    elif isinstance(value, list | tuple):
        for each in cast("Iterable[Any]", value):
            yield from texts_in(each, depth + 1) if depth < _DEEPEST else (None,)


T = TypeVar("T")


async def run_judging(arguments: Mapping[str, Any], work: Callable[[], T]) -> T:
    """What ``work`` gives, which judges ``arguments``; in another thread where these are more than short."""
    length = 0
    for text in texts_in(arguments):
        length += 1 + len(text or "")
        if length > _MUCH_TEXT:
            return await run_beside(LARGE_BYTES, work)
    return work()


class MentionedFiles:
    """What the texts of ``arguments`` may name, relative to any of ``folders``."""

    def __init__(self, arguments: Mapping[str, Any], folders: Sequence[Path]) -> None:
        self._folders = [os.path.realpath(folder) for folder in folders]
        self._paths: dict[str, bool] = {}
        self._wild: dict[str, None] = {}
        self._is_cut = False
        self._left = _MOST_READ
        self._gather(arguments)

    def are_of(self, globs: Sequence[str]) -> Doubt:
        """Whether a file that ``globs`` mean is named."""
        exact, loose = PathGlobs(globs, self._folders), _anywhere(globs)
        doubt: Doubt = "perhaps" if self._is_cut else "no"
        for word, certain in self._paths.items():
            is_loosely_meant = loose.touch(_folded(os.path.normpath(f"/{word}")))
            if not (is_loosely_meant or self._leads_on(word)):
                continue  # lexically what is meant exactly is meant loosely too
            if any(exact.touch(path) for path in self._real(word)):
                if certain:
                    return "yes"
                doubt = "perhaps"
            elif is_loosely_meant:
                doubt = "perhaps"
        if not self._wild:
            return doubt
        return self._wildly_of(globs, doubt)

    def _wildly_of(self, globs: Sequence[str], doubt: Doubt) -> Doubt:
        absolute = [_tokens(each) for glob in globs for each in _meant(glob, self._folders)]
        anywhere = [_tokens(_folded(each)) for glob in globs for each in _unanchored(glob)]
        left = _MOST_STEPS
        for word in self._wild:
            if doubt == "no" and not _COARSE.search(word.replace("\0", "")) and self._may_lead_on(word):
                doubt = "perhaps"
            starts = [word] if word.startswith(("/", "\0")) else [f"{each}/{word}" for each in self._folders]
            is_telling = "\0" not in word and any(map(str.isalnum, _WILD.sub("", word)))
            exactly = [_tokens(_collapsed(start)) for start in starts] if is_telling else []
            pairs = [(each, rule, "yes") for each in exactly for rule in absolute]
            pairs += [(_tokens(_folded(_collapsed(f"/{word}"))), rule, "perhaps") for rule in anywhere]
            for one, other, sort in pairs:
                if sort == "perhaps" == doubt:
                    continue
                met, left = _meet(one, other, left)
                if met and sort == "yes":
                    return "yes"
                doubt = "perhaps" if met or left <= 0 else doubt
        return doubt

    def _may_lead_on(self, word: str) -> bool:
        """Whether links may be among what the glob ``word`` means: it is not looked up."""
        literal, slash, _ = word[: min(found.start() for found in _WILD.finditer(word))].rpartition("/")
        if slash or "/" in word:
            return any(os.path.isdir(os.path.join(each, literal)) for each in self._folders)  # noqa: PTH112, PTH118 - a text
        named = (each for each in self._entries if _meet(_tokens(word), list(each), _MOST_STEPS)[0])
        return any(os.path.islink(f"{folder}/{name}") for name in named for folder in self._folders)  # noqa: PTH114

    def _gather(self, arguments: Mapping[str, Any]) -> None:
        seen: set[str | None] = set()
        for text in texts_in(arguments):
            if self._is_full:
                self._is_cut = True
                return
            if text in seen:
                continue
            seen.add(text)
            if text is None:
                self._is_cut = True
                continue
            if len(text) > _MOST_CHARACTERS:
                self._is_cut = True
                text = text[:_MOST_CHARACTERS].rpartition(" ")[0]  # noqa: PLW2901 - the last word may be cut
            found, is_cut = readings(text, self._left)
            self._left -= sum(map(len, found)) + 1
            self._is_cut |= is_cut
            for reading in found:
                if not self._is_full:
                    self._add_words(reading)

    @property
    def _is_full(self) -> bool:
        return self._left <= 0 or len(self._paths) > _MOST_WORDS or len(self._wild) > _MOST_WILD

    def _add_words(self, reading: str) -> None:
        unknown = _VARIABLE.sub("\0", reading)
        words = dict.fromkeys((unknown, *_COARSE.split(reading), *_FINE.split(reading)))
        if unknown != reading:
            words |= dict.fromkeys(re.split(r"[\s\"';|&<>()]+", unknown))
        for word in words:
            if not word or word in self._paths or word in self._wild:
                continue
            is_wild = _WILD.search(word)
            if len(word) > (_LONGEST_WILD if is_wild else _LONGEST_PATH) or word.count("/") > _MOST_PARTS:
                self._is_cut |= word != unknown or not _COARSE.search(word)
            elif is_wild:
                self._wild[word] = None
            else:
                self._paths[word] = word == reading or not word.isalpha()
            if self._is_full:
                self._is_cut = True
                return

    @cached_property
    def _entries(self) -> frozenset[str]:
        """The names in the folders, and others with which a path begins that has to be looked at."""
        found: set[str] = {"", ".", ".."}
        for folder in self._folders:
            with suppress(OSError):
                found.update(os.listdir(folder))  # noqa: PTH208 - names only
        return frozenset(found)

    def _leads_on(self, word: str) -> bool:
        """Whether ``word`` may lead through links, or elsewhere."""
        start = word.partition("/")[0]
        return start in self._entries or start.startswith("~")

    def _real(self, word: str) -> Iterator[str]:
        for folder in self._folders:
            try:
                yield os.path.realpath(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH118 - a text
            except (ValueError, OSError):
                continue


def readings(text: str, most: int = _MOST_READ) -> tuple[list[str], bool]:
    """What ``text`` may be, decoded in every way, it first, ``most`` characters together or the first alone;
    and whether that is not all."""
    found = {text: None}
    waiting, left = [text], most - len(text)
    while waiting:
        current = waiting.pop()
        for read in _READERS:
            for each in read(current):
                if each and each not in found:
                    left -= len(each)
                    if len(found) >= _MOST_READINGS or left < 0:
                        return list(found), True
                    found[each] = None
                    waiting.append(each)
    return list(found), False


def _spelled(text: str) -> Iterator[str]:
    try:
        yield unquoted(text)
    except ValueError:
        return


def _of_json(text: str) -> Iterator[str]:
    if text.lstrip()[:1] not in ("[", "{", '"'):
        return
    try:
        yield from (each for each in texts_in(json.loads(text), 1) if each is not None)
    except (ValueError, RecursionError):
        return


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = int(found[5], 8) if found[5] else int(next(filter(None, found.groups())), 16)
        return chr(code) if code < 0x110000 else found[0]

    return _ESCAPE.sub(character, text)


def _folded(text: str) -> str:
    """``text`` with what looks or compares alike made the same, and without what cannot be seen."""
    if text.isascii():
        return text.lower()
    shown = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", "".join(each for each in text if unicodedata.category(each) != "Cf"))


_READERS: tuple[Callable[[str], Iterable[str]], ...] = (
    _spelled,
    _of_json,
    lambda text: (_unescaped(text),) if "\\" in text or "%u" in text else (),
    lambda text: (unquote(text, errors="surrogateescape"),) if "%" in text else (),
    lambda text: (html.unescape(text),) if "&" in text else (),
    lambda text: (os.path.expandvars(text),) if "$" in text else (),
    lambda text: (text.replace("\\", "/"), text.replace("\\", "")) if "\\" in text else (),
    lambda text: (text.replace('"', "").replace("'", ""),) if '"' in text or "'" in text else (),
    lambda text: (_HIDDEN.sub("", text), *_HIDDEN.split(text)) if _HIDDEN.search(text) else (),
    lambda text: (text[found.end() :],) if (found := _SCHEME.match(text)) else (),
    lambda text: (_TRAILING.sub("", text),),
    lambda text: (text.strip(), _visible(text)),
)
"""The ways in which tools read texts, each of one step; they are taken in any order."""


def _anywhere(globs: Sequence[str]) -> PathGlobs:
    """``globs`` in whatever folder they begin, and of files by their last name."""
    return PathGlobs([f"/**/{_folded(each)}" for glob in globs for each in _loose(glob)], ["/"])


def _loose(glob: str) -> Iterator[str]:
    parts = [part for part in glob.split("/") if part not in ("", ".", "..", "~")]
    yield "/".join(parts)
    if parts and not _WILD.search(parts[-1]):
        yield parts[-1]


def _meant(glob: str, folders: Sequence[str]) -> Iterator[str]:
    """``glob``, absolute, with the folder that it means and all that is in it."""
    for folder in folders:
        start = os.path.normpath(os.path.join(folder, os.path.expanduser(glob)))  # noqa: PTH111, PTH118 - a glob
        yield from (start, f"{start}/**", *((start.removesuffix("/**"),) if start.endswith("/**") else ()))


def _unanchored(glob: str) -> Iterator[str]:
    for each in _loose(glob):
        yield from _meant(f"/**/{each}", ["/"])


def _collapsed(word: str) -> str:
    """``word`` without ``..``; ``**`` is in it only where it means folders."""
    return os.path.normpath(_STARS.sub("*", word).replace("\0", "\ue000")).replace("\ue000", "\0")


def _tokens(glob: str) -> list[_Token]:
    tokens: list[_Token] = []
    end = 0
    for found in _WILD.finditer(glob):
        tokens += glob[end : found.start()]
        end = found.end()
        if found.group() == "**" and glob[end : end + 1] == "/":
            tokens += [_FOLDERS, _DEEP]
        elif found.group() in ("**", "\0"):
            tokens.append(_DEEP)
        else:
            tokens.append(_ONE if found.group()[0] in "?[" else _MANY)
    return [*tokens, *glob[end:]]


def _meet(one: Sequence[_Token], other: Sequence[_Token], most: int) -> tuple[bool, int]:
    """Whether there is a path that both mean, found in ``most`` steps; how many of these are left."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting and len(seen) < most:
        at, there = waiting.pop()
        if at == len(one) and there == len(other):
            return True, most - len(seen)
        first = one[at] if at < len(one) else ""
        second = other[there] if there < len(other) else ""
        steps = [(each, there) for each in _skipped(first, at)]
        steps += [(at, each) for each in _skipped(second, there)]
        if _agree(first, second):
            steps.append((at + (first not in (_MANY, _DEEP)), there + (second not in (_MANY, _DEEP))))
        for step in steps:
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    return False, most - len(seen)


def _skipped(token: _Token, at: int) -> tuple[int, ...]:
    """Where the token at ``at`` goes on without a character."""
    if token == _FOLDERS:
        return at + 1, at + 3
    return (at + 1,) if token in (_MANY, _DEEP) else ()


def _agree(first: _Token, second: _Token) -> bool:
    """Whether one character is both."""
    if first in ("", _FOLDERS) or second in ("", _FOLDERS):
        return False
    if isinstance(first, str):
        return first == second if isinstance(second, str) else second == _DEEP or first != "/"
    return not isinstance(second, str) or first == _DEEP or second != "/"
