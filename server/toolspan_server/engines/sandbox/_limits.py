"""What a command may use."""

from __future__ import annotations

from ...schema.records import Record, key
from ...schema.values import Count, Milliseconds

_MIB = 1024**2


class CommandLimits(Record):
    """The limits of each command that Bash runs, with all the processes that come of it. What hits one names
    it."""

    cpu_seconds: Count = key("Most processor time, in seconds, of all its processes together.", default=30)
    memory_bytes: Count = key("Most memory of all its processes together, in bytes.", default=1024 * _MIB)
    file_bytes: Count = key("Largest file that it may write, in bytes.", default=256 * _MIB)
    processes: Count = key("Most processes at the same time.", default=64)
    output_bytes: Count = key(
        "Most bytes of output in a result: its beginning and its end are kept.", default=256 * 1024
    )
    total_output_bytes: Count = key(
        "Most bytes of output that it may write; then it is ended.", default=64 * _MIB
    )
    timeout_ms: Milliseconds = key("Longest time when the call names none, in milliseconds.", default=120_000)
    max_timeout_ms: Milliseconds = key("Longest time that a call may name, in milliseconds.", default=600_000)
    background_timeout_ms: Milliseconds = key(
        "Longest time of a command in the background, in milliseconds.", default=3_600_000
    )
    background: Count = key(
        "Most commands in the background at the same time, of each conversation.", default=8
    )
    background_total: Count = key("Most commands in the background at the same time, of all.", default=32)
