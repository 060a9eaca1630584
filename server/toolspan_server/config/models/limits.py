"""``limits``: what comes in and goes out is bounded."""

from __future__ import annotations

from ...schema.records import Record, key
from ...schema.values import (
    Count,
    ResultBytes,
    Seconds,
)


class LimitsConfig(Record):
    """Limits on what comes in and goes out."""

    result_bytes: ResultBytes = key(
        "Largest tool result, in bytes of JSON.",
        default=1_048_576,
    )
    message_bytes: ResultBytes = key(
        "Largest message of a client: a line on stdio, a body over HTTP, in bytes.",
        default=4_194_304,
    )
    header_bytes: ResultBytes = key(
        "Largest head of an HTTP request, in bytes: its target and its headers.",
        default=65_536,
    )
    headers: Count = key(
        "Most headers of an HTTP request.",
        default=100,
    )
    connections: Count = key(
        "HTTP connections that are open at the same time, in one process.",
        default=200,
    )
    connections_per_address: Count | None = key(
        "HTTP connections of one address (of IPv6: of one /64) at the same time, in one process; without it "
        "half of connections, and of loopback all. Behind a proxy on another machine every connection has "
        "the proxy's address: set it to connections there.",
        default=None,
    )
    bodies_bytes: ResultBytes = key(
        "Memory for the bodies of all HTTP requests that are not answered yet, in bytes; those of many small "
        "values count for what they take once they are parsed.",
        default=134_217_728,
    )
    head_seconds: Seconds = key(
        "Longest time for the head of an HTTP request to arrive, in seconds.",
        default=10,
    )
    body_seconds: Seconds = key(
        "Longest time for the body of an HTTP request to arrive, in seconds.",
        default=15,
    )
    idle_seconds: Seconds = key(
        "How long an HTTP connection is kept open without a request, in seconds; its client is told half of "
        "that.",
        default=75,
    )
    write_seconds: Seconds = key(
        "How long an HTTP client may take for each 64 KiB of its answer, in seconds.",
        default=15,
    )
    concurrent_calls: Count = key(
        "Calls of tools that run at the same time, in one process; others wait.",
        default=16,
    )
    queued_calls: Count = key(
        "Calls of tools that may wait for their turn; one more is refused.",
        default=1_000,
    )
    concurrent_calls_per_target: Count | None = key(
        "Calls that run at the same time of those that depend on one upstream, host, database or handler; "
        "others wait, and tools that do not depend on it go on. Half of concurrent_calls without it.",
        default=None,
    )
    concurrent_calls_per_kind: Count | None = key(
        "Calls that run at the same time of all such tools of one kind; three quarters of concurrent_calls "
        "without it.",
        default=None,
    )
    queued_calls_per_target: Count = key(
        "Calls that may wait for their turn at one upstream, web host, database, handler or kind; "
        "one more is refused.",
        default=200,
    )
    handler_processes: int = key(
        "Worker processes of handlers at the same time, in one process of the server; one handler takes all "
        "but one of them.",
        least=1,
        most=256,
        default=4,
    )
    handler_memory_bytes: int = key(
        "Most memory of a worker process, and of each process that it starts, in bytes.",
        least=64 << 20,
        most=1 << 50,
        default=1_073_741_824,
    )
    handler_cpu_seconds: int = key(
        "Most processor time of one call in a worker process, all its threads together, in seconds.",
        least=1,
        most=86_400,
        default=300,
    )
    answer_seconds: Seconds = key(
        "How long a call waits for the answer to a question that its tool asks the client, in seconds; "
        "the tool's timeout_ms stands still meanwhile.",
        default=600,
    )
    asking_calls: Count = key(
        "Calls that wait for the answer to a question to their client at the same time, in one process: they "
        "are none of concurrent_calls. Of one principal, half as many.",
        default=1_000,
    )
    unread_bytes: ResultBytes = key(
        "Memory for what the HTTP clients of one process have not read yet of their answers and streams, and "
        "for what was accepted of their sessions and is not answered, in bytes; when that is exceeded, the "
        "connection or session ends that holds the most.",
        default=134_217_728,
    )
    event_bytes: ResultBytes = key(
        "Memory for the events that sessions over HTTP may be resumed from, in one process, in bytes; the "
        "oldest go first.",
        default=134_217_728,
    )
    sessions: Count = key(
        "Sessions over HTTP that are open at the same time, in one process.",
        default=1_000,
    )
    tasks: Count = key(
        "Tasks that are kept at the same time, for each endpoint of one process; of one principal, half as "
        "many.",
        default=1_000,
    )
    task_bytes: ResultBytes = key(
        "Memory for the results of tasks that are kept, in one process, in bytes; when that is exceeded, the "
        "oldest result goes of the principal that has the most.",
        default=134_217_728,
    )
    resources: Count = key(
        "Resources that are listed; of more files of a glob, the first by name are.",
        default=10_000,
    )
    resource_bytes: ResultBytes = key(
        "Largest content of a resource, and largest prompt, in bytes.",
        default=4_194_304,
    )
    session_idle_seconds: Count = key(
        "How long a session over HTTP is kept that nobody uses.",
        default=1_800,
    )
    page_size: Count = key(
        "Most tools, resources, resource templates or prompts in one answer; the rest is on further pages.",
        default=1_000,
    )
    upstream_connect_seconds: Seconds = key(
        "How long the first list of tools waits for the sources to tell theirs, in seconds.",
        default=10,
    )
