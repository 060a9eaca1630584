"""Values of parameters that are texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..choices import Choices
from ..english import telling_words, words_of
from .patterns import matching
from .pools import texts_for

_FORMATS: Mapping[str, Sequence[str]] = {
    "date": ("2026-03-14", "2026-05-02", "2026-09-21"),
    "time": ("14:30:00Z", "09:15:00Z", "18:45:00Z"),
    "date-time": ("2026-03-14T14:30:00Z", "2026-05-02T09:15:00Z", "2026-09-21T18:45:00Z"),
    "duration": ("PT45M", "PT2H", "P3D"),
    "email": ("ann.lee@example.com", "omar@example.org", "kim@example.com"),
    "idn-email": ("ann.lee@example.com", "omar@example.org"),
    "hostname": ("files.example.com", "mail.example.org"),
    "ipv4": ("192.0.2.17", "198.51.100.8", "203.0.113.44"),
    "ipv6": ("2001:db8::17", "2001:db8::a8"),
    "uri": ("https://example.com/articles/42", "https://example.org/guides/setup"),
    "uri-reference": ("/articles/42", "/guides/setup"),
    "iri": ("https://example.com/articles/42", "https://example.org/guides/setup"),
    "uuid": ("3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b", "7a9c0d12-34e5-4f67-8b90-a1b2c3d4e5f6"),
    "json-pointer": ("/items/0/name", "/total"),
    "regex": ("^report-[0-9]+$", "[a-z]+"),
}
_GIVEN = re.compile(
    r"(?:e\.?\s?g\.?,?|such as|for example:?|for instance:?|like|examples?:|i\.e\.,?)"
    r"((?:\s*(?:(?:,|or|and)\s*)?(?:'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`))+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|`([^`\n]+)`")
_PLAIN = ("lantern", "compass", "meadow", "harbour")
_FILLING = "the boat leaves the harbour at noon and returns in the evening "


def texts(
    name: str, rules: Mapping[str, Any], about: frozenset[str], called: Sequence[str], choices: Choices
) -> Iterator[str]:
    """Texts for the parameter ``name``, the most fitting first; each must still be checked."""
    described = str(rules.get("description") or "")
    about = about | telling_words(described[:200])
    yield from choices.shuffled(examples_in(described))
    yield from choices.shuffled(_FORMATS.get(str(rules.get("format")), ()))
    titles = (name, str(rules.get("title", "")))
    pool = next(filter(None, (texts_for(words_of(each), about, called) for each in titles)), ())
    yield from choices.shuffled(pool)
    if isinstance(pattern := rules.get("pattern"), str):
        tried = (matching(pattern, choices.of("pattern", turn)) for turn in range(8))
        yield from (each for each in tried if each)
    yield from choices.shuffled(_PLAIN)
    lengths = (rules.get("minLength"), rules.get("maxLength"))
    length = next((int(each) for each in lengths if isinstance(each, int | float)), 0)
    if 0 < length <= 200:
        yield (_FILLING * (length // len(_FILLING) + 1))[:length].strip().ljust(length, "s")


def examples_in(description: str) -> list[str]:
    """What a description gives as examples: ``e.g. 'Europe/London' or 'Asia/Tokyo'``."""
    return [
        next(text for text in quoted.groups() if text).strip()
        for given in _GIVEN.finditer(description[:2000])
        for quoted in _QUOTED.finditer(given.group(1))
    ]
