"""What a suite expects of an argument: a value, or a form, an object with the form's name as its one key."""

from __future__ import annotations

from .comparing import check_expected, fits, told
from .form import MISSING

__all__ = ["MISSING", "check_expected", "fits", "told"]
