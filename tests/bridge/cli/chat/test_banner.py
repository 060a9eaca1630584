"""What a chat says before the first question."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.screens import CTRL_D, Screen
from tests.support.workspace_chats import script
from toolspan_bridge.validation import STORE_FILE, Fingerprint, Store, Trial
from toolspan_bridge.validation.fingerprint import toolspan_version

pytestmark = [pytest.mark.requirement("I13.4.41"), pytest.mark.long]

CONFIG = """
tools:
  registry:
    - name: one
      description: One
      implementation: {type: mock, mock_response: one}
mcpServers:
  dying: {command: %s, args: ["-c", "raise SystemExit(3)"]}
"""


MARK = Fingerprint(suite="s", toolspan=toolspan_version())


def trial(model: str, *, success: bool) -> Trial:
    return Trial(model, "s", "a", "2026-11-21T10:00:00.123Z", success, "" if success else "no", {}, MARK)


def test_it_tells_the_model_with_its_badge_the_tools_the_workspace_and_the_help(tmp_path: Path) -> None:
    model = script(tmp_path, "Fine.")
    (tmp_path / "toolspan.yaml").write_text(CONFIG % sys.executable)
    with Store.open(tmp_path / ".toolspan" / STORE_FILE) as store:
        for success in (*[True] * 38, False, False):
            store.append(trial(model, success=success))
    with Screen("chat", "--trust", "--no-save", "-m", model, cwd=tmp_path) as screen:
        screen.asks()
        screen.shows(
            "Toolspan\n",
            f"model      {model} · 🔧✓ validated (n=40, 95 %, 83–99 %)\n",
            "tools      1 · dying does not answer, toolspan 1\n",
            "/help",
        )
        assert screen.style("Toolspan").fg == "cyan"
        screen.type(CTRL_D)
        assert screen.ended() == 0


def test_an_unknown_provider_ends_the_chat_before_a_question(tmp_path: Path) -> None:
    with Screen("chat", "-m", "nosuch/model", cwd=tmp_path) as screen:
        assert screen.ended() == 2
        assert "no provider 'nosuch'" in screen.text and "you>" not in screen.text


def test_a_missing_key_ends_the_chat_before_a_question(tmp_path: Path) -> None:
    with Screen("chat", "-m", "openai/gpt-4o", cwd=tmp_path) as screen:
        assert screen.ended() == 3
        assert "OPENAI_API_KEY is not set" in screen.text and "you>" not in screen.text
