"""The page of ``toolspan ui`` over an API that a test plays: each view has something to show, names are
hostile, streams break off, and what the page posts is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.waiting import eventually
from toolspan_bridge.web.page import page_routes

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
BADGE = {
    "status": "validated",
    "text": "20 of 20",
    "sign": "🔧✓",
    "n": 20,
    "rate": 0.95,
    "low": 0.8,
    "high": 1.0,
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": HOSTILE,
        "parameters": {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE}}},
        "implementation": {"type": "mcp"},
        "display_name": HOSTILE,
        "category": HOSTILE,
        "is_builtin": False,
        "server": HOSTILE,
        "output_schema": None,
        "annotations": {},
        "tags": [],
        "examples": [],
    }
    for name in ("edit_file", HOSTILE)
]
EDIT = {"path": "notes.txt", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree"}
ASKED = {"decisions": ["allow_once", "deny"], "reason": ""}
ANSWER = "It is **sunny** in Paris.\n\n- 21 °C\n- no [wind](https://example.com)\n\n"
ANSWER += f"{HOSTILE} [x](javascript:alert(1))"


def run_events(
    run: str, text: str, arguments: dict[str, Any], preview: dict[str, Any] | None
) -> list[tuple[str, dict[str, Any]]]:
    """A run with a call that needs an approval, up to where it waits for that."""
    shown = {} if preview is None else {"preview": preview}
    call = {"tool_use_id": "c1", "server": "home", "tool_name": "edit_file", "iteration": 1}
    return [
        ("run_started", {"run": run, "text": text}),
        ("iteration", {"run": run, "iteration": 1}),
        ("reasoning_delta", {"run": run, "text": "The note has to be changed."}),
        ("text_delta", {"run": run, "text": "Let me "}),
        ("text_delta", {"run": run, "text": "look."}),
        ("text", {"run": run, "text": "Let me look."}),
        ("tool_call", {"run": run, **call, "tool_input": arguments}),
        (
            "approval_requested",
            {"run": run, "request": "r1", **call, "tool_input": arguments, **ASKED, **shown},
        ),
    ]


def ending(run: str, allowed: bool) -> list[tuple[str, dict[str, Any]]]:
    """What comes once it is answered."""
    good = {"success": True, "result": {"changed": 1}, "execution_time_ms": 12.5}
    bad = {"success": False, "error": "a person denied it", "error_code": "denied"}
    result = {"tool_use_id": "c1", "tool_name": "edit_file", "result": good if allowed else bad}
    words = [{"run": run, "text": ANSWER[at : at + 7]} for at in range(0, len(ANSWER), 7)]
    answer = {
        "content": ANSWER,
        "model": "demo/one",
        "provider": "demo",
        "iterations": 2,
        "max_iterations_reached": True,
        "usage": {"input_tokens": 1200, "output_tokens": 80},
        "cost": {"usd": 0.0021},
    }
    return [
        ("approval_answered", {"run": run, "request": "r1", "allowed": allowed}),
        ("tool_result", {"run": run, **result, "iteration": 1}),
        ("iteration", {"run": run, "iteration": 2}),
        *(("text_delta", each) for each in words),
        ("text", {"run": run, "text": ANSWER}),
        ("answer", {"run": run, **answer}),
        ("run_ended", {"run": run, "state": "answered"}),
    ]


class PageApi:
    """The API. ``posted`` are paths and bodies of what was sent; after ``break_after`` events of a
    conversation each of its streams breaks off once. The call that needs an approval has ``arguments``, and
    is shown as ``preview``."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, Any]] = []
        self.asked_after: list[str | None] = []
        self.break_after = 0
        self.arguments: dict[str, Any] = EDIT
        self.preview: dict[str, Any] | None = None
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.text = ""
        self.url = ""

    @property
    def running(self) -> bool:
        return bool(self.events) and self.events[-1][0] != "run_ended"

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return Starlette(routes=[Route("/api/{path:path}", self._api, methods=methods), *page_routes()])

    async def _api(self, request: Request) -> Response:
        path = request.path_params["path"]
        if request.method in ("POST", "PUT", "PATCH"):
            body = json.loads(await request.body() or b"{}")
            self.posted.append((path, body))
            return self._posted(path, body)
        if path == "conversations/k1/events":
            return StreamingResponse(self._stream(request), media_type="text/event-stream")
        if path in ("events", "activity/events"):
            return StreamingResponse(_silence(), media_type="text/event-stream")
        found = self._read(path)
        if found is None:
            return JSONResponse({"title": "Not Found", "status": 404, "detail": "Not Found"}, 404)
        return JSONResponse(found)

    def _posted(self, path: str, body: Any) -> Response:
        if path == "conversations":
            return JSONResponse(self._conversation(), 201)
        if path.endswith("/messages"):
            self.text = body["text"]
            self.events = run_events("run1", self.text, self.arguments, self.preview)
            return JSONResponse({"run": {"id": "run1", "state": "running"}}, 202)
        if "/answers/" in path:
            self.events += ending("run1", body.get("decision") != "deny")
            return Response(status_code=204)
        if path.endswith("/cancel"):
            self.events += [("cancelled", {"run": "run1"}), ("run_ended", {"run": "run1"})]
            return JSONResponse({"cancelled": True})
        return JSONResponse({"id": "v1"}, 202)

    def _conversation(self) -> dict[str, Any]:
        ended = not self.running and bool(self.events)
        asked = [{"role": "user", "text": self.text}] if self.text else []
        answered = [{"role": "assistant", "text": ANSWER, "tool_calls": []}] if ended else []
        return {
            "id": "k1",
            "title": self.text or None,
            "model": "demo/one",
            "run": {"id": "run1", "state": "running"} if self.running else None,
            "messages": [*asked, *answered],
            "changed": "2026-11-24T04:00:00Z",
            "pending": [],
            "last_event_id": len(self.events),
        }

    def _read(self, path: str) -> Any:
        counts = {"n": 20, "successes": 18, "errors": 0, "rate": 0.9, "interval": [0.7, 0.97]}
        cell = {"suite": "default", "errors": 0, "last_tested": "2026-11-24T04:00:00Z"}
        cell |= {"badge": {**BADGE, **counts, "changed": []}}
        server = {"state": "failed", "transport": "stdio", "tools": 2, "resources": 1, "prompts": None}
        answers: dict[str, Any] = {
            "health": {"config": {"problems": []}, "servers": {"connected": 2, "failed": 0}, "tools": 3},
            "tools/list": {"tools": TOOLS, "next_cursor": None},
            "models/list": {
                "models": [
                    {"id": "demo/one", "name": "Demo One", "provider": "demo", "badge": BADGE},
                    {"id": "demo/two", "name": HOSTILE, "provider": HOSTILE, "capabilities": []},
                ],
                "problems": [{"provider": "other", "detail": HOSTILE}],
            },
            "examples": {"examples": ["What's the weather in Paris?", HOSTILE]},
            "presets": {"presets": [], "builtin_tools": [], "next_cursor": None},
            "conversations": {
                "conversations": [self._conversation()] if self.text else [],
                "next_cursor": None,
            },
            "conversations/k1": self._conversation(),
            "servers": {
                "servers": [{**server, "name": HOSTILE, "error": HOSTILE, "changed": []}],
            },
            "validation/suites": {"suites": [{"name": HOSTILE, "scenarios": 2, "problems": [HOSTILE]}]},
            "validation/runs": {"runs": []},
            "validation/stored-runs": {"runs": []},
            "validation/matrix": {
                "threshold": 0.8,
                "minimum": 10,
                "models": [HOSTILE],
                "suites": ["default"],
                "cells": [{**cell, "model": HOSTILE, "scenarios": [{"scenario": HOSTILE, **counts}]}],
            },
        }
        return answers.get(path)

    async def _stream(self, request: Request) -> AsyncIterator[str]:
        last = request.headers.get("last-event-id")
        self.asked_after.append(last)
        at = int(last or 0)
        breaks, self.break_after = self.break_after, 0
        while True:
            while at < len(self.events):
                name, data = self.events[at]
                at += 1
                yield f"id: {at}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
                if breaks and at >= breaks:
                    return
            await anyio.sleep(0.02)


async def _silence() -> AsyncIterator[str]:
    yield ": open\n\n"
    await anyio.sleep_forever()


@contextmanager
def served_page() -> Generator[PageApi]:
    """The page and its API on a free port of loopback."""
    api = PageApi()
    config = uvicorn.Config(api.app(), port=0, log_level="critical", timeout_graceful_shutdown=0)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert eventually(lambda: server.started)
    api.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/ui/"
    try:
        yield api
    finally:
        server.should_exit = True
        thread.join()
