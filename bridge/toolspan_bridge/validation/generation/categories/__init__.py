"""What suites are about: one file each, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from ..choices import Choices
from ..drafts import Draft
from ..problems import LeftOut
from ..subjects import Subject
from . import (
    error_recovery,
    irrelevance,
    long_lists,
    missing_parameter,
    parallel,
    perturbed,
    selection,
    sequential,
)

__all__ = ["CATEGORIES", "Category"]

Category = Callable[[tuple[Subject, ...], Choices], Iterator[Draft | LeftOut]]
"""Gives the scenarios of some tools, and what cannot be made of them."""

CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        selection.CATEGORY: selection.selection,
        irrelevance.CATEGORY: irrelevance.irrelevance,
        missing_parameter.CATEGORY: missing_parameter.missing_parameter,
        parallel.CATEGORY: parallel.parallel,
        sequential.CATEGORY: sequential.sequential,
        error_recovery.CATEGORY: error_recovery.error_recovery,
        long_lists.CATEGORY: long_lists.long_lists,
        perturbed.CATEGORY: perturbed.perturbed,
    }
)
