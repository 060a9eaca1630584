"""``Idempotency-Key`` over a real process: nothing runs twice, whatever happens in between."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.raw_http import RawClient, request
from tests.support.waiting import eventually
from tests.support.web_app import Reply, WebApp, web_app

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.1.86")]

COUNTED = """\
tools:
  registry:
    - name: note
      description: Notes that it was called
      parameters: {type: object, properties: {text: {type: string}}, required: [text]}
      timeout_ms: 300000
      implementation: {type: builtin, handler: note}
handlers: [handlers.py]
"""
HANDLERS = """\
import asyncio
from pathlib import Path

from toolspan_server import handler


@handler("note")
async def note(arguments: dict[str, object], context: object) -> str:
    text = arguments["text"]
    here = Path(__file__).parent
    with (here / "calls").open("a") as file:
        file.write("x")
    while text == "wait" and not (here / "go").exists():
        await asyncio.sleep(0.01)
    return f"noted {text}"
"""


def _calls(folder: Path) -> int:
    path = folder / "calls"
    return len(path.read_text()) if path.exists() else 0


def _app(folder: Path, more: str = "") -> Any:
    (folder / "handlers.py").write_text(HANDLERS)
    return web_app(folder, "--trust", config=COUNTED + more)


def _note(app: WebApp, text: str, key: str) -> Reply:
    return app.ask(
        "POST", "/api/tools/call", {"name": "note", "arguments": {"text": text}}, Idempotency_Key=key
    )


def _asked(app: WebApp, text: str, key: str) -> RawClient:
    """A client that has sent its request."""
    body = json.dumps({"name": "note", "arguments": {"text": text}}).encode()
    headers = (("content-type", "application/json"), ("idempotency-key", key))
    client = RawClient(("127.0.0.1", app.port))
    return client.send(request("POST", "/api/tools/call", *headers, body=body))


def test_those_that_come_at_once_get_one_answer(tmp_path: Path) -> None:
    with _app(tmp_path) as app:
        replies: list[Reply] = []
        threads = [threading.Thread(target=lambda: replies.append(_note(app, "wait", "k"))) for _ in range(8)]
        for each in threads:
            each.start()
        assert eventually(lambda: _calls(tmp_path) == 1)
        (tmp_path / "go").touch()
        for each in threads:
            each.join()
        assert [reply.json["result"] for reply in replies] == ["noted wait"] * 8
        assert sum("idempotent-replayed" in reply.headers for reply in replies) == 7
        assert _calls(tmp_path) == 1


def test_what_began_goes_on_though_its_client_left(tmp_path: Path) -> None:
    with _app(tmp_path) as app:
        _asked(app, "wait", "k").close()
        assert eventually(lambda: _calls(tmp_path) == 1)
        (tmp_path / "go").touch()
        assert _note(app, "wait", "k").json["result"] == "noted wait"
        assert _calls(tmp_path) == 1


def test_a_kept_answer_outlives_the_server_and_what_it_had_begun_is_not_run_again(tmp_path: Path) -> None:
    with _app(tmp_path) as app:
        first = _note(app, "a", "done")
        with _asked(app, "wait", "begun"):
            assert eventually(lambda: _calls(tmp_path) == 2)
            with _app(tmp_path) as other:
                passing = _note(other, "wait", "begun")
                assert _note(other, "a", "done").body == first.body
            app.process.kill()
            app.process.wait()
    with _app(tmp_path) as app:
        again, unknown = _note(app, "a", "done"), _note(app, "wait", "begun")
        reused = _note(app, "b", "done")
        assert (again.body, again.headers["idempotent-replayed"]) == (first.body, "true")
        assert (unknown.status, unknown.json["code"]) == (409, "outcome_unknown")
        assert (reused.status, reused.json["code"]) == (422, "idempotency_key_reused")
    assert (passing.status, passing.json["code"]) == (409, "request_in_progress")
    assert passing.headers["retry-after"] == "1"
    assert _calls(tmp_path) == 2


def test_a_signal_in_the_middle_leaves_it_unknown(tmp_path: Path) -> None:
    with _app(tmp_path) as app, _asked(app, "wait", "begun") as client:
        assert eventually(lambda: _calls(tmp_path) == 1)
        assert app.end() == 0
        assert b" 503 " in client.rest()
    with _app(tmp_path) as app:
        assert _note(app, "wait", "begun").json["code"] == "outcome_unknown"
    assert _calls(tmp_path) == 1


def test_what_failed_for_the_moment_is_tried_again(tmp_path: Path) -> None:
    with _app(tmp_path) as app:
        wanted = {"query": "x", "model": "ollama/none"}
        replies = [app.ask("POST", "/api/tools/test", wanted, Idempotency_Key="k") for _ in range(2)]
        assert [reply.status for reply in replies] == [502, 502]
        assert all("idempotent-replayed" not in reply.headers for reply in replies)


def test_where_conversations_are_not_saved_no_answer_is_on_the_disk(tmp_path: Path) -> None:
    with _app(tmp_path, "conversations: {save: false}\n") as app:
        first = _note(app, "a-text-of-nobody", "k")
        again = _note(app, "a-text-of-nobody", "k")
        assert (again.body, again.headers["idempotent-replayed"]) == (first.body, "true")
    written = b"".join(path.read_bytes() for path in (tmp_path / ".toolspan").rglob("*") if path.is_file())
    assert b"requests" in written and b"a-text-of-nobody" not in written
    with _app(tmp_path, "conversations: {save: false}\n") as app:
        assert _note(app, "a-text-of-nobody", "k").json["code"] == "already_answered"
    assert _calls(tmp_path) == 1


def test_one_principal_keeps_so_many_answers_and_pushes_out_none_of_another(tmp_path: Path) -> None:
    tokens = {name: f"token-of-{name}-0123456789" for name in ("ann", "bob")}
    auth = json.dumps([{"name": name, "token": token} for name, token in tokens.items()])
    with _app(tmp_path, f"web: {{kept_answers: 3}}\nauth: {{tokens: {auth}}}\n") as app:

        def note(who: str, key: str) -> Reply:
            app.token = tokens[who]
            return _note(app, who, key)

        note("bob", "k0")
        for number in range(6):
            note("ann", f"k{number}")
        assert "idempotent-replayed" in note("bob", "k0").headers
        assert "idempotent-replayed" in note("ann", "k5").headers
        assert "idempotent-replayed" not in note("ann", "k0").headers
