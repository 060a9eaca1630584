"""Suites: what models are asked, with which tools, and what they should do."""

from __future__ import annotations

from .conversed import Conversed
from .expected import Expect, ExpectedCall
from .files import check_tools, default_suite, load_suite
from .scenario import Scenario, Turn
from .setting import Setting, StandIn
from .suite import Suite
from .verdicts import Verdict, judge

__all__ = [
    "Conversed",
    "Expect",
    "ExpectedCall",
    "Scenario",
    "Setting",
    "StandIn",
    "Suite",
    "Turn",
    "Verdict",
    "check_tools",
    "default_suite",
    "judge",
    "load_suite",
]
