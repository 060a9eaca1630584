"""Suites as YAML that people like to edit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...files.yaml_text import block, line
from ...providers.wire.json_types import is_list, is_object

_DIGEST = "# As it was written: sha256 "
_SPREAD = frozenset(("expect", "turns", "mocks"))
"""The keys whose members have a line each; all else of a scenario is on one line."""


def suite_text(
    name: str, sections: Iterable[tuple[str, Sequence[Mapping[str, Any]]]], comments: Sequence[str] = ()
) -> str:
    """A suite as YAML: ``sections`` are comments, or nothing, each with the scenarios below it, as a suite's
    file has them. ``comments`` stand at its beginning, and a line by which ``is_edited`` knows the text."""
    body = "".join((block({"name": name}, 0, escaped=False), "scenarios:\n", *_scenarios(sections)))
    above = "".join(f"# {comment}\n" for comment in comments)
    return f"{above}{_DIGEST}{_digest(body)}\n{body}"


def is_edited(text: str) -> bool:
    """Whether ``text`` is not as ``suite_text`` wrote it, or was not written by it."""
    _, mark, rest = text.partition(_DIGEST)
    digest, _, body = rest.partition("\n")
    return not mark or digest.strip() != _digest(body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _scenarios(sections: Iterable[tuple[str, Sequence[Mapping[str, Any]]]]) -> Iterator[str]:
    for comment, scenarios in sections:
        if comment and scenarios:
            yield f"\n  # {comment}\n"
        for scenario in scenarios:
            first, *rest = (text for key, value in scenario.items() for text in _key(key, value))
            yield f"  - {first.strip()}\n"
            yield from (f"    {text}\n" for text in rest)


def _key(key: str, value: Any) -> Iterator[str]:
    """The lines of one key of a scenario."""
    if key not in _SPREAD or not (is_object(value) or is_list(value)):
        yield f"{line(key)}: {line(value)}"
        return
    yield f"{line(key)}:"
    if is_list(value):
        yield from (f"  - {line(each)}" for each in value)
        return
    for name, part in value.items():
        if name == "calls" and is_list(part):
            yield f"  {line(name)}:"
            yield from (f"    - {line(each)}" for each in part)
        else:
            yield f"  {line(name)}: {line(part)}"
