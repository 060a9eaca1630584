"""``client``: what MCP servers may ask of the bridge, and how much."""

from __future__ import annotations

from typing import Literal

from ....schema.keys import CHOICE, at_most
from ....schema.records import Record, key


class ClientConfig(Record):
    """What the bridge offers to MCP servers as their client, and its limits."""

    elicitation: bool = key("Whether servers may ask the person questions.", default=True, inert=CHOICE)
    sampling: bool = key(
        "Whether servers may have the model of the conversation asked, once that is approved.",
        default=True,
        inert=CHOICE,
    )
    sampling_models: dict[str, str] = key(
        "Which model (provider/model) answers servers that hint at a name of which the key is a part, as "
        "`haiku`. By default the model of the conversation answers.",
        factory=dict,
    )
    sampling_priorities: dict[Literal["cost", "speed", "intelligence"], str] = key(
        "Which model (provider/model) answers servers without such a hint, by what they give the greatest "
        "weight. By default the model of the conversation answers.",
        factory=dict,
    )
    log_level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] = key(
        "The least level of the log messages that servers send during calls.", default="info", inert=CHOICE
    )
    progress_timeout_ms: int | None = key(
        "The longest that a call may take which reports progress, in milliseconds: its timeout begins anew "
        "with each report. By default progress changes no timeout.",
        least=1,
        default=None,
    )
    page_timeout_ms: int = key(
        "How long a call whose server wanted a page visited first waits to be told that the person is done "
        "there, in milliseconds; then it is made again in any case.",
        least=1,
        default=300_000,
        inert=at_most(300_000),
    )
    max_rounds: int = key(
        "How often one call may come back for input.", least=1, default=10, inert=at_most(10)
    )
    max_questions: int = key("Questions to the person in one call.", least=1, default=16, inert=at_most(16))
    max_samples: int = key("Questions to the model in one call.", least=1, default=10, inert=at_most(10))
    max_session_samples: int = key(
        "Questions to the model by one server as long as it is connected.",
        least=1,
        default=100,
        inert=at_most(100),
    )
    max_sample_tokens: int = key(
        "The most tokens of an answer to a server.", least=1, default=4_096, inert=at_most(4_096)
    )
    max_session_tokens: int = key(
        "Tokens that one server's questions and their answers may come to, as long as it is connected.",
        least=1,
        default=200_000,
        inert=at_most(200_000),
    )
    max_logs: int = key("Log messages of one call that are shown.", least=1, default=100, inert=at_most(100))
