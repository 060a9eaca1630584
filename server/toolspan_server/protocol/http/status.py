"""``/healthz``, ``/readyz`` and ``/metrics``: the server's state for monitoring."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sized
from importlib import import_module

from anyio import to_thread

from ...common.supervision import failure_samples
from ...http_server.asgi import (
    App,
    Receive,
    RefusedResponse,
    Scope,
    Send,
    send_json,
)
from ...live.metrics import CONTENT_TYPE, Metrics, Sample
from ...live.runtime import Runtime
from ..state.running_calls import Calls
from .sessions import Sessions

_REASONS = {
    400: "malformed",
    401: "no_token",
    403: "not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "content_type",
    421: "wrong_host",
    429: "too_many",
    431: "too_large",
    503: "unavailable",
}
_UP = ("ready", "running")
_WRONG_METHOD = RefusedResponse(405, "Method not allowed", ((b"allow", b"GET, HEAD"),))


def status_routes(runtime: Runtime, metrics: Metrics) -> dict[str, App]:
    """The apps by path."""

    async def healthy(scope: Scope, _receive: Receive, send: Send) -> None:
        await _answer(scope, send, 200, b"text/plain", lambda: b"ok\n")

    async def ready(scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await _WRONG_METHOD.send(send)
            return
        health = runtime.health()
        body = json.dumps(health, ensure_ascii=False, indent=2).encode() + b"\n"
        status = 503 if health["config"]["problems"] or not runtime.is_settled else 200
        await send_json(send, status, body, head=scope["method"] == "HEAD")

    async def measured(scope: Scope, _receive: Receive, send: Send) -> None:
        await to_thread.run_sync(import_module, "prometheus_client")  # the first time it takes a while
        await _answer(scope, send, 200, CONTENT_TYPE, lambda: metrics.text().encode())

    return {"/healthz": healthy, "/readyz": ready, "/metrics": measured}


def measure(runtime: Runtime, calls: Calls, sessions: Sessions, metrics: Metrics) -> None:
    """Let ``metrics`` count the calls of ``runtime``, and report what is open."""
    runtime.on_result = metrics.called
    add = metrics.gauge
    add("toolspan_calls_running", "Calls that run now.", lambda: [({}, calls.running)])
    add("toolspan_calls_waiting", "Calls that wait for their turn.", lambda: [({}, calls.waiting)])
    add("toolspan_sessions", "Sessions that are open.", _number_of(sessions))
    add("toolspan_tools", "Tools that are served.", lambda: [({}, len(runtime.registry))])
    add(
        "toolspan_capacity_refused_total",
        "Calls and sessions for which there was no place.",
        lambda: [({"of": "calls"}, calls.refused), ({"of": "sessions"}, sessions.refused)],
        kind="counter",
    )
    add(
        "toolspan_background_failures_total",
        "Failures of background work, by its name; the server goes on.",
        failure_samples,
        kind="counter",
    )
    add("toolspan_up", "Whether a source or service is ready.", lambda: _up(runtime))
    add(
        "toolspan_config_reloads_total",
        "Changed configs, by whether they took effect.",
        lambda: [
            ({"outcome": "served"}, runtime.snapshot.number - 1),
            ({"outcome": "refused"}, runtime.refused_reloads),
        ],
        kind="counter",
    )


def measure_connections(connections: Sized, metrics: Metrics) -> None:
    """Let ``metrics`` report how many ``connections`` are open."""
    metrics.gauge("toolspan_connections", "HTTP connections that are open.", _number_of(connections))


def counting(metrics: Metrics) -> Callable[[RefusedResponse], None]:
    """A callback that counts refusals by reason."""

    def count(refused: RefusedResponse) -> None:
        metrics.refused(_REASONS.get(refused.status, "other"))

    return count


def _number_of(items: Sized) -> Callable[[], Iterable[Sample]]:
    return lambda: [({}, len(items))]


def _up(runtime: Runtime) -> Iterator[Sample]:
    """Of sources with the same name, which samples must not repeat, whether all are up."""
    health = runtime.health()
    sources: dict[str, float] = {}
    for source in health["sources"]:
        name = str(source.get("name") or source.get("type") or "")
        sources[name] = min(sources.get(name, 1.0), float(source.get("state") in _UP))
    for name, up in sources.items():
        yield {"kind": "source", "name": name}, up
    for name, service in health["services"].items():
        yield {"kind": "service", "name": name}, float(service.get("state") in _UP)


async def _answer(scope: Scope, send: Send, status: int, kind: bytes, body: Callable[[], bytes]) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        await _WRONG_METHOD.send(send)
        return
    written = body()
    headers = [(b"content-type", kind), (b"content-length", str(len(written)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": written if scope["method"] == "GET" else b""})
