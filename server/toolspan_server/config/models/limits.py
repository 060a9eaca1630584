"""``limits``: limits on requests, results, connections and memory."""

from __future__ import annotations

from typing import Annotated

from ...engines.subagent_limits import SubagentLimits
from ...schema.constraints import Limits
from ...schema.keys import NARROWER, PARTS, at_most, only
from ...schema.records import Record, key
from ...schema.values import (
    Amount,
    Count,
    Duration,
    ResultBytes,
    Seconds,
)

Characters = Annotated[int, Limits(200, 10_000_000)]
Tokens = Annotated[int, Limits(500, 100_000_000)]


class RunLimits(Record):
    """What a model may use of tools, tokens, money and time."""

    calls: Count | None = key("Most tool calls that are made.", default=None, inert=NARROWER)
    tokens: Count | None = key(
        "Most tokens, in and out, of all requests together.", default=None, inert=NARROWER
    )
    usd: Amount | None = key("Most US dollars, by the table of prices.", default=None, inert=NARROWER)
    seconds: Duration | None = key(
        "Longest time in seconds, without the time in which a person is asked.", default=None, inert=NARROWER
    )


class LimitsConfig(Record):
    """Limits on requests, results, connections and memory."""

    result_bytes: ResultBytes = key(
        "Largest tool result, in bytes of JSON.", default=1_048_576, inert=at_most(1_048_576)
    )
    message_bytes: ResultBytes = key(
        "Largest message of a client: a line on stdio, a body over HTTP, in bytes.",
        default=4_194_304,
        inert=at_most(4_194_304),
    )
    tools_offered: Count | None = key(
        "Most tools that a model is offered at once by ask, chat and validate: of more, it finds those that"
        " it needs with a search. By default as many as its provider takes.",
        default=None,
        inert=NARROWER,
    )
    question: RunLimits = key(
        "What the answer to one question may use in ask and chat.", factory=RunLimits.initial, inert=PARTS
    )
    context_tokens: Tokens | None = key(
        "The length of the models' contexts, in tokens, for ask and chat; by default what the table of "
        "prices has of a model.",
        default=None,
        inert=NARROWER,
    )
    result_characters: Characters = key(
        "Most characters of a tool result that models are shown at once in ask and chat; they can read on, "
        "and the conversation has the whole result.",
        default=100_000,
        inert=at_most(100_000),
    )
    compact: bool = key(
        "Whether the model summarises a conversation that gets too long for it.",
        default=False,
        inert=only(False),
    )
    conversation: RunLimits = key(
        "What a whole conversation may use.", factory=RunLimits.initial, inert=PARTS
    )
    subagents: SubagentLimits = key(
        "What each sub-agent may use, which the tool Task starts.",
        factory=SubagentLimits.initial,
        inert=PARTS,
    )
    connect_seconds: Seconds = key(
        "How long ask, chat and other verbs wait for each MCP server to start and list its tools, in"
        " seconds; for the config's own server at least 50 more than upstream_connect_seconds.",
        default=10,
        inert=at_most(10),
    )
    header_bytes: ResultBytes = key(
        "Largest head of an HTTP request, in bytes: its target and its headers.",
        default=65_536,
        inert=at_most(65_536),
    )
    headers: Count = key("Most headers of an HTTP request.", default=100, inert=at_most(100))
    connections: Count = key(
        "Open HTTP connections, in one process; 1,200 of ui and gateway, where it is not set.",
        default=200,
        inert=at_most(200),
    )
    connections_per_address: Count | None = key(
        "Open HTTP connections of one address (for IPv6: of one /64), in one process; by default half"
        " of connections, and all for loopback. Behind a proxy on another machine every connection "
        "has the proxy's address: set it to connections there.",
        default=None,
        inert=at_most(100),
    )
    bodies_bytes: ResultBytes = key(
        "Memory for the bodies of all unanswered HTTP requests, in bytes; bodies of many small values"
        " count with their size after parsing.",
        default=134_217_728,
        inert=at_most(134_217_728),
    )
    head_seconds: Seconds = key(
        "Longest time for the head of an HTTP request to arrive, in seconds.", default=10, inert=at_most(10)
    )
    body_seconds: Seconds = key(
        "Longest time for the body of an HTTP request to arrive, in seconds.", default=15, inert=at_most(15)
    )
    idle_seconds: Seconds = key(
        "How long an idle HTTP connection is kept open, in seconds; clients are told half of that.",
        default=75,
        inert=at_most(75),
    )
    write_seconds: Seconds = key(
        "How long an HTTP client may take to read each 64 KiB of its answer, in seconds.",
        default=15,
        inert=at_most(15),
    )
    concurrent_calls: Count = key(
        "Tool calls that run at the same time, in one process; others are queued.",
        default=16,
        inert=at_most(16),
    )
    queued_calls: Count = key(
        "Tool calls that may be queued; further ones are refused.", default=1_000, inert=at_most(1_000)
    )
    concurrent_calls_per_target: Count | None = key(
        "Calls that run at the same time and depend on the same upstream, host, database or handler; "
        "others are queued, and tools that do not depend on it are unaffected. Three quarters of "
        "concurrent_calls when absent.",
        default=None,
        inert=at_most(12),
    )
    concurrent_calls_per_kind: Count | None = key(
        "Calls that run at the same time of all such tools of one kind; seven eighths of "
        "concurrent_calls when absent.",
        default=None,
        inert=at_most(14),
    )
    queued_calls_per_target: Count = key(
        "Calls that may be queued for one upstream, web host, database, handler or kind; further ones"
        " are refused.",
        default=200,
        inert=at_most(200),
    )
    handler_processes: int = key(
        "Worker processes of handlers, in one process of the server, each started when it is needed; one"
        " handler may use all but one of them.",
        least=1,
        most=256,
        default=16,
        inert=at_most(16),
    )
    handler_memory_bytes: int = key(
        "Most memory of a worker process, and of each process that it starts, in bytes.",
        least=64 << 20,
        most=1 << 50,
        default=1_073_741_824,
        inert=at_most(1_073_741_824),
    )
    handler_cpu_seconds: int = key(
        "Most processor time of one call in a worker process, all its threads together, in seconds.",
        least=1,
        most=86_400,
        default=300,
        inert=at_most(300),
    )
    answer_seconds: Seconds = key(
        "How long a call waits for the client's answer to a question of its tool, in seconds; the "
        "tool's timeout_ms is paused meanwhile.",
        default=600,
        inert=at_most(600),
    )
    asking_calls: Count = key(
        "Calls that wait for a client's answer at the same time, in one process: they do not count "
        "for concurrent_calls. For one principal, half as many.",
        default=1_000,
        inert=at_most(1_000),
    )
    unread_bytes: ResultBytes = key(
        "Memory for answers and streams that the HTTP clients of one process have not read yet, and "
        "for accepted but unanswered messages of their sessions, in bytes; when it is exceeded, the "
        "connection or session that uses most of it is closed.",
        default=134_217_728,
        inert=at_most(134_217_728),
    )
    event_bytes: ResultBytes = key(
        "Memory for the events by which HTTP sessions can be resumed, in one process, in bytes; the "
        "oldest are dropped first.",
        default=134_217_728,
        inert=at_most(134_217_728),
    )
    sessions: Count = key("Open HTTP sessions, in one process.", default=1_000, inert=at_most(1_000))
    tasks: Count = key(
        "Tasks that are kept, for each endpoint of one process; for one principal, half as many.",
        default=1_000,
        inert=at_most(1_000),
    )
    task_bytes: ResultBytes = key(
        "Memory for the results of kept tasks, in one process, in bytes; when it is exceeded, the "
        "oldest result of the principal that uses most is dropped.",
        default=134_217_728,
        inert=at_most(134_217_728),
    )
    resources: Count = key(
        "Resources that are listed; when a glob matches more files, the first by name.",
        default=10_000,
        inert=at_most(10_000),
    )
    resource_bytes: ResultBytes = key(
        "Largest content of a resource, and largest prompt, in bytes.",
        default=4_194_304,
        inert=at_most(4_194_304),
    )
    session_idle_seconds: Count = key(
        "How long an unused HTTP session is kept.", default=1_800, inert=at_most(1_800)
    )
    page_size: Count = key(
        "Most tools, resources, resource templates or prompts on one page of a list.",
        default=1_000,
        inert=at_most(1_000),
    )
    upstream_connect_seconds: Seconds = key(
        "How long the first list of tools waits for the tools of sources, in seconds.",
        default=10,
        inert=at_most(10),
    )
