"""How much a model is to think: the option wins over the route, and a chat may change it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from toolspan_bridge.cli.asking.options import AskOptions
from toolspan_bridge.cli.chat.chat import Chat
from toolspan_bridge.cli.chat.lines import take
from toolspan_bridge.cli.chat.servers import server_host
from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.messages import Request
from toolspan_bridge.providers.catalog import scripted
from toolspan_bridge.sessions.asker import RoutedAsker
from toolspan_bridge.sessions.chosen.approvals import ApprovalChoice
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.sessions.chosen.limits import LimitChoice
from toolspan_bridge.sessions.kept.saved_conversation import SavedConversation
from toolspan_bridge.sessions.session import opened

pytestmark = pytest.mark.requirement("I11.3.1")

ROUTES = """
responses:
  - match: {intent_regexp: prove}
    llm: scripted
    model: SCRIPT
    reasoning: high
  - match: {}
    llm: scripted
    model: SCRIPT
"""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Sequence[Request]:
    """What every scripted provider is asked, in order."""
    seen: list[Request] = []
    answer, stream = scripted.Scripted.answer, scripted.Scripted.stream

    async def noted(self: scripted.Scripted, request: Request) -> object:
        seen.append(request)
        return await answer(self, request)

    def streamed(self: scripted.Scripted, request: Request) -> object:
        seen.append(request)
        return stream(self, request)

    monkeypatch.setattr(scripted.Scripted, "answer", noted)
    monkeypatch.setattr(scripted.Scripted, "stream", streamed)
    return seen


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "script.yaml").write_text("turns: [{text: a}, {text: b}, {text: c}, {text: d}, {text: e}]")
    path = tmp_path / "toolspan.yaml"
    path.write_text(ROUTES.replace("SCRIPT", str(tmp_path / "script.yaml")))
    return path


@pytest.mark.anyio
async def test_an_option_wins_over_the_route_and_a_chat_changes_it(
    config: Path, requests: Sequence[Request], capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        opened(ConfigChoice((str(config),)), TERMINAL) as session,
        RoutedAsker(session) as asker,
        server_host() as host,
    ):
        saved = SavedConversation.opened(None, None, TERMINAL)
        chat = Chat(asker, AskOptions(), saved, ApprovalChoice(), LimitChoice(), {}, host)
        for line in ("prove it", "say it", "/reasoning low", "prove it", "/reasoning much", "say it"):
            assert await take(chat, line)
        assert await take(chat, "/reasoning default")
        await take(chat, "prove it")
    assert [request.reasoning for request in requests] == ["high", None, "low", "low", "high"]
    assert "/reasoning takes one of none, low, medium, high, default" in capsys.readouterr().err


def test_ask_and_validate_take_the_effort(config: Path, requests: Sequence[Request]) -> None:
    ran = toolspan("ask", "say it", "--reasoning", "none", cwd=config.parent)
    assert (ran.code, ran.out) == (0, "a\n")
    model = f"scripted/{config.parent / 'script.yaml'}"
    suite = config.parent / "suite.yaml"
    suite.write_text("scenarios: [{query: say it, expect: {answer: a}}]\n")
    toolspan("validate", "-m", model, "--reasoning", "medium", "--suite", "suite.yaml", cwd=config.parent)
    assert requests[0].reasoning == "none"
    assert {request.reasoning for request in requests[1:]} == {"medium"}


def test_an_unknown_effort_is_refused_by_the_option_and_by_the_config(config: Path) -> None:
    assert toolspan("ask", "x", "--reasoning", "much", cwd=config.parent).code == 2
    config.write_text(config.read_text().replace("high", "much"))
    refused = toolspan("check", cwd=config.parent)
    assert refused.code == 2 and "reasoning" in refused.err
