"""``ask --dry-run``: what would be sent and offered."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...findings import asked_losses
from ...formats import Loss
from ...formats.names import NameTable
from ...loop import first_request
from ...messages import Part, Request
from ...providers import Provider
from ...providers.preview import unsent
from ...sessions.agent import Agent
from ...sessions.kept.saved_conversation import SavedConversation
from ..terminal.output import arguments_text, compact, emit_json, print_message, print_note

_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class DryRun:
    """The first request of a question, which nobody is sent; ``variables`` stand for keys in it."""

    model: str
    format_name: str
    request: Request
    body: bytes | None
    url: str
    losses: tuple[Loss, ...]
    variables: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """``{"dry_run": true, "model", "format", "url", "system", "question", "files", "tools", "losses",
        "unset", "request"}``; ``request`` is the body, ``null`` of a model that answers without one."""
        question = self.request.messages[-1]
        return {
            "dry_run": True,
            "model": self.model,
            "format": self.format_name,
            "url": self.url,
            "system": self.request.system,
            "question": getattr(question, "text", ""),
            "files": [described(part) for part in getattr(question, "parts", ())],
            "tools": list(self.tools),
            "losses": [f"{loss.tool}{loss.pointer}: {loss.rule}" for loss in self.losses],
            "unset": list(self.unset),
            "request": None if self.body is None else json.loads(self.body),
        }

    @property
    def tools(self) -> tuple[str, ...]:
        """The wire names of the tools that are offered."""
        names = NameTable.of(self.request.tools)
        return tuple(names.wire(tool) for tool in self.request.tools)

    @property
    def unset(self) -> tuple[str, ...]:
        """The variables that have to be set before the model can be asked."""
        return tuple(name for name in self.variables if not os.environ.get(name))

    def show(self) -> None:
        """Print it for people."""
        for name, text in _rows(self):
            print_message(f"{name + ':':<10} {text}")
        for loss in self.losses:
            print_note(f"{loss.severity}: {loss.tool}{loss.pointer}: {loss.rule}: {loss.repair}")
        for name in self.unset:
            print_note(f"{name} is not set: asked now, the model would not answer")
        if self.body is not None:
            print_message(f"\nPOST {self.url or '(the address is known when it is asked)'}")
            emit_json(json.loads(self.body))
        print_note("nothing was sent (--dry-run)")


async def dry_run(
    agent: Agent, provider: Provider, saved: SavedConversation, variables: Collection[str]
) -> DryRun:
    """The first request of ``agent``'s question at ``provider``, after the messages of ``saved``."""
    question = agent.question
    name = provider.format_name
    request = first_request(
        question,
        name,
        agent.toolbox.tools,
        searches_tools=provider.searches_tools,
        conversation=saved.conversation,
    )
    sent = await unsent(provider, request)
    body, url = (None, "") if sent is None else (sent.body, sent.url)
    losses = tuple(asked_losses(name, request.tools)) if name else ()
    model = f"{provider.name}/{question.model}"
    return DryRun(model, name, request, body, url, losses, tuple(sorted(variables)))


def described(part: Part) -> str:
    """``photo.png, image/png, 12,345 bytes``, or as much of it as is known."""
    resource: Mapping[str, Any] = part.data.get("resource") or part.data
    text, data = resource.get("text"), resource.get("blob") or resource.get("data") or ""
    size = len(text.encode()) if isinstance(text, str) else len(data) * 3 // 4
    kind = resource.get("mimeType") or "text/plain"
    return ", ".join(filter(None, (resource.get("uri", ""), str(kind), f"{size:,} bytes")))


def _rows(run: DryRun) -> list[tuple[str, str]]:
    data = run.as_dict()
    return [
        ("model", run.model + (f" (format {run.format_name})" if run.format_name else "")),
        ("system", compact(run.request.system, _SHOWN)),
        *(("after", f"{count} earlier messages") for count in [len(run.request.messages) - 1] if count),
        ("question", compact(data["question"], _SHOWN)),
        *(("file", file) for file in data["files"]),
        ("tools", f"{len(run.tools)}" + (f": {', '.join(run.tools)}" if run.tools else "")),
        *(("settings", arguments_text(settings)) for settings in [_settings(run.request)] if settings),
    ]


def _settings(request: Request) -> dict[str, Any]:
    known = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "reasoning": request.reasoning,
        "builtins": list(request.builtins),
        "answer_schema": None if request.answer_schema is None else dict(request.answer_schema),
        "stream": request.stream,
    }
    return {name: value for name, value in known.items() if value not in (None, [], False)}
