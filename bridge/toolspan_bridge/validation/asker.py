"""What puts a validation's queries to models: the tool loop, with every tool of a toolbox."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from toolspan_server.config import Config

from ..approvals import Approver
from ..events import Answer, End, UsageReported
from ..loop import DEFAULT_SYSTEM, Question, run
from ..messages import Message, ReasoningEffort
from ..providers import Allow, ProviderPool
from ..providers.identity import identity_of
from ..providers.pool import PoolUser
from ..providers.prices import cost_of, total_usd
from ..toolbox import Toolbox
from .fingerprint import Fingerprint, fingerprint_of
from .offer import Offer
from .storage.store import STORE_FILE
from .wordings.chosen import ChosenWordings


class Asker(PoolUser):
    """Puts queries to any models, with the tools of ``toolbox`` and the limits and providers of ``config``.

    An async context manager: ``ask`` is what ``validate`` needs, as long as the block lasts, and each
    provider's connections stay open until it ends. ``allow`` is called before a provider of ``config`` is
    used and raises ``ConsentError`` to refuse it; without it every provider of ``config`` is used.
    ``reasoning`` is how much the models are to think. ``prompt:provider/model`` has the wording that the
    validation store of ``config`` holds for it; ``on_note`` is told when that cannot be read. ``approver``
    decides about calls as that of ``run`` does.
    """

    def __init__(
        self,
        config: Config,
        toolbox: Toolbox,
        *,
        allow: Allow | None = None,
        reasoning: ReasoningEffort | None = None,
        on_note: Callable[[str], None] = lambda text: None,
        approver: Approver | None = None,
    ) -> None:
        chosen = ChosenWordings(config.state_directory / STORE_FILE, on_note)
        super().__init__(ProviderPool(config, allow, chosen))
        self._max_iterations = config.max_iterations()
        self._tools_offered = config.limits.tools_offered
        self._own = frozenset(config.providers)
        self._toolbox = toolbox
        self._approver = approver
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

    async def ask_offering(self, model: str, query: str, offer: Offer) -> Answer:
        """As ``ask``, with what ``offer`` has in place of the toolbox. Raises as ``ask``."""
        question = self._question(query, offer.system or DEFAULT_SYSTEM, offer.max_iterations)
        return await self._answer(model, question, Toolbox([], offer.tools), list(offer.before))

    async def ask(self, model: str, query: str) -> Answer:
        """Put ``query`` to ``model`` (``provider/model``), a question of its own; give the answer with its
        cost.

        Raises ``UsageError`` and ``AuthError`` as ``resolve_model``, ``UnreachableError``,
        ``UnknownModelError`` and ``ProviderError`` as the provider.
        """
        return await self._answer(model, self._question(query, DEFAULT_SYSTEM, self._max_iterations))

    def _question(self, query: str, system: str, max_iterations: int) -> Question:
        return Question(
            query,
            "",
            system=system,
            max_iterations=max_iterations,
            reasoning=self._reasoning,
            tools_offered=self._tools_offered,
        )

    async def _answer(
        self,
        model: str,
        asked: Question,
        toolbox: Toolbox | None = None,
        before: list[Message] | None = None,
    ) -> Answer:
        provider, name = await self._providers.get(model)
        question, tools = replace(asked, model=name), toolbox or self._toolbox
        spent: list[float | None] = []
        own = provider.name in self._own
        async with aclosing(run(question, provider, tools, before, approver=self._approver)) as events:
            async for event in events:
                if isinstance(event, UsageReported):
                    spent.append(None if own else cost_of(provider.name, name, event.usage))
                if isinstance(event, End):
                    return replace(event.answer, usd=total_usd(spent))
        raise AssertionError("a run ends with End")
