"""Evidence: what the trials of a record come to, in figures that say how sure they are."""

from __future__ import annotations

from .comparison import Cell, Comparison, compared
from .counts import Counts
from .exact_tests import fisher_exact, holm
from .intervals import Interval, wilson
from .measurements import Evidence, evidence_of
from .records import Record, records_of

__all__ = [
    "Cell",
    "Comparison",
    "Counts",
    "Evidence",
    "Interval",
    "Record",
    "compared",
    "evidence_of",
    "fisher_exact",
    "holm",
    "records_of",
    "wilson",
]
