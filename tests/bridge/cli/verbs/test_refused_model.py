"""A tool of ours that wants the model asked, where nobody allows that."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.cli import Ran, toolspan
from tests.support.loopback_web import web

pytestmark = [pytest.mark.requirement("I12.3.81"), pytest.mark.long]

PROMPT = "Is it high?"


def ask(folder: Path, *options: str) -> Ran:
    """A question whose model reads a page with a prompt; the model is also whom the prompt is put to."""
    workspace = {"path": ".", "web_fetch": {"allow_private": ["127.0.0.1"]}}
    config = {
        "services": {"workspaces": {"main": workspace}},
        "tools": {"sources": [{"type": "workspace", "workspace": "main"}]},
    }
    with web() as address:
        call = {"tool": "WebFetch", "arguments": {"url": f"{address}/tide", "prompt": PROMPT}}
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        (folder / "turns.yaml").write_text(
            yaml.safe_dump({"turns": [{"calls": [call]}, {"text": "Yes, it is."}, {"text": "End."}]})
        )
        words = ("ask", "Go", "-m", "scripted/turns.yaml", "--config", "config.yaml", "--no-save")
        return toolspan(*words, *options, cwd=folder)


def test_a_page_whose_prompt_may_not_be_put_to_a_model_is_returned_itself(tmp_path: Path) -> None:
    ran = ask(tmp_path, "--json")
    [call] = ran.json["tool_calls"]
    assert call["result"]["success"], call
    assert "It is high." in call["result"]["result"]["untrusted_content"]
    assert "untrusted_answer" not in call["result"]["result"]


def test_what_would_have_allowed_it_is_said(tmp_path: Path) -> None:
    shown = ask(tmp_path).err
    assert "--approve NAME" in shown and "its NAME is sampling:toolspan" in shown


def test_with_that_the_model_answers_the_prompt(tmp_path: Path) -> None:
    [call] = ask(tmp_path, "--json", "--approve", "sampling:*").json["tool_calls"]
    assert call["result"]["result"]["untrusted_answer"] == "Yes, it is."
