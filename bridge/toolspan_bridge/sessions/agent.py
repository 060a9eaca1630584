"""What a model works with in a conversation: the servers' tools, and those that the bridge performs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolspan_server.config import WORKSPACE, Config
from toolspan_server.engines.upstreams import ListedTool

from ..agent.approving import OneAtATime
from ..agent.plan_mode import PLANNING, plan_guard, plan_tools
from ..agent.provider_search import ProviderSearch
from ..agent.subagent import Parent, subagent_tools
from ..approvals import Approver
from ..conversation import Conversation
from ..loop import Question
from ..loop.limits import Spending, spending_within
from ..providers import Provider
from ..toolbox import Toolbox
from .approving import approver_of
from .chosen.approvals import ApprovalChoice
from .costs import CostMeter
from .kept.saved_conversation import SavedConversation
from .planning import Plans
from .session import Session


@dataclass(frozen=True, slots=True)
class Agent:
    """A ``question`` as it is put in its conversation, with the tools that the model has there, and who
    decides about its calls. The requests of ``provider``, and of all that the tools ask, are paid from
    ``spending``."""

    question: Question
    toolbox: Toolbox
    approver: Approver
    provider: Provider
    spending: Spending


def _is_on(conversation: Conversation) -> Callable[[str, ListedTool], bool]:
    def accepts(server: str, tool: ListedTool) -> bool:
        return conversation.settings.allows(server, tool.name)

    return accepts


def _has_engine(config: Config) -> Callable[[str], bool]:
    """Whether a workspace has a search engine: that of ``--workspace``, which is in no config, has none."""
    workspaces = config.services.entries("workspaces")

    def has_engine(workspace: str) -> bool:
        found = workspaces.get(workspace)
        return workspace != WORKSPACE if found is None else found.web_search is not None

    return has_engine


def agent_of(
    question: Question,
    provider: Provider,
    meter: CostMeter,
    session: Session,
    choice: ApprovalChoice,
    saved: SavedConversation,
    principal: str,
) -> Agent:
    """The agent that answers ``question`` of ``principal`` in the conversation of ``saved``."""
    conversation = saved.conversation
    spending = spending_within(question.limits, question.conversation_limits, conversation)
    provider = spending.charged(provider, meter.pricing, question.model)
    approver = OneAtATime(approver_of(session, choice, conversation.id, principal))
    toolbox = session.toolbox.for_models().guarded(plan_guard(conversation)).accepting(_is_on(conversation))
    limits = session.config.limits.subagents
    search = ProviderSearch(question, provider, meter.pricing, _has_engine(session.config))
    parent = Parent(question, provider, toolbox, approver, meter.pricing, limits, saved.keep_subagent, search)
    plans = Plans(session, choice, conversation.id, principal)
    local = [*plan_tools(toolbox, conversation, plans), *subagent_tools(parent), *search.tools(toolbox)]
    if conversation.plan_mode:
        question = replace(question, system="\n\n".join(filter(None, (question.system, PLANNING))))
    return Agent(question, toolbox.with_local(local), approver, provider, spending)
