"""Routes on the command line: the caller's profile, and prompts with documents and the conversation."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.routes import Documents
from toolspan_server.config import Config

CONFIG = """
services:
  collections:
    docs: {path: docs}
    other: {path: other}
tools: {enabled: false}
profile: {tone: friendly}
responses:
  - match: {service: help, tier: [gold, silver]}
    llm: anthropic
    model: claude-opus-4-5
    prompt: |
      Be {{tone}} to a {{tier}} customer.
      {{rag_context}}

      User: {{user_message}}
    rag: {collection: docs, max_results: 1}
  - match: {team: red}
    llm: anthropic
    model: claude-opus-4-5
    prompt: |
      So far:
      {{previous_messages}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.yaml").write_text(CONFIG)
    for name, text in (("docs", "# Refunds\n\nA refund takes three days."), ("other", "Refund nothing.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(text)
    return tmp_path


def exported(folder: Path, *options: str) -> Ran:
    question = ("--request", "How long does a refund take?", "--config", "tools.yaml")
    return toolspan("export", *question, *options, cwd=folder)


@pytest.mark.requirement("I12.5.30", "I12.5.31")
def test_a_route_s_prompt_has_the_passages_of_its_collection_and_the_profile(folder: Path) -> None:
    ran = exported(folder, "--service", "help", "--profile", "tier=gold", "--profile", "tone=brief")
    system = json.dumps(ran.json["system"])
    assert "Be brief to a gold customer." in system
    assert "page.md" in system and "A refund takes three days." in system
    assert "Refund nothing" not in system and "{{" not in system


@pytest.mark.requirement("I12.5.31")
def test_without_a_fitting_document_it_is_said(folder: Path) -> None:
    (folder / "docs" / "page.md").write_text("# Apples\n\nApples are red.")
    ran = exported(folder, "--service", "help", "--profile", "tier=silver")
    assert "no document fits the question" in ran.err and ran.code == 0


@pytest.mark.requirement("I12.5.31")
def test_a_second_turn_has_the_conversation_so_far_in_its_prompt(folder: Path) -> None:
    answers = [Sent(wires("anthropic").answer(text)) for text in ("First.", "Second.")]
    with FakeProvider(anything, answers) as fake:
        held = {"ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_BASE_URL": fake.url}
        chat = ("chat", "-c", "tools.yaml", "--profile", "team=red")
        ran = toolspan(*chat, cwd=folder, stdin="One?\nTwo?\n", **held)
        bodies = [json.dumps(request.body) for request in fake.received]
    assert ran.out == "First.\nSecond.\n"
    assert "So far:" in bodies[0] and "User: One?" not in bodies[0]
    assert "User: One?\\\\nAssistant: First." in bodies[1].replace("\\n", "\\\\n")


@pytest.mark.requirement("I12.5.56")
def test_one_server_finds_the_documents_of_all_questions_of_a_chat(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Config] = []
    opened = Documents.opened

    def counted(config: Config) -> AbstractAsyncContextManager[Documents]:
        started.append(config)
        return opened(config)

    monkeypatch.setattr(Documents, "opened", counted)
    with FakeProvider(anything, [Sent(wires("anthropic").answer("So."))] * 2) as fake:
        held = {"ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_BASE_URL": fake.url}
        chat = ("chat", "-c", "tools.yaml", "--service", "help", "--profile", "tier=gold")
        ran = toolspan(*chat, cwd=folder, stdin="A refund?\nThree days?\n", **held)
        bodies = [json.dumps(request.body) for request in fake.received]
    assert ran.out == "So.\nSo.\n" and len(started) == 1
    assert all("A refund takes three days." in body for body in bodies)


@pytest.mark.requirement("I12.5.32")
@pytest.mark.parametrize(
    ("written", "wrong", "said"),
    [
        (
            "{{tone}}",
            "{{tonne}}",
            ["unknown placeholder {{tonne}}", "did you mean 'tone'?", "tools.yaml:12:"],
        ),
        ("collection: docs", "collection: doc", ["unknown collection 'doc'", "did you mean 'docs'?"]),
        ("team: red", "intent_regex: red", ["unknown key 'intent_regex'", "did you mean 'intent_regexp'?"]),
        ("team: red", "team: {a: 1}", ["no value of a profile"]),
    ],
)
def test_what_nothing_fills_is_an_error_at_load_with_its_place(
    folder: Path, written: str, wrong: str, said: list[str]
) -> None:
    (folder / "tools.yaml").write_text(CONFIG.replace(written, wrong, 1))
    ran = toolspan("check", "--config", "tools.yaml", cwd=folder)
    assert ran.code == 2
    for each in said:
        assert each in ran.err + ran.out


@pytest.mark.requirement("I12.5.33")
def test_routes_with_tools_that_are_off_are_no_fault(folder: Path) -> None:
    off = "tools: {enabled: false}\nresponses:\n  - {tools: {allowed_tools: [gone]}}\n"
    (folder / "off.yaml").write_text(off)
    assert toolspan("check", "--config", "off.yaml", cwd=folder).code == 0
    ran = toolspan("ask", "Hi", "-c", "off.yaml", "-m", "offline/keyword", cwd=folder)
    assert "no tool 'gone'" not in ran.err


@pytest.mark.requirement("I12.5.30")
@pytest.mark.parametrize("wrong", ["tier", "=gold", "a b=c"])
def test_a_wrong_profile_is_refused(folder: Path, wrong: str) -> None:
    ran = toolspan("ask", "Hi", "--profile", wrong, cwd=folder)
    assert ran.code == 2 and "must be KEY=VALUE" in ran.err
