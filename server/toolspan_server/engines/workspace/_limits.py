"""The limits of a workspace."""

from __future__ import annotations

from ...schema.records import Record, key
from ...schema.values import Count, Seconds

_MIB = 1024**2


class WorkspaceLimits(Record):
    """The limits of a workspace's tools. An error that hits one names it."""

    read_bytes: Count = key("Most bytes of text that one Read returns.", default=262_144)
    read_lines: Count = key("Most lines that one Read returns.", default=2_000)
    line_characters: Count = key("Longest line that is shown whole, in characters.", default=2_000)
    media_bytes: Count = key(
        "Largest image or PDF that Read returns, in bytes; limits.result_bytes applies as well.",
        default=700_000,
    )
    file_bytes: Count = key(
        "Largest file that Write, Edit and NotebookEdit change, in bytes.", default=5 * _MIB
    )
    scan_bytes: Count = key(
        "Most bytes that one call of Grep searches, or that Read skips to reach an offset.",
        default=256 * _MIB,
    )
    entries: Count = key("Most files and folders that one Glob or Grep looks at.", default=200_000)
    results: Count = key("Most files or lines that one Glob or Grep returns.", default=1_000)
    seconds: Seconds = key("Longest time for one Glob or Grep, in seconds.", default=10)
    search_file_bytes: Count = key(
        "Largest file that Grep searches, in bytes; others are left out.", default=16 * _MIB
    )
    checkpoints: Count = key(
        "Most changes that are kept to be shown and undone; older ones are dropped.", default=1_000
    )
    checkpoint_bytes: Count = key("Most bytes of file content that are kept for that.", default=64 * _MIB)
