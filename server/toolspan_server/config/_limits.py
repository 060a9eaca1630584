"""``limits``: what comes in and goes out is bounded."""

from __future__ import annotations

from .._records import Record, key
from ._values import COUNT, RESULT_BYTES, SECONDS


class LimitsConfig(Record):
    """Limits on what comes in and goes out."""

    result_bytes: int = key(
        RESULT_BYTES,
        "Largest tool result, in bytes of JSON.",
        default=1_048_576,
    )
    message_bytes: int = key(
        RESULT_BYTES,
        "Largest message of a client: a line on stdio, a body over HTTP, in bytes.",
        default=4_194_304,
    )
    header_bytes: int = key(
        RESULT_BYTES,
        "Largest head of an HTTP request, in bytes: its target and its headers.",
        default=65_536,
    )
    headers: int = key(
        COUNT,
        "Most headers of an HTTP request.",
        default=100,
    )
    connections: int = key(
        COUNT,
        "HTTP connections that are open at the same time, in one process.",
        default=200,
    )
    head_seconds: float = key(
        SECONDS,
        "Longest time for the head of an HTTP request to arrive, in seconds.",
        default=10,
    )
    body_seconds: float = key(
        SECONDS,
        "Longest time for the body of an HTTP request to arrive, in seconds.",
        default=15,
    )
    idle_seconds: float = key(
        SECONDS,
        "How long an HTTP connection is kept open without a request, in seconds.",
        default=5,
    )
    write_seconds: float = key(
        SECONDS,
        "How long an HTTP client may take for each 64 KiB of its answer, in seconds.",
        default=15,
    )
    concurrent_calls: int = key(
        COUNT,
        "Calls of tools that run at the same time, in one process; others wait.",
        default=16,
    )
    queued_calls: int = key(
        COUNT,
        "Calls of tools that may wait for their turn; one more is refused.",
        default=1_000,
    )
    answer_seconds: float = key(
        SECONDS,
        "How long a call waits for the answer to a question that its tool asks the client, in seconds; "
        "the tool's timeout_ms stands still meanwhile.",
        default=600,
    )
    sessions: int = key(
        COUNT,
        "Sessions over HTTP that are open at the same time, in one process.",
        default=1_000,
    )
    tasks: int = key(
        COUNT,
        "Tasks that are kept at the same time, for each endpoint of one process.",
        default=1_000,
    )
    resources: int = key(
        COUNT,
        "Resources that are listed; of more files of a glob, the first by name are.",
        default=10_000,
    )
    resource_bytes: int = key(
        RESULT_BYTES,
        "Largest content of a resource, and largest prompt, in bytes.",
        default=4_194_304,
    )
    session_idle_seconds: int = key(
        COUNT,
        "How long a session over HTTP is kept that nobody uses.",
        default=1_800,
    )
    page_size: int = key(
        COUNT,
        "Most tools, resources, resource templates or prompts in one answer; the rest is on further pages.",
        default=1_000,
    )
    upstream_connect_seconds: float = key(
        SECONDS,
        "How long the first list of tools waits for the sources to tell theirs, in seconds.",
        default=10,
    )
