"""When a value that a model wrote is the one that was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, cast

from typing_extensions import override

from toolspan_server.common.re2_patterns import compiled

from ._clean import clean_text

FORMS = ("contains", "equals", "matches", "one_of")
"""The one-key objects that say how an argument is compared; any other object is itself the value."""


class _Pattern(Protocol):
    def search(self, text: str) -> object | None: ...


@dataclass(frozen=True, slots=True)
class TextRule:
    """What a text must hold: a part, in any case (``contains``), or an RE2 pattern's match (``matches``)."""

    kind: Literal["contains", "matches"]
    text: str

    def holds(self, text: str) -> bool:
        """Whether ``text`` fulfils the rule."""
        return _contains(text, self.text) if self.kind == "contains" else _found(text, self.text)

    @override
    def __str__(self) -> str:
        return f"{'contain' if self.kind == 'contains' else 'match'} {self.text!r}"


def parse_text_rules(value: object) -> tuple[TextRule, ...]:
    """The alternatives of an ``answer``: a string, ``{contains: …}``, ``{matches: …}``, or a list of these.

    Raises ``ValueError``.
    """
    entries = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
    if not entries:
        raise ValueError("at least one alternative is needed")
    return tuple(_text_rule(entry) for entry in entries)


def check_expected(value: object) -> None:
    """Raise ``ValueError`` when a form inside an expected argument is not usable."""
    form = _form(value)
    if form is None:
        for item in _children(value):
            check_expected(item)
        return
    kind, operand = form
    if kind == "one_of":
        if not isinstance(operand, list) or not operand:
            raise ValueError(f"one_of needs a list of at least one value, not {operand!r}")
        for item in cast("list[object]", operand):
            check_expected(item)
    elif kind != "equals":
        _text_rule({kind: operand})


def fits(expected: object, actual: object) -> bool:
    """Whether ``actual`` is what ``expected`` asks for.

    Numbers are compared as numbers (``2`` is ``2.0``), strings without regard to case and surrounding space;
    of an object only the keys that are given count; a list must fit item by item.
    """
    form = _form(expected)
    if form is not None:
        return _fits_form(form[0], form[1], actual)
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            return False
        wanted, given = cast("Mapping[str, object]", expected), cast("Mapping[str, object]", actual)
        return all(key in given and fits(item, given[key]) for key, item in wanted.items())
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return False
        items, found = cast("list[object]", expected), cast("list[object]", actual)
        return len(items) == len(found) and all(map(fits, items, found))
    return _equal(expected, actual)


def _fits_form(kind: str, operand: object, actual: object) -> bool:
    if kind == "one_of":
        return any(fits(item, actual) for item in cast("list[object]", operand))
    if kind == "equals":
        return _equal(operand, actual)
    if not isinstance(actual, str):
        return False
    return _contains(actual, str(operand)) if kind == "contains" else _found(actual, str(operand))


def _equal(expected: object, actual: object) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return expected == actual or _close(expected, actual)
    if isinstance(expected, str) and isinstance(actual, str):
        return expected.strip().casefold() == actual.strip().casefold()
    return expected == actual


def _close(expected: float, actual: float) -> bool:
    try:
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    except OverflowError:
        return False


def _form(value: object) -> tuple[str, object] | None:
    if isinstance(value, Mapping):
        pairs = list(cast("Mapping[object, object]", value).items())
        if len(pairs) == 1 and pairs[0][0] in FORMS:
            return str(pairs[0][0]), pairs[0][1]
    return None


def _children(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(cast("Mapping[object, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []


def _text_rule(value: object) -> TextRule:
    if isinstance(value, TextRule):
        return value
    if isinstance(value, str):
        value = {"contains": value}
    form = _form(value)
    if form is None or form[0] not in ("contains", "matches"):
        raise ValueError(
            f"a string, {{contains: …}}, {{matches: …}} or a list of these is needed, not {value!r} "
            "(put a number in quotes)"
        )
    kind, text = form
    if not isinstance(text, str) or not text:
        raise ValueError(f"{kind} needs a text that is not empty, not {text!r} (put a number in quotes)")
    if kind == "matches":
        _compiled(text)
        return TextRule("matches", text)
    return TextRule("contains", text)


def _contains(text: str, part: str) -> bool:
    return part.strip().casefold() in text.casefold()


def _found(text: str, pattern: str) -> bool:
    return _compiled(pattern).search(clean_text(text)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> _Pattern:
    try:
        return cast("_Pattern", compiled(clean_text(pattern)))
    except ValueError as error:
        raise ValueError(f"{pattern!r} is not a valid RE2 pattern: {error}") from None
