"""The Berkeley Function-Calling Leaderboard: its files as a suite, scored by its rules.

suite = load_bfcl(Path("data"))
why = suite.cases["simple_python_0"].fault_of([MadeCall("calculate_triangle_area", {"base": 10})])
"""

from __future__ import annotations

from .asked import suite_of
from .cases import BfclCase
from .files import BfclSuite, LeftOut, left_out_notes, load_bfcl
from .function_call import MadeCall
from .scorable import ScorableBfcl, writes_underscores

__all__ = [
    "BfclCase",
    "BfclSuite",
    "LeftOut",
    "MadeCall",
    "ScorableBfcl",
    "left_out_notes",
    "load_bfcl",
    "suite_of",
    "writes_underscores",
]
