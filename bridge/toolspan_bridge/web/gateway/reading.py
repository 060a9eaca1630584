"""Reads the JSON of a request, member by member, and knows what of it was not read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, cast

from .faults import RequestFault

__all__ = ["MOST_WHOLE", "Fields", "json_object"]

_MOST_IN_PATTERN, _MOST_IN_PATTERNS = 2_000, 5_000
"""The characters of one regular expression in a schema, and of all in it."""
_MOST_TEXTS, _MOST_IN_TEXT = 64, 1_000
"""The texts of a list, such as those that end an answer, and the characters of one."""
_MOST_ITEMS, _MOST_MEMBERS = 10_000, 5_000
"""The items of a list that is read one by one, and the members of such an object; schemas are not."""
MOST_WHOLE = 2**31 - 1
"""The largest whole number that a request may ask with: more tokens than any model writes."""


def _patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    """Every regular expression in ``schema``."""
    left: list[Any] = [schema]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            if isinstance(pattern := members.get("pattern"), str):
                yield pattern
            if isinstance(named := members.get("patternProperties"), dict):
                yield from cast("dict[str, Any]", named)
            left.extend(members.values())
        elif isinstance(value, list):
            left.extend(cast("Any", value))


def json_object(value: Any, place: str) -> dict[str, Any]:
    """``value``. Raises ``RequestFault`` where it is no object; ``place`` says where it stands."""
    if not isinstance(value, dict):
        raise RequestFault(f"{place or 'the body'} must be a JSON object", param=place)
    return cast("dict[str, Any]", value)


class Fields:
    """The members of the object ``data``, which stands at ``place`` of a request. A method that finds a value
    of another type raises ``RequestFault``; ``null`` is as good as none.
    """

    def __init__(self, data: Any, place: str = "") -> None:
        self._data = json_object(data, place)
        self._place = place
        if len(self._data) > _MOST_MEMBERS:
            why = f"{place or 'the body'} may have {_MOST_MEMBERS:,} members, and has {len(self._data):,}"
            raise RequestFault(why, param=place)
        self._read: set[str] = set()

    def at(self, name: str) -> str:
        """Where the member ``name`` stands."""
        return f"{self._place}.{name}" if self._place else name

    def value(self, name: str) -> Any:
        """The member, of any type."""
        self._read.add(name)
        return self._data.get(name)

    def ignore(self, *names: str) -> None:
        """These members are no one's loss."""
        self._read.update(names)

    def text(self, name: str, default: str = "", *, most: int | None = None) -> str:
        """A text, of at most so many characters."""
        value = self.value(name)
        if value is None:
            return default
        if isinstance(value, str) and (most is None or len(value) <= most):
            return value
        return self._wrong(name, "a text" if most is None else f"a text of at most {most:,} characters")

    def needed(self, name: str) -> str:
        """A text that is there and is not empty."""
        return self.text(name) or self._wrong(name, "a text that is not empty")

    def whole(self, name: str, *, least: int = 1, most: int = MOST_WHOLE) -> int | None:
        """A whole number from ``least`` to ``most``."""
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        return self._wrong(name, f"a whole number from {least} to {most:,}")

    def number(self, name: str, most: float, *, least: float = 0) -> float | None:
        """A number from ``least`` to ``most``."""
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        return self._wrong(name, f"a number from {least:g} to {most:g}")

    def numbers(self, least: float, most: float, count: int) -> dict[str, float]:
        """All members: at most ``count``, each a number from ``least`` to ``most``."""
        if len(self._data) > count:
            raise RequestFault(f"{self._place} may have {count:,} members", param=self._place)
        found = {name: self.number(name, most, least=least) for name in self._data}
        return {name: value for name, value in found.items() if value is not None}

    def flag(self, name: str) -> bool | None:
        """``true`` or ``false``."""
        value = self.value(name)
        return value if value is None or isinstance(value, bool) else self._wrong(name, "true or false")

    def one_of(self, name: str, known: Collection[str], default: str = "") -> str:
        """One of the texts ``known``."""
        value = self.text(name, default)
        return (
            value if value in known or value == default else self._wrong(name, f"one of {', '.join(known)}")
        )

    def items(self, name: str) -> Sequence[Any]:
        """A list; none is an empty one."""
        value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self._wrong(name, "a list")
        found = cast("Sequence[Any]", value)
        if len(found) > _MOST_ITEMS:
            why = f"{self.at(name)} may have {_MOST_ITEMS:,} items, and has {len(found):,}: send fewer"
            raise RequestFault(why, param=self.at(name))
        return found

    def objects(self, name: str) -> Iterator[Fields]:
        """The objects of a list."""
        for number, item in enumerate(self.items(name)):
            yield Fields(item, f"{self.at(name)}[{number}]")

    def object(self, name: str) -> Fields | None:
        """An object."""
        value = self.value(name)
        return None if value is None else Fields(value, self.at(name))

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """An object as it is."""
        value = self.value(name)
        return None if value is None else json_object(value, self.at(name))

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """A JSON Schema, whose patterns a validator compiles in bounded time: it takes 12 ms for 1,000
        characters, and lets nothing else run meanwhile."""
        found = self.mapping(name)
        sizes = [] if found is None else list(map(len, _patterns(found)))
        if sizes and (max(sizes) > _MOST_IN_PATTERN or sum(sizes) > _MOST_IN_PATTERNS):
            why = f"has patterns of {max(sizes):,} characters, of {sum(sizes):,} in all"
            limits = f"a pattern may have {_MOST_IN_PATTERN:,}, all of them {_MOST_IN_PATTERNS:,}"
            raise RequestFault(f"{self.at(name)} {why}: {limits}", param=self.at(name))
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A text, or a list of texts: not many, and none of them long."""
        value = self.value(name)
        if value is not None and not isinstance(value, str | list):
            self._wrong(name, "a text or a list of texts")
        alone: list[Any] = [value] if value else []
        found: list[Any] = cast("Any", value) if isinstance(value, list) else alone
        if not all(isinstance(each, str) and each for each in found):
            self._wrong(name, "a text or a list of texts")
        if len(found) > _MOST_TEXTS or any(len(each) > _MOST_IN_TEXT for each in found):
            most = f"at most {_MOST_TEXTS} texts, each of {_MOST_IN_TEXT:,} characters at most"
            self._wrong(name, f"{most}; it has {len(found):,}, the longest of {max(map(len, found)):,}")
        return tuple(found)

    def refuse(self, name: str, why: str, *, unless: Iterable[Any] = ()) -> None:
        """Raise ``RequestFault`` where the member is there and none of ``unless``: it cannot be done."""
        value = self.value(name)
        if value is not None and value not in tuple(unless):
            raise RequestFault(f"{self.at(name)}: {why}", param=self.at(name), code="unsupported_parameter")

    def ignore_usual(self, usual: Mapping[str, Sequence[Any]]) -> None:
        """Members that only say what holds anyhow are no one's loss."""
        self.ignore(*(name for name, values in usual.items() if self._data.get(name) in values))

    def unread(self) -> list[str]:
        """A warning for each member that is there and was not read."""
        left = (name for name, value in self._data.items() if name not in self._read and value is not None)
        return [f"{self.at(name)[:100]!r} has no effect here" for name in left]

    def _wrong(self, name: str, wanted: str) -> NoReturn:
        raise RequestFault(f"{self.at(name)} must be {wanted}", param=self.at(name), code="invalid_type")
