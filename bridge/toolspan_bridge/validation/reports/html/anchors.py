"""Where the parts of the page are, so that others can lead to them."""

from __future__ import annotations

from ...evidence.records import Record
from ..contents import Contents
from .tags import Html, tag

__all__ = ["Anchors"]


class Anchors:
    """The names of the sections of records and of their scenarios."""

    def __init__(self, contents: Contents) -> None:
        self._records = {_key(each): f"record-{n}" for n, each in enumerate(contents.records, 1)}
        self._scenarios = {
            _key(each): {name: n for n, name in enumerate(each.scenarios, 1)} for each in contents.records
        }

    def of(self, record: Record) -> str:
        """The name of the record's section."""
        return self._records[_key(record)]

    def of_scenario(self, record: Record, name: str) -> str:
        """The name of the trials of a record's scenario."""
        return f"{self.of(record)}-{self._scenarios[_key(record)][name]}"

    def link(self, record: Record, *contents: str | Html) -> Html:
        """``contents`` as a link to the record's section."""
        return tag("a", *contents, href=f"#{self.of(record)}")


def _key(record: Record) -> tuple[str, str, str]:
    return (record.model_id, record.suite, record.fingerprint.digest if record.fingerprint else "")
