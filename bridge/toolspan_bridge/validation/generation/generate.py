"""A suite made of tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .categories import CATEGORIES
from .choices import Choices
from .drafts import Draft
from .problems import LeftOut
from .subjects import Subject, told_apart


@dataclass(frozen=True, slots=True)
class Generated:
    """The scenarios of a suite in their order, and what could not be made."""

    drafts: tuple[Draft, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many scenarios each category has, in the order of the suite; 0 for one without any."""
        counted = Counter(draft.category for draft in self.drafts)
        return {category: counted[category] for category in CATEGORIES}


def generate(tools: Iterable[Subject], seed: int = 1) -> Generated:
    """Scenarios of every category for ``tools``: the same for the same tools, in whatever order, and
    ``seed``."""
    told, left_out = told_apart(tools)
    drafts: list[Draft] = []
    for category, made in CATEGORIES.items():
        for each in made(told, Choices(str(seed)).of(category)):
            if isinstance(each, Draft):
                drafts.append(each)
            else:
                left_out.append(each)
    return Generated(tuple(drafts), tuple(left_out))
