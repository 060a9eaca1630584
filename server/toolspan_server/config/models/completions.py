"""Completions for an argument of a prompt, or a variable of a resource template."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from typing_extensions import override

from ...common.did_you_mean import nearest
from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.keys import DATA, FILE_INSIDE, only
from ...schema.paths import OUTSIDE, is_inside, path_fault
from ...schema.records import (
    Record,
    key,
)

_Value = Annotated[str, Limits(most=1_000)]
_Lists = dict[str, dict[str, tuple[_Value, ...]]]
_SOURCES = ("values", "values_by", "values_from")


def _one_name(lists: Mapping[str, object]) -> Mapping[str, object]:
    if len(lists) != 1:
        raise Faulty(Fault((), "names one other argument", "write {language: {python: [flask, django]}}"))
    return lists


class CompletableConfig(Record):
    """The values offered for completion. Any other value may be used as well."""

    values: tuple[_Value, ...] | None = key(
        "The values to offer, the most likely first.", default=None, inert=DATA
    )
    values_by: _Lists | None = key(
        "The values to offer for each value of another argument: {language: {python: [flask, django]}}.",
        check=_one_name,
        default=None,
        inert=DATA,
    )
    values_from: str | None = key(
        "A file of the values to offer, relative to the config's folder: one to a line, or a .json list.",
        least=1,
        default=None,
        inert=FILE_INSIDE,
    )
    outside: bool = key(OUTSIDE, default=False, inert=only(False))

    @override
    def check(self) -> None:
        """Check that there is at most one list."""
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) > 1:
            raise Faulty(Fault((given[1],), f"{given[0]!r} is there too", "keep one of them", on_key=True))
        if self.values_from is not None and not self.outside and not is_inside(self.values_from):
            raise Faulty(path_fault("values_from", self.values_from))

    def unknown(self, own: str, known: Collection[str]) -> Iterator[Fault]:
        """The fault when only the arguments ``known`` exist and this one is ``own``."""
        for name in self.values_by or ():
            others = [each for each in known if each != own]
            if name not in others:
                yield Fault(
                    ("values_by", name), f"unknown argument {name!r}", nearest(name, others), on_key=True
                )
