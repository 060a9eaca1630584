"""The parameters of a request beside its messages and tools, by API: one table.

Each is passed on under its common name (``formats.shared.settings``), as far as the model's format has a
place for it; or, where an answer without it would be another one than was asked for, refused. What is in no
table is named in the warning of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .reading import Fields

__all__ = ["CHAT", "MESSAGES", "RESPONSES", "Parameters"]

_Read = Callable[[Fields, str], Any]
_MOST_SEED = 2**63 - 1
_MOST_IN_NAME = 512
_MOST_BIASES = 4_096
_NO_PROBABILITIES = "no log probabilities are known here"


def _number(least: float, most: float) -> _Read:
    return lambda fields, name: fields.number(name, most, least=least)


def _whole(fields: Fields, name: str) -> int | None:
    return fields.whole(name, least=0)


def _seed(fields: Fields, name: str) -> int | None:
    return fields.whole(name, least=-_MOST_SEED, most=_MOST_SEED)


def _text(fields: Fields, name: str) -> str | None:
    return fields.text(name, most=_MOST_IN_NAME) or None


def _biases(fields: Fields, name: str) -> Mapping[str, float] | None:
    biases = fields.object(name)
    return None if biases is None else biases.numbers(-100, 100, _MOST_BIASES) or None


@dataclass(frozen=True, slots=True)
class Parameters:
    """Those of one API. ``passed`` gives how each is read, ``names`` the common names of those that have
    another one here; ``usual`` are values that only say what holds anyhow, ``refused`` why a parameter of any
    other value cannot be done."""

    passed: Mapping[str, _Read]
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    usual: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])

    def read(self, fields: Fields) -> dict[str, Any]:
        """The settings of the request by their common names. Raises ``RequestFault`` that names a parameter
        which is of no use, or cannot be done."""
        for name, why in self.refused.items():
            fields.refuse(name, why, unless=self.usual.get(name, ()))
        fields.ignore_usual(self.usual)
        found = ((self.names.get(name, name), read(fields, name)) for name, read in self.passed.items())
        return {name: value for name, value in found if value is not None}


_SAMPLING: dict[str, _Read] = {
    "top_p": _number(0, 1),
    "top_k": _whole,
    "min_p": _number(0, 1),
    "seed": _seed,
    "frequency_penalty": _number(-2, 2),
    "presence_penalty": _number(-2, 2),
    "repetition_penalty": _number(0, 10),
    "logit_bias": _biases,
}
_OF_OPENAI: dict[str, _Read] = {"user": _text, "safety_identifier": _text, "service_tier": _text}

CHAT = Parameters(
    {**_SAMPLING, **_OF_OPENAI, "verbosity": _text},
    names={"safety_identifier": "user"},
    usual={
        "n": (1,),
        "logprobs": (False,),
        "top_logprobs": (0,),
        "store": (False,),
        "modalities": (["text"],),
        "functions": ([],),
        "function_call": ("auto", "none"),
    },
    refused={
        "n": "one answer is given to a request",
        "logprobs": _NO_PROBABILITIES,
        "top_logprobs": _NO_PROBABILITIES,
        "modalities": "answers are text here",
        "functions": "write the functions as `tools`",
        "function_call": "write it as `tool_choice`",
        "audio": "answers are text here",
        "web_search_options": "choose a preset or a route that enables web_search",
    },
)
"""Of Chat Completions."""

RESPONSES = Parameters(
    {**_SAMPLING, **_OF_OPENAI},
    names={"safety_identifier": "user"},
    usual={"background": (False,), "top_logprobs": (0,), "include": ([],), "n": (1,), "logprobs": (False,)},
    refused={
        "background": "responses are made while the client waits",
        "conversation": "no conversations are kept here: send `previous_response_id`",
        "prompt": "no prompts are kept here: send `instructions`, or choose a preset",
        "n": "one answer is given to a request",
        "logprobs": _NO_PROBABILITIES,
        "top_logprobs": _NO_PROBABILITIES,
    },
)
"""Of Responses."""

MESSAGES = Parameters(
    {"top_p": _number(0, 1), "top_k": _whole, "service_tier": _text},
    usual={"mcp_servers": ([],)},
    refused={
        "mcp_servers": "add the servers to the config: their tools are then the gateway's",
        "container": "no files and skills are kept here",
    },
)
"""Of Messages."""
