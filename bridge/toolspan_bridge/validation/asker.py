"""What puts a validation's scenarios to models: the tool loop, with the tools of a toolbox."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from toolspan_server.config import Config

from ..approvals import PolicyApprover, Unattended
from ..conversation import Conversation
from ..events import (
    Answer,
    CallDelta,
    End,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCallStarted,
    UsageReported,
)
from ..loop import LimitChoice, LimitReached, Question, run
from ..messages import ReasoningEffort
from ..providers import Provider, ProviderPool
from ..providers.http.settings import HttpSettings
from ..providers.identity import identity_of, wire_of
from ..providers.pool import PoolUser
from ..providers.prices import Pricing, cost_of, total_usd
from ..providers.wire.provider import WireProvider
from ..toolbox import Toolbox
from .between import NOTHING_BETWEEN, Between
from .fingerprint import Fingerprint, fingerprint_of
from .runs.lanes import Served
from .runs.limits import paying
from .runs.observed import observing
from .stores import store_of
from .suites import Conversed, Scenario, Setting
from .suites.staging import Nobody, ScenarioApprover
from .wordings.chosen import ChosenWordings

_WORDS = (TextDelta, ReasoningDelta, CallDelta, Text, ToolCallStarted)


class Asker(PoolUser):
    """Puts scenarios to any models, with the tools of ``toolbox`` and the limits and providers of ``config``.

    An async context manager: ``ask`` is what ``validate`` needs, as long as the block lasts, and each
    provider's connections stay open until it ends. ``reasoning`` is how much the models are to think.
    ``prompt:provider/model`` has the wording that the validation store of ``config`` holds for it, and
    ``provider/model`` the rendering, unless ``unchosen``; ``on_note`` is told when that cannot be read.
    ``approver`` decides about calls as that of ``run`` does; what a scenario's person would say comes after
    what it refuses. Nobody is asked anything: questions of tools have the scenario's answers, or none.
    ``settings`` are those of the providers' HTTP clients. What is ``between`` stands around the providers and
    the calls of tools.
    """

    def __init__(
        self,
        config: Config,
        toolbox: Toolbox,
        *,
        reasoning: ReasoningEffort | None = None,
        on_note: Callable[[str], None] = lambda text: None,
        approver: PolicyApprover | None = None,
        settings: HttpSettings | None = None,
        between: Between = NOTHING_BETWEEN,
        unchosen: bool = False,
    ) -> None:
        chosen = None if unchosen else ChosenWordings(store_of(config), on_note)
        super().__init__(between.around(ProviderPool(config, chosen, settings)))
        self._max_iterations = config.max_iterations()
        self._tools_offered = config.limits.tools_offered
        self._own = frozenset(config.providers)
        self._through = between.through
        self._toolbox = toolbox.answering(Nobody())
        self._approver = approver or Unattended()
        self._reasoning: ReasoningEffort | None = reasoning

    async def fingerprint(self, model: str) -> Fingerprint:
        """What is measured when ``model`` is asked now, but for the suite.

        Raises ``UsageError`` and ``AuthError`` as ``resolve_model``.
        """
        provider, name = await self._providers.get(model)
        sampling = {"max_iterations": self._max_iterations, "tools_offered": self._tools_offered}
        return fingerprint_of(
            provider.name,
            name,
            await identity_of(provider, name),
            self._toolbox.tools,
            {**sampling, "reasoning": self._reasoning},
        )

    async def served(self, model: str) -> Served:
        """Where ``model`` is asked. Raises as ``fingerprint``."""
        provider, name = await self._providers.get(model)
        wire = wire_of(provider, name)
        if not isinstance(wire, WireProvider):
            return Served(provider.name)
        return Served(provider.name, wire.account, wire.base_url)

    async def ask(self, model: str, scenario: Scenario) -> Conversed:
        """Put the turns of ``scenario`` to ``model`` (``provider/model``), in a conversation of its own that
        ends with the first answer that is not as expected.

        Raises ``UsageError`` and ``AuthError`` as ``resolve_model``, ``UnreachableError``,
        ``UnknownModelError`` and ``ProviderError`` as the provider.
        """
        provider, name = await self._providers.get(model)
        async with scenario.opened(Setting(self._toolbox, self._max_iterations)) as setting:
            return await self._converse(provider, name, scenario, setting)

    async def _converse(
        self, provider: Provider, name: str, scenario: Scenario, setting: Setting
    ) -> Conversed:
        question = Question(
            scenario.asked[0].query,
            name,
            system=setting.system,
            max_iterations=setting.max_iterations,
            reasoning=self._reasoning,
            tools_offered=self._tools_offered,
            stream=True,
            checks_arguments=setting.checks_arguments,
        )
        if (observed := observing.get()) is not None:
            observed.offered(wire_of(provider, name).format_name, setting.toolbox.tools)
        conversation = Conversation.over(list(setting.before))
        answers: list[Answer] = []
        for number, turn in enumerate(scenario.asked):
            if number and scenario.turn_faults(number - 1, answers[-1]):
                break
            asked = replace(question, text=turn.query) if number else question
            toolbox = self._called(scenario.in_turn(number, setting))
            answers.append(await self._answer(asked, provider, setting, toolbox, conversation))
        return Conversed(tuple(answers))

    def _called(self, toolbox: Toolbox) -> Toolbox:
        """``toolbox``, with what is between this and its tools."""
        return toolbox if self._through is None else toolbox.called_through(self._through)

    async def _answer(
        self,
        question: Question,
        provider: Provider,
        setting: Setting,
        toolbox: Toolbox,
        conversation: Conversation,
    ) -> Answer:
        """The answer to ``question`` with its cost."""
        spent: list[float | None] = []
        own = provider.name in self._own
        observed = observing.get()
        if (spending := paying.get()) is not None:
            pricing = Pricing(provider.name, question.model, own=own)
            provider = spending.charged(provider, pricing, question.model)
        approver = ScenarioApprover(self._approver, setting.approvals)
        at_limit = None if setting.closing else _stops
        asked = run(question, provider, toolbox, conversation, approver=approver, at_limit=at_limit)
        async with aclosing(asked) as events:
            async for event in events:
                if observed is not None and observed.first is None and isinstance(event, _WORDS):
                    observed.heard()
                elif isinstance(event, UsageReported):
                    cost = None if own else cost_of(provider.name, question.model, event.usage)
                    spent.append(None if cost is None else cost * provider.price_share)
                elif isinstance(event, End):
                    return replace(event.answer, usd=total_usd(spent))
        raise AssertionError("a run ends with End")


async def _stops(reached: LimitReached) -> LimitChoice:
    """No turn after a limit."""
    del reached
    return "stop"
