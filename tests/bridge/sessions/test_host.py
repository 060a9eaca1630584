"""A session in another host than a terminal: it tells and asks there, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from typing_extensions import override

from tests.support.background import model_in, written
from toolspan_bridge import run
from toolspan_bridge.approvals import Approval, ApprovalRequest, Departure, FilesOf, PersonAnswer
from toolspan_bridge.cli.host import TerminalHost
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import End
from toolspan_bridge.sessions.answering import made_ready
from toolspan_bridge.sessions.asker import RoutedAsker
from toolspan_bridge.sessions.chosen.approvals import ApprovalChoice
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.sessions.chosen.limits import LimitChoice
from toolspan_bridge.sessions.chosen.question import QuestionOptions
from toolspan_bridge.sessions.host import Warnings
from toolspan_bridge.sessions.kept.saved_conversation import SavedConversation
from toolspan_bridge.sessions.named.mentions import Asked
from toolspan_bridge.sessions.session import opened


class Person:
    """Somebody who allows everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer:
        del departure
        self.asked.append(request.tool.name)
        return PersonAnswer(Approval(allowed=True, decider="person"))


class OtherHost(TerminalHost):
    """Keeps notes, and has a person of its own."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.person = Person()

    @override
    def note(self, text: str) -> None:
        self.notes.append(text)

    @override
    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> Person:
        del files_of, warnings
        return self.person


@pytest.mark.anyio
@pytest.mark.usefixtures("state")
@pytest.mark.requirement("I15.1.20")
async def test_what_a_session_tells_and_asks_goes_to_its_host_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, mcpServers={"gone": {"command": "no-such-server"}})
    host = OtherHost()
    async with opened(ConfigChoice((str(config),)), host) as session, RoutedAsker(session) as asker:
        saved = SavedConversation(Conversation(), None, host)
        options = QuestionOptions(model_in(tmp_path))
        ready = await made_ready(
            asker,
            Asked("remove it"),
            options,
            saved,
            principal="local",
            approvals=ApprovalChoice(),
            limits=LimitChoice(),
        )
        agent = ready.agent
        events = run(
            agent.question, ready.provider, agent.toolbox, saved.conversation, approver=agent.approver
        )
        found = [event async for event in events]
    assert isinstance(found[-1], End) and found[-1].answer.content == "So be it."
    assert host.person.asked == ["remove"]
    assert any("gone" in note for note in host.notes)
    assert capsys.readouterr() == ("", "")
