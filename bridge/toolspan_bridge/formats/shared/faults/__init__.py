"""What a provider's error is about, by its status, its codes and its words.

The rules are tables of patterns: ``overflow`` for requests that are too long, ``parameters`` for settings
that a model does not take, ``rules`` for everything else and for the order in which they are tried.
"""

from __future__ import annotations

from .overflow import Lengths
from .rules import Finding, find_fault

__all__ = ["Finding", "Lengths", "find_fault"]
