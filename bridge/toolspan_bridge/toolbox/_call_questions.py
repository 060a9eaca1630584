"""What a server asks within one call, answered by the client's features within their limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from toolspan_server.engines.upstreams import RefusedQuestion

from ..client import ClientFeatures
from ._awaited_pages import AwaitedPage, AwaitedPages
from ._call_clock import CallClock
from .reports import (
    CallElicitation,
    CallElicited,
    CallNotice,
    CallSampled,
    CallSampling,
    Report,
)

if TYPE_CHECKING:
    from ..client import Elicitation, Elicited, Elicitor

_REFUSED = -32600
_DENIED = -1
"""What the examples of MCP have for a request that the person denied."""


def _host(page: Elicitation) -> str:
    return urlsplit(page.url).hostname or ""


class SamplesTaken:
    """What one server has had of models: the number of samples, and their tokens."""

    def __init__(self) -> None:
        self.samples = 0
        self.tokens = 0


class CallQuestions:
    """Answers what ``server`` asks within a call of ``tool``, and reports it. ``taken`` and ``pages`` are the
    server's.

    ``end`` cancels the questions that are still open: nobody waits for their answers.
    """

    def __init__(
        self,
        server: str,
        tool: str,
        features: ClientFeatures,
        taken: SamplesTaken,
        pages: AwaitedPages,
        report: Report,
        clock: CallClock,
    ) -> None:
        self._server = server
        self._tool = tool
        self._features = features
        self._taken = taken
        self._pages = pages
        self._report = report
        self._clock = clock
        self._number = 0
        self._questions = self._samples = 0
        self._said: set[str] = set()
        self._open: set[anyio.CancelScope] = set()
        self._ended = False

    async def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of the server's request. Raises ``RefusedQuestion``."""
        if self._ended:
            raise RefusedQuestion(_REFUSED, "the call is over")
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            try:
                with self._clock.asking():
                    return await self._answer(method, params)
            finally:
                self._open.discard(scope)
        raise RefusedQuestion(_REFUSED, "the call is over")

    async def visit(self, pages: Iterable[Mapping[str, Any]]) -> None:
        """Have the person visit ``pages`` (``ElicitRequestURLParams`` of each), and be done there, as far as
        the server says so in time. Raises ``RefusedQuestion`` where one is not visited."""
        questions = [self._page(each) for each in pages]
        with ExitStack() as waiting, self._clock.asking():
            awaited = [(page, waiting.enter_context(self._pages.awaited(page.id))) for page in questions]
            left = [(page, state) for page, state in awaited if not await self._visited(page, state)]
            for page, state in left:
                await self._wait_for(page, state)

    def end(self) -> None:
        """Answer nothing any more."""
        self._ended = True
        for scope in self._open:
            scope.cancel()

    async def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == "elicitation/create":
            return await self._elicit(params)
        if method == "sampling/createMessage":
            return await self._sample(params)
        if method == "roots/list" and self._features.roots is not None:
            return self._features.roots.as_dict()
        raise RefusedQuestion(_REFUSED, f"this client does not support {method}")

    async def _elicit(self, params: Mapping[str, Any]) -> dict[str, Any]:
        from ..client.elicitation import read_elicitation

        elicitor = self._elicitor()
        question = read_elicitation(params, self._server, self._tool)
        return (await self._ask(elicitor, question, AwaitedPage())).as_dict()

    def _elicitor(self) -> Elicitor:
        if self._features.elicitor is None:
            raise RefusedQuestion(_REFUSED, "this client does not support elicitation")
        return self._features.elicitor

    async def _ask(self, elicitor: Elicitor, question: Elicitation, page: AwaitedPage) -> Elicited:
        """The person's answer; ``page`` is what is done when the server says so first."""
        from ..client import Elicited

        most = self._features.limits.questions
        self._questions += 1
        if self._questions > most:
            self._say(f"asked more than {most} questions in one call: further ones are declined")
            return Elicited("decline")
        number = self._next()
        self._report(CallElicitation(number, question))
        answer = Elicited("cancel")
        try:
            with page.asking():
                answer = await elicitor.elicit(question)
            if page.done.is_set():
                answer = Elicited("accept", done=True)
        finally:
            self._report(CallElicited(number, answer))
        return answer

    def _page(self, params: Mapping[str, Any]) -> Elicitation:
        """The question about a page before a call. Raises ``RefusedQuestion``."""
        from ..client.elicitation import read_elicitation

        question = read_elicitation(params, self._server, self._tool)
        if not question.url or not question.id:
            wrong = "of a page that precedes a call the mode url and an elicitationId are needed"
            raise RefusedQuestion(_REFUSED, wrong)
        return replace(question, precedes_call=True)

    async def _visited(self, page: Elicitation, state: AwaitedPage) -> bool:
        """Whether the person is done there, and not only on the way. Raises ``RefusedQuestion``."""
        elicitor = self._elicitor()
        if state.done.is_set():  # while another page was asked about
            return True
        answer = await self._ask(elicitor, page, state)
        if answer.action != "accept":
            why = "was declined" if answer.action == "decline" else "was not answered"
            raise RefusedQuestion(_DENIED, f"visiting a page of {_host(page)} {why}")
        return answer.done

    async def _wait_for(self, page: Elicitation, state: AwaitedPage) -> None:
        seconds = self._features.limits.page_seconds
        waits = f"{self._tool} waits for the server {self._server!r} to say that you are done"
        self._report(CallNotice(f"{waits} at {_host(page)}, for {seconds:g} s at most"))
        with anyio.move_on_after(seconds):
            await state.done.wait()
        if not state.done.is_set():
            late = f"the server {self._server!r} did not say so within {seconds:g} s (client.page_timeout_ms)"
            self._report(CallNotice(f"{late}: {self._tool} is called again all the same"))

    async def _sample(self, params: Mapping[str, Any]) -> dict[str, Any]:
        from ..client.sampling_messages import read_sampling, written_sample

        sampler, limits = self._features.sampler, self._features.limits
        if sampler is None:
            raise RefusedQuestion(_REFUSED, "this client does not support sampling")
        sampling = read_sampling(params, self._server, self._tool, limits.sample_tokens)
        self._count_sample()
        number = self._next()
        self._report(CallSampling(number, params))
        done = CallSampled(number, refused="the call is over")
        try:
            sampled = await sampler.sample(sampling)
            self._taken.tokens += sampled.usage.input_tokens + sampled.usage.output_tokens
            done = CallSampled(number, None, sampled)
            result = written_sample(sampling, sampled)
            done = CallSampled(number, result, sampled)
            return result
        except RefusedQuestion as refused:
            done = CallSampled(number, None, done.sampled, refused.shown)
            raise
        finally:
            self._report(done)

    def _count_sample(self) -> None:
        """Count one more. Raises ``RefusedQuestion`` beyond a limit."""
        limits, taken = self._features.limits, self._taken
        self._samples += 1
        beyond = ""
        if self._samples > limits.samples:
            beyond = f"more than {limits.samples} samples in one call"
        elif taken.samples >= limits.session_samples:
            beyond = f"more than {limits.session_samples} samples in this session"
        elif taken.tokens >= limits.session_tokens:
            beyond = f"more than {limits.session_tokens} tokens of samples in this session"
        if beyond:
            self._say(f"wanted {beyond}: further ones are refused")
            raise RefusedQuestion(_DENIED, f"the limit of this client is reached: {beyond}")
        taken.samples += 1

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _say(self, what: str) -> None:
        """Tell the person, once, what the server did."""
        if what not in self._said:
            self._said.add(what)
            self._report(CallNotice(f"The server {self._server!r} {what}"))
