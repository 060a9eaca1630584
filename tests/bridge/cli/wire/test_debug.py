"""``--debug``: what goes to and comes from models and servers is on stderr, each told whose it is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.authority import Authority, Guarded
from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.served import http_server
from tests.support.terminal import Terminal
from tests.support.wire_peers import wires

pytestmark = [pytest.mark.long, pytest.mark.requirement("I13.2.50")]

RAW = Path(__file__).parents[3] / "support" / "mcp_servers" / "raw.py"
KEY = "planted-key-of-the-provider"
ECHO = {
    "name": "echo",
    "description": "Say it again",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "implementation": {"type": "mock", "response": {"said": "{{ text }}"}},
}


def written(folder: Path, **config: Any) -> Path:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump({"name": "shop", **config}))
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return written(tmp_path, tools={"registry": [ECHO]})


def asked(folder: Path, *replies: Sent, words: tuple[str, ...] = ("--debug",), **environment: str) -> Ran:
    """``ask``, answered by ``replies``."""
    with FakeProvider(anything, replies) as fake:
        environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{fake.url}/v1"}
        return toolspan("ask", "Hi?", "-m", "openai/m", *words, cwd=folder, **environment)


def heads(ran: Ran) -> list[str]:
    """The first line of each message, without its time."""
    return [line.split(" s ", 1)[1] for line in ran.err.splitlines() if line.startswith("wire ")]


def answered(text: str, calls: Any = ()) -> Sent:
    return Sent(wires("openai").answer(text, calls))


def test_requests_and_answers_are_shown_each_with_its_number_size_and_body(shop: Path) -> None:
    ran = asked(shop, answered("", [("c1", "echo", {"text": "ho"})]), answered("Hello."))
    assert (ran.code, ran.out) == (0, "Hello.\n")
    told = heads(ran)
    first, second = (each.split(":")[0].removeprefix("→ ") for each in told if each.startswith("→ openai #"))
    assert first != second
    [sent] = [each for each in told if each.startswith(f"→ {first}: POST http://")]
    assert sent.endswith("bytes, attempt 1)") and "/v1/chat/completions" in sent
    [came] = [each for each in told if each.startswith(f"← {first}: 200, content-type application/json, ")]
    assert " bytes, " in came
    assert '"content":"Hi?"' in ran.err and '"content": "Hello."' in ran.err
    assert "→ server 'shop' (stdio): tools/list, id 1" in told
    assert "← server 'shop' (stdio): result of tools/call, id 2" in told
    assert told.index("→ server 'shop' (stdio): tools/call, id 2") > told.index(came)
    assert KEY not in ran.err + ran.out


def test_without_it_nothing_of_the_wire_is_shown(shop: Path) -> None:
    ran = asked(shop, answered("Hello."), words=())
    assert heads(ran) == [] and "chat/completions" not in ran.err


def test_each_attempt_and_what_broke_off_is_shown(shop: Path) -> None:
    busy = Sent(wires("openai").error("slow down", "rate_limit"), status=429, headers={"retry-after": "0"})
    told = heads(asked(shop, busy, Sent(hang_up=True), answered("Hello.")))
    assert [each.rpartition("(")[2].split(", ")[1] for each in told if "POST" in each] == [
        "attempt 1)",
        "attempt 2)",
        "attempt 3)",
    ]
    assert any(": 429, content-type application/json, retry-after 0, " in each for each in told)
    assert any("RemoteProtocolError" in each or "ReadError" in each for each in told)


def test_a_streamed_answer_is_shown_when_it_is_over_and_says_where_it_broke_off(shop: Path) -> None:
    frames = wires("openai").frames("Hello there.")
    stream = {"content-type": "text/event-stream"}
    ran = asked(shop, Sent(frames=frames, headers=stream), words=("--debug", "--jsonl"))
    assert any(": 200, content-type text/event-stream, " in each for each in heads(ran))
    assert "data: [DONE]" in ran.err
    cut = asked(shop, Sent(frames=frames[:3], headers=stream, hang_up=True), words=("--debug", "--jsonl"))
    assert cut.code == 1
    assert any("closed before its end" in each for each in heads(cut))


@pytest.mark.requirement("I13.2.51")
@pytest.mark.parametrize("size", [40, 210, 100_000])
def test_a_secret_that_a_model_says_in_pieces_is_not_shown(shop: Path, size: int) -> None:
    """Cut by the network, and by the events of the stream."""
    module = wires("openai")
    whole = b"".join(
        [module.chunk({"role": "assistant", "content": "it is "})]
        + [module.chunk({"content": piece}) for piece in module.pieces(f"{KEY} and db-password-17 ok", 4)]
        + [module.chunk({}, "stop"), module.DONE]
    )
    frames = [whole[start : start + size] for start in range(0, len(whole), size)]
    sent = Sent(frames=frames, headers={"content-type": "text/event-stream"})
    ran = asked(shop, sent, words=("--debug", "--jsonl"), DB_PASSWORD="db-password-17")
    assert json.loads(ran.out.splitlines()[-1])["content"].startswith(f"it is {KEY}"), ran.out
    pieces = [json.loads(line.strip()[6:]) for line in ran.err.splitlines() if line.startswith("    data: {")]
    said = "".join(each["choices"][0]["delta"].get("content", "") for each in pieces if each["choices"])
    assert said == "it is *** ok"


@pytest.mark.requirement("I13.2.51")
def test_no_secret_of_a_server_the_config_or_the_environment_is_shown(tmp_path: Path) -> None:
    planted = {
        "env": "planted-env-of-a-server",
        "named": "planted-variable-of-the-config",
        "called": "planted-by-its-name-alone",
        "looks": "sk-planted0123456789abcdef",
        "header": "planted-header-of-a-server",
        "query": "planted-query-of-a-url",
        "quoted": 'planted "with quotes" \\ and more',
    }
    (tmp_path / "far").mkdir()
    written(tmp_path / "far", tools={"registry": [ECHO]})
    with http_server(tmp_path / "far" / "toolspan.yaml") as served:
        far = {
            "url": f"{served.url}/mcp?api_key={planted['query']}",
            "headers": {"X-Team": planted["header"], "Authorization": "Bearer ${NAMED}"},
        }
        near = {
            "command": sys.executable,
            "args": [str(RAW)],
            "env": {"ANY": planted["env"], "QUOTED": planted["quoted"]},
        }
        written(tmp_path, mcpServers={"far": far, "near": near})
        arguments = json.dumps({"text": json.dumps(planted)})
        for name in ("far/echo", "near/echo"):
            words = ("tools", "call", name, "--arguments", arguments, "--trust", "--debug")
            ran = toolspan(*words, cwd=tmp_path, NAMED=planted["named"], MY_TOKEN=planted["called"])
            assert ran.code == 0, ran.err
            assert "result of tools/call" in ran.err and "***" in ran.err
            for secret in planted.values():
                for spelling in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3]):
                    assert spelling not in ran.err, (name, secret)


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
def test_a_remote_server_is_shown_with_its_requests_of_http_and_messages(
    tmp_path: Path, transport: str, path: str
) -> None:
    (tmp_path / "far").mkdir()
    written(tmp_path / "far", tools={"registry": [ECHO]})
    with http_server(tmp_path / "far" / "toolspan.yaml") as served:
        written(tmp_path, mcpServers={"far": {"type": transport, "url": f"{served.url}{path}"}})
        ran = toolspan("tools", "call", "echo", "text=ho", "--trust", "--debug", cwd=tmp_path)
    told = heads(ran)
    assert ran.code == 0
    assert any(each.startswith(f"→ server 'far' ({transport}): POST {served.url}/") for each in told)
    assert any(each.startswith(f"← server 'far' ({transport}): 20") for each in told)
    assert any(each.startswith(f"→ server 'far' ({transport}): tools/call, id ") for each in told)
    assert any(each.startswith(f"← server 'far' ({transport}): result of tools/call, id ") for each in told)


@pytest.mark.requirement("I13.2.51")
def test_a_sign_in_is_shown_without_what_it_is_made_of(
    state: Path, tmp_path: Path, sites: tuple[Authority, Guarded]
) -> None:
    authority, guarded = sites
    written(tmp_path, mcpServers={"notes": {"url": f"{guarded.url}/mcp"}})
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()\n"
    )
    browser.chmod(0o755)
    named = ("--config", "toolspan.yaml", "--debug")
    ran = toolspan_process("servers", "login", "notes", "--yes", *named, cwd=tmp_path, BROWSER=str(browser))
    assert ran.code == 0, ran.err
    host = authority.url.removeprefix("http://")
    assert any(each.startswith(f"→ sign-in at {host}: POST {authority.url}/token") for each in heads(ran))
    assert "→ server 'notes' (http): tools/list" in ran.err
    used = toolspan("tools", "call", "read", *named, cwd=tmp_path)
    assert used.code == 0, used.err
    for secret in (*authority.live, *authority.refresh):
        assert secret not in ran.err + used.err
    assert "code_verifier" not in ran.err and "code=" not in ran.err


@pytest.mark.requirement("I9.2.8")
def test_what_acts_on_a_terminal_is_shown_as_an_escape_and_a_body_is_under_its_head(shop: Path) -> None:
    hostile = answered("").body | {"note": "x"}
    body = json.dumps(hostile, ensure_ascii=False).replace('"x"', '"\x1b]0;evil\x07\u202e"')
    body = body.replace('"content": null', '"content": "Hello."') + "\ntoolspan: I am you"
    ran = asked(shop, Sent(body.encode(), headers={"content-type": "application/json"}))
    assert "\x1b" not in ran.err and "\u202e" not in ran.err and r"\x1b]0;evil\x07\u202e" in ran.err
    assert "\n    toolspan: I am you" in ran.err and "\ntoolspan: I am you" not in ran.err


def test_long_bodies_are_cut_and_say_how_long_they_were(shop: Path) -> None:
    ran = asked(shop, answered("so it is. " * 5_000))
    assert ran.out.count("so it is.") == 5_000
    assert max(map(len, ran.err.splitlines())) < 21_000
    assert " characters)" in ran.err


def plain(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", line)


def test_it_is_told_beside_an_answer_that_streams_on_a_terminal(shop: Path) -> None:
    frames = wires("openai").frames("A **bold** word.\n\n- cold\n- dry")
    sent = Sent(frames=frames, headers={"content-type": "text/event-stream"})
    with FakeProvider(anything, [sent]) as fake:
        variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{fake.url}/v1"}
        words = ("ask", "Hi?", "-m", "openai/m", "--debug")
        with Terminal(*words, cwd=shop, size=(50, 100), environment=variables) as terminal:
            assert terminal.ended() == 0
            lines = terminal.shown.splitlines()
    [place] = [number for number, line in enumerate(lines) if "• dry" in plain(line)]
    [begin] = [number for number, line in enumerate(lines) if "A bold word." in plain(line)]
    assert not any("wire" in line for line in lines[begin : place + 1])
    [wire] = [number for number, line in enumerate(lines) if "← openai #" in line]
    assert wire > place and lines[wire].lstrip("\r\x1b[K").startswith("wire ")
    assert KEY not in terminal.shown


@pytest.mark.parametrize(
    "verb",
    [
        "ask",
        "chat",
        "tools list",
        "tools show",
        "tools call",
        "validate",
        "servers login",
        "servers logout",
        "serve",
    ],
)
def test_every_verb_with_it_says_so_in_its_help(tmp_path: Path, verb: str) -> None:
    ran = toolspan_process(*verb.split(), "--help", cwd=tmp_path)
    assert "--debug" in ran.out
