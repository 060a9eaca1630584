"""Asks a model for a server, once somebody has allowed it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from toolspan_server.engines.upstreams import ListedTool, RefusedQuestion

from ...approvals import Approval, ApprovalRequest, Approver, Unattended, find_reason
from ...client import Sampled, Sampling
from ...client.sampling_messages import read_sampling
from ...errors import BridgeError
from ...providers import Provider
from ._wire_names import on_the_wire, restored
from .model_choice import ModelChoice

_DENIED = -1
_PREFIX = "sampling:"
_REASON = "the server wants to have your model asked, at your cost"
_MOST_HINTS, _LONGEST_HINT = 3, 100
FindModel = Callable[[str], Awaitable[tuple[Provider, str]]]

_SHOWN = ("messages", "systemPrompt", "maxTokens", "tools", "toolChoice", "temperature")


class ModelSampler:
    """The ``Sampler`` that asks ``model`` at ``provider`` (those of the conversation), or the one that
    ``choice`` has for what a server prefers. ``approver`` decides about each question, as about a call of
    ``sampling:SERVER``.

    ``use`` says who is asked from then on; before, every question is refused. ``find`` gives the provider of
    ``provider/model`` and the model's name there.
    """

    def __init__(
        self,
        provider: Provider | None = None,
        model: str = "",
        approver: Approver | None = None,
        *,
        vision: bool = True,
        choice: ModelChoice | None = None,
        find: FindModel | None = None,
    ) -> None:
        self._choice = choice or ModelChoice()
        self._find = find
        self._provider = provider
        self._model = model
        self._approver: Approver = approver or Unattended()
        self._vision = vision

    def use(
        self,
        provider: Provider,
        model: str,
        approver: Approver,
        *,
        vision: bool = True,
        find: FindModel | None = None,
    ) -> None:
        """Ask ``model`` at ``provider`` from now on, once ``approver`` allows it."""
        self._find = find or self._find
        self._provider, self._model, self._approver, self._vision = provider, model, approver, vision

    async def sample(self, sampling: Sampling) -> Sampled:
        """The model's answer. Raises ``RefusedQuestion``."""
        if self._provider is None:
            raise RefusedQuestion(_DENIED, "no model is chosen that could be asked")
        preferred = self._choice.chosen(sampling) if self._find is not None else ""
        allowed = await self._allowed(sampling, preferred)
        provider, model, vision = await self._asked(preferred)
        request = replace(allowed.request, model=model, vision=vision)
        try:
            reply = await provider.answer(on_the_wire(request))
        except BridgeError as error:
            raise RefusedQuestion(_DENIED, f"the model could not be asked: {error}") from None
        return Sampled(restored(reply, request, provider.format_name), model, provider.name)

    async def _asked(self, preferred: str) -> tuple[Provider, str, bool]:
        """Who is asked: provider, model, and whether it sees images. Raises ``RefusedQuestion``."""
        assert self._provider is not None
        if not preferred or self._find is None:
            return self._provider, self._model, self._vision
        try:
            provider, model = await self._find(preferred)
        except BridgeError as error:
            raise RefusedQuestion(_DENIED, f"the model {preferred} could not be asked: {error}") from None
        return provider, model, True

    async def _allowed(self, sampling: Sampling, preferred: str) -> Sampling:
        """``sampling`` as it was allowed, perhaps with other messages. Raises ``RefusedQuestion``."""
        tool = sampling_tool(sampling.server)
        shown = {key: sampling.params[key] for key in _SHOWN if key in sampling.params}
        if not await find_reason(self._approver, sampling.server, tool, shown):
            return sampling
        wanted = f"{_wanted(sampling)}; {self._answering(sampling, preferred)}"
        request = ApprovalRequest("", sampling.server, tool, shown, f"{_REASON} ({wanted})")
        approval = await self._approver.decide(request)
        if not approval.allowed:
            raise _refused(approval, tool.name)
        if approval.arguments is None:
            return sampling
        changed: Mapping[str, Any] = {**sampling.params, **approval.arguments}
        most = cast("int", sampling.request.max_tokens)
        return read_sampling(changed, sampling.server, sampling.tool, most)

    def _answering(self, sampling: Sampling, preferred: str) -> str:
        """Which model will answer, and what the server would have liked where it is another."""
        answers = f"{preferred or self._model} answers"
        if preferred or not sampling.hints:
            return answers
        hinted = ", ".join(repr(hint[:_LONGEST_HINT]) for hint in sampling.hints[:_MOST_HINTS])
        return f"{answers}, the model of the conversation: it would like {hinted} (client.sampling_models)"


def _refused(approval: Approval, name: str) -> RefusedQuestion:
    """For the server what the person says; for the person also why nobody was asked, and what allows it."""
    message = "User rejected sampling request"
    if not approval.reason or approval.decider == "person":
        return RefusedQuestion(_DENIED, f"{message}: {approval.reason}" if approval.reason else message)
    named = f"; its NAME is {name}" if approval.decider == "policy" else ""
    return RefusedQuestion(_DENIED, message, f"{approval.reason}{named}")


def sampling_tool(server: str) -> ListedTool:
    """What is allowed or denied when ``server`` samples, as if it were a tool ``sampling:SERVER``."""
    return ListedTool(
        f"{_PREFIX}{server}",
        f"Ask the model of the conversation on behalf of the server {server!r}.",
        {"type": "object", "properties": {"messages": {"type": "array"}, "maxTokens": {"type": "integer"}}},
        {"annotations": {"destructiveHint": True}},
    )


def _wanted(sampling: Sampling) -> str:
    most = f"at most {sampling.request.max_tokens:,} tokens" if sampling.request.max_tokens else "any length"
    return f"within its tool {sampling.tool!r}; {most}"
