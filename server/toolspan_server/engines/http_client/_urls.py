"""URLs with ``{name}`` in them, filled in so that no value can lead out of its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from ._errors import bad_argument
from ._hosts import url_problem

MAX_URL = 16_384
"""Longest URL that is sent, in characters."""

_PLACEHOLDER = re.compile(r"\{([^{}/?#]{1,200})\}")
_LITERAL_SAFE = "%:@!$&'()*+,;=~"
_DECODINGS = 4


@dataclass(frozen=True, slots=True)
class UrlTemplate:
    """``https://api.example.com/users/{id}?lang={lang}``: placeholders in the path and query alone."""

    start: str
    segments: tuple[str, ...]
    query: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """``url`` as a template. Raises ``ValueError`` when it cannot be one."""
        bare = _PLACEHOLDER.sub("x", url)
        if "{" in bare or "}" in bare:
            raise ValueError("has a brace without its partner: write {name}")
        if (problem := url_problem(bare)) is not None:
            raise ValueError(problem)
        if "#" in url:
            raise ValueError("has a fragment (#…), which is never sent")
        rest, _, query = url.partition("?")
        scheme, _, rest = rest.partition("://")
        authority, slash, path = rest.partition("/")
        if "{" in authority:
            raise ValueError("has a placeholder in its host: only path and query may have one")
        segments = tuple(path.split("/")) if slash else ("",)
        if any(unquote(segment) in (".", "..") for segment in segments):
            raise ValueError("has a relative step in its path: write where it leads to")
        return cls(f"{scheme.lower()}://{authority}", segments, query)

    @property
    def names(self) -> list[str]:
        """The placeholders, each once."""
        return list(dict.fromkeys(_PLACEHOLDER.findall("/".join((*self.segments, self.query)))))

    @property
    def host(self) -> str:
        """Where requests go."""
        return urlsplit(self.start).hostname or ""

    def expanded(self, values: Mapping[str, str], query: Iterator[tuple[str, str]]) -> str:
        """The URL with ``values`` at their places and ``query`` added, everything encoded.

        Raises ``ToolFailure`` for a value that is not there, and for one that is a step in a path.
        """
        path = "/".join(_segment(segment, values) for segment in self.segments)
        pairs = [_filled(self.query, values, "=&;,:@!$'()*+/?~%-._")] if self.query else []
        pairs += [f"{name}={value}" for name, value in query]
        url = f"{self.start}/{path}" + (f"?{'&'.join(pairs)}" if pairs else "")
        if len(url) > MAX_URL:
            raise bad_argument(
                "the arguments", f"make a URL of {len(url):,} characters, more than {MAX_URL:,}"
            )
        return url


def _segment(segment: str, values: Mapping[str, str]) -> str:
    """One step of the path. What another reader could take for several steps or for ``..`` is refused."""
    names = _PLACEHOLDER.findall(segment)
    for name in names:
        if values.get(name) == "":
            raise bad_argument(name, "is empty, which a path cannot hold")
    filled = _filled(segment, values, _LITERAL_SAFE)
    if names and _is_step(_PLACEHOLDER.sub(lambda match: values.get(match[1], ""), segment)):
        raise bad_argument(names[0], "leads to another place in the path")
    return filled


def _filled(text: str, values: Mapping[str, str], safe: str) -> str:
    parts: list[str] = []
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        if match[1] not in values:
            raise bad_argument(match[1], "is missing")
        parts += [quote(text[end : match.start()], safe=safe), encoded(values[match[1]], match[1])]
        end = match.end()
    return "".join([*parts, quote(text[end:], safe=safe)])


def encoded(value: str, name: str) -> str:
    """``value`` with everything but letters, digits and ``-._~`` percent-encoded."""
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise bad_argument(name, "holds half of a surrogate pair, which is not a character") from None


def _is_step(value: str) -> bool:
    """Whether ``value`` holds ``.`` or ``..`` between slashes, also once it is decoded again and again."""
    text = value
    for _ in range(_DECODINGS):
        plain = unicodedata.normalize("NFKC", text).replace("\\", "/")
        parts = [part.partition(";")[0].strip() for part in plain.split("/")]
        if ".." in parts or parts == ["."]:
            return True
        if (decoded := unquote(text)) == text:
            return False
        text = decoded
    return True
