"""Several processes that go on with one conversation at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.waiting import BOUND_S
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Assistant, User

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.6.7")]
CONFIG = """
handlers: [tools.py]
tools:
  registry:
    - name: meet
      description: Waits for the end of the other.
      parameters: {type: object}
      implementation: {type: builtin, handler: meeting}
"""
HANDLERS = """
import asyncio
from pathlib import Path
from toolspan_server import handler

@handler("meeting")
async def meeting(arguments, context):
    Path("meets").touch()
    while not Path("met").exists():
        await asyncio.sleep(0.01)
    return "met"
"""
NAMED = ("--config", "toolspan.yaml")


def script(folder: Path, name: str, *turns: dict[str, object]) -> tuple[str, str]:
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({"turns": list(turns)}))
    return ("-m", f"scripted/{name}.yaml")


def started(folder: Path, text: str, conversation: str, *options: str) -> subprocess.Popen[str]:
    words = ("ask", text, "--conversation", conversation, *options, *NAMED)
    return subprocess.Popen(
        [sys.executable, "-m", "toolspan_bridge", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_of_two_asks_at_once_the_second_is_told_and_nothing_is_lost_or_mixed(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "tools.py").write_text(HANDLERS)
    one = script(tmp_path, "one", {"text": "begun"})
    assert toolspan("ask", "begin", *one, *NAMED, cwd=tmp_path).code == 0
    log = next((tmp_path / ".toolspan" / "conversations").glob("*.jsonl"))

    meets = script(tmp_path, "meets", {"calls": [{"tool": "meet", "arguments": {}}]}, {"text": "we met"})
    with started(tmp_path, "meet", log.stem, *meets) as first:
        assert first.stderr is not None
        while not (tmp_path / "meets").exists():
            assert first.poll() is None, first.stderr.read()
        held = log.read_bytes()
        with started(tmp_path, "too late", log.stem, *script(tmp_path, "late", {"text": "?"})) as second:
            out, told = second.communicate(timeout=BOUND_S)
        assert (second.returncode, out) == (1, "")
        assert f"is in use by process {first.pid} (since " in told and "--fork" in told
        assert log.read_bytes() == held
        (tmp_path / "met").touch()
        out, _ = first.communicate(timeout=BOUND_S)
        assert (first.returncode, out) == (0, "we met\n")

    later = toolspan("ask", "more", "--conversation", log.stem, *one, *NAMED, cwd=tmp_path)
    assert (later.code, later.out) == (0, "begun\n")
    messages = exported(tmp_path, log.stem).messages
    assert [each.text for each in messages if isinstance(each, User)] == ["begin", "meet", "more"]


def test_of_asks_that_race_each_is_whole_in_the_conversation_or_told(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("name: shop\n")
    assert toolspan("ask", "begin", *script(tmp_path, "s", {"text": "begun"}), *NAMED, cwd=tmp_path).code == 0
    log = next((tmp_path / ".toolspan" / "conversations").glob("*.jsonl"))
    texts = [f"question {number}" for number in range(4)]
    asks = [
        started(tmp_path, text, log.stem, *script(tmp_path, f"s{number}", {"text": f"answer to {text}"}))
        for number, text in enumerate(texts)
    ]
    ended = {
        text: (*ask.communicate(timeout=BOUND_S), ask.returncode)
        for text, ask in zip(texts, asks, strict=True)
    }
    answered = {text for text, (_, _, code) in ended.items() if code == 0}
    assert answered
    for text, (out, told, _) in ended.items():
        if text in answered:
            assert out == f"answer to {text}\n"
        else:
            assert out == "" and "in use by" in told and "--fork" in told
    for line in log.read_text().splitlines():
        json.loads(line)
    messages = exported(tmp_path, log.stem).messages
    pairs = list(zip(messages[::2], messages[1::2], strict=True))
    assert {asked.text for asked, _ in pairs if isinstance(asked, User)} == {"begin", *answered}
    for asked, told in pairs[1:]:
        assert isinstance(asked, User) and told == Assistant(f"answer to {asked.text}")


def exported(folder: Path, name: str) -> Conversation:
    ran = toolspan("conversations", "export", name, "--format", "json", *NAMED, cwd=folder)
    assert ran.code == 0, ran.err
    return Conversation.from_json(ran.out.encode())
