"""Which trials of a store are read."""

from __future__ import annotations

from dataclasses import dataclass

from ..trial import Trial

__all__ = ["ALL", "Selection"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Trials of these ``models`` and ``suites``, of any where there are none, that ended at ``since`` (ISO
    8601 UTC, milliseconds) or later; with a ``run``, those that are done of it, or its ``errors``; with a
    ``fingerprint`` (a digest, ``""`` for none), those that have it."""

    models: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    since: str = ""
    run: str = ""
    errors: bool = False
    fingerprint: str | None = None

    def has(self, trial: Trial) -> bool:
        """Whether ``trial`` is one of them."""
        return (
            (not self.models or trial.model_id in self.models)
            and (not self.suites or trial.suite in self.suites)
            and trial.timestamp >= self.since
            and self.fingerprint in (None, trial.fingerprint.digest if trial.fingerprint else "")
            and self.run in ("", trial.run if trial.number and trial.is_error is self.errors else None)
        )


ALL = Selection()
