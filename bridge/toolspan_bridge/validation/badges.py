"""Badges: what a record proves about a model, in a word, with how many trials, which rate, and how sure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, Self

from toolspan_server.config import Config

from ._clean import clean_text
from .evidence.counts import Counts
from .evidence.records import NOT_KEPT, Record, newest

__all__ = [
    "MINIMUM",
    "RULE",
    "THRESHOLD",
    "UNTESTED",
    "Badge",
    "BadgeRule",
    "Status",
    "badge_of",
    "badge_of_model",
    "changes_text",
]

THRESHOLD = 0.8
"""The share of successful trials from which a model is validated, unless a config says otherwise."""

MINIMUM = 10
"""The trials below which nothing is more than provisional, unless a config says otherwise."""

_MOST_CHARACTERS = 80
VALIDATED_SIGN, OTHER_SIGN = "🔧✓", "🔧⚠️"

Status = Literal["validated", "provisional", "failed", "untested", "stale"]

_COLOURS: dict[Status, str] = {
    "validated": "#1a7f37",
    "provisional": "#8a6100",
    "failed": "#b42318",
    "untested": "#57606a",
    "stale": "#57606a",
}
_WORDS = {
    "model": "the model's name",
    "model_version": "the model's version",
    "provider": "the provider",
    "base_url": "the provider's address",
    "mode": "the mode",
    "wording": "the prompt's wording",
    "format": "the wire format",
    "sampling": "the request's settings",
    "tools": "the tools' definitions",
    "suite": "the suite",
    "toolspan": "Toolspan's version",
}


_NONE = Counts(0, 0)


@dataclass(frozen=True, slots=True)
class BadgeRule:
    """From which rate a model is validated, and with how many trials at least."""

    threshold: float = THRESHOLD
    minimum: int = MINIMUM

    def status(self, counts: Counts) -> Status:
        """What ``counts`` prove, if they are not stale."""
        if not counts.n:
            return "untested"
        if counts.rate < self.threshold:
            return "failed"
        is_sure = counts.n >= self.minimum and counts.interval.low >= self.threshold
        return "validated" if is_sure else "provisional"

    @classmethod
    def of(cls, config: Config) -> Self:
        """The rule of ``config``."""
        own = config.validation
        return cls(own.threshold, own.minimum) if own else cls()


RULE = BadgeRule()


@dataclass(frozen=True, slots=True)
class Badge:
    """``validated``: the rate is at least the threshold, and so is the lower end of its interval.
    ``provisional``: the rate is, the lower end is not, or there are too few trials. ``failed``: the rate is
    below. ``untested``: there is no trial. ``stale``: one of ``changed`` is no more what it was."""

    status: Status
    counts: Counts = _NONE
    changed: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """🔧✓ for ``validated``, 🔧⚠️ for any other."""
        return VALIDATED_SIGN if self.status == "validated" else OTHER_SIGN

    @property
    def text(self) -> str:
        """As in ``validated (n=40, 95 %, 83–99 %)``; of a stale one also what changed."""
        if self.status == "untested":
            return self.status
        why = f"; changed: {changes_text(self.changed)}" if self.changed else ""
        return f"{self.status} ({self.counts.text}{why})"

    @property
    def signed(self) -> str:
        """The text with its sign."""
        return f"{self.sign} {self.text}"

    def as_dict(self) -> dict[str, Any]:
        """``{"status", "text", "signed", "n", "successes", "rate", "interval", "changed"}``."""
        figures = self.counts.as_dict()
        texts = {"status": self.status, "text": self.text, "signed": self.signed}
        return {**texts, **figures, "changed": list(self.changed)}

    def svg(self, label: str) -> str:
        """The badge as an image, an SVG file's content, with ``label`` (a model's name, say) at its left."""
        figures = f"{self.status} · {self.counts.text}" if self.counts.n else self.status
        a, b = _width(label), _width(figures)
        left, right = _drawable(label), _drawable(figures)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" role="img" '
            f'aria-label="{left}: {right}"><title>{left}: {right}</title>'
            f'<rect width="{a}" height="20" rx="3" fill="#24292f"/>'
            f'<rect x="{a - 3}" width="{b + 3}" height="20" rx="3" fill="{_COLOURS[self.status]}"/>'
            '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
            f'<text x="8" y="14" textLength="{a - 16}">{left}</text>'
            f'<text x="{a + 6}" y="14" textLength="{b - 14}">{right}</text></g></svg>\n'
        )


UNTESTED = Badge("untested")


def badge_of(record: Record, rule: BadgeRule = RULE) -> Badge:
    """The badge of ``record``."""
    status: Status = "stale" if record.changed else rule.status(record.counts)
    return Badge(status, record.counts, record.changed)


def badge_of_model(records: Iterable[Record], rule: BadgeRule = RULE) -> Badge:
    """The badge of the one model that ``records`` are of: that of the last tested record that is not
    stale."""
    speaks = newest(records)
    return badge_of(speaks, rule) if speaks else UNTESTED


def changes_text(changed: Iterable[str]) -> str:
    """The parts of a fingerprint, in words."""
    if NOT_KEPT in (parts := tuple(changed)):
        return "not known, its version kept no fingerprint"
    return ", ".join(_WORDS.get(part, part) for part in parts)


def _drawable(text: str) -> str:
    return escape("".join(c if c.isprintable() else "\ufffd" for c in clean_text(text[:_MOST_CHARACTERS])))


def _width(text: str) -> int:
    return 16 + 7 * len(text[:_MOST_CHARACTERS])
