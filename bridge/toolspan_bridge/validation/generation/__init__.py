"""Suites made of tools: what a person might ask of them, and what is then expected."""

from __future__ import annotations

from .document import as_scenario, generated_text
from .drafts import Draft
from .generate import Generated, generate
from .problems import LeftOut
from .rewriting import Rewritten, rewritten
from .subjects import Subject, subject_of

__all__ = [
    "Draft",
    "Generated",
    "LeftOut",
    "Rewritten",
    "Subject",
    "as_scenario",
    "generate",
    "generated_text",
    "rewritten",
    "subject_of",
]
