"""A question, made ready to be put to its model: by which route, at which provider, with which tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..providers import Provider
from .agent import Agent, agent_of
from .asker import RoutedAsker
from .chosen.approvals import ApprovalChoice
from .chosen.limits import LimitChoice
from .chosen.question import QuestionOptions
from .costs import CostMeter
from .kept.saved_conversation import SavedConversation
from .named.attached import check_files
from .named.mentions import Asked

if TYPE_CHECKING:
    from ..routes import Profile


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """The ``agent`` that answers a question, the ``provider`` of its model, and what adds up its cost."""

    agent: Agent
    provider: Provider
    meter: CostMeter


async def made_ready(
    asker: RoutedAsker,
    asked: Asked,
    options: QuestionOptions,
    saved: SavedConversation,
    *,
    principal: str,
    approvals: ApprovalChoice,
    limits: LimitChoice,
    profile: Profile | None = None,
) -> ReadyQuestion:
    """The question ``asked`` by ``principal`` in the conversation of ``saved``; the files of ``options`` go
    with it.

    Raises ``UsageError`` for what the model cannot be asked, ``UnvalidatedError`` where the config refuses
    the model, and as ``RoutedAsker.routed``.
    """
    conversation = saved.conversation
    routed, provider = await asker.routed(
        asked.text, options.in_conversation(conversation.settings), profile=profile, conversation=conversation
    )
    question = limits.applied_to(options.asking(asked).applied_to(routed))
    check_files(question, provider)
    await asker.standing.heed(question, provider)
    session = await asker.failing_tools.heed(question, provider, conversation)
    meter = asker.meter(question, provider)
    agent = agent_of(question, provider, meter, session, approvals, saved, principal)
    return ReadyQuestion(agent, provider, meter)
