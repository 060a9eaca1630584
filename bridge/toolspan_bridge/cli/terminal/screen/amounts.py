"""Times, sizes and numbers of tokens, in few characters."""

from __future__ import annotations

__all__ = ["byte_count", "duration", "size"]


def duration(milliseconds: float) -> str:
    """``0.3 ms``, ``45 ms``, ``1.2 s``, ``75 s``."""
    if milliseconds < 1000:
        return f"{milliseconds:.{1 if milliseconds < 10 else 0}f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.{1 if seconds < 10 else 0}f} s"


def byte_count(text: str) -> int:
    """How long ``text`` is in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def size(count: int) -> str:
    """``count`` bytes: ``34 B``, ``3.4 kB``, ``12 MB``."""
    amount: float = count
    for unit in ("B", "kB", "MB"):
        if amount < 1000 or unit == "MB":
            return f"{amount:.{1 if amount < 10 and unit != 'B' else 0}f} {unit}"
        amount /= 1000
    raise AssertionError("megabytes have no end")
