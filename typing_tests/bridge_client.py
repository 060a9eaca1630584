"""The types of what ``toolspan_bridge`` is for servers as their client; checked, never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, assert_type

from toolspan_bridge import (
    Approver,
    Choice,
    ClientFeatures,
    ClientLimits,
    Contents,
    DeviceCode,
    Elicitation,
    Elicited,
    Elicitor,
    FormField,
    KeptTasks,
    LogLevel,
    ModelSampler,
    Prompt,
    Provider,
    Roots,
    Sampled,
    Sampler,
    Sampling,
    ServerSpec,
    SignInPerson,
    SignInRequest,
    SignInWay,
    Toolbox,
    Usage,
)


class Answers:
    """A person who fills in whatever is asked with its default."""

    async def elicit(self, question: Elicitation) -> Elicited:
        for field in question.fields:
            assert_type(field, FormField)
            assert_type(field.choices, tuple[Choice, ...])
            assert_type(field.read("text"), Any)
        return Elicited("accept", {field.name: field.default for field in question.fields})


async def asked(sampler: Sampler, sampling: Sampling) -> None:
    sampled = assert_type(await sampler.sample(sampling), Sampled)
    assert_type(sampled.usage, Usage)
    assert_type(sampling.params, Mapping[str, Any])


async def connected(servers: Sequence[ServerSpec], provider: Provider, approver: Approver) -> None:
    elicitor: Elicitor = Answers()
    sampler = ModelSampler(provider, "a-model", approver)
    sampler.use(provider, "another", approver)
    level: LogLevel = "debug"
    roots = Roots([Path()])
    limits = ClientLimits(samples=1)
    tasks = KeptTasks(Path("tasks.json"))
    assert_type(tasks.find("call"), str | None)
    features = ClientFeatures(elicitor, sampler, roots, level, limits, tasks)
    async with Toolbox.connect(servers, client=features) as toolbox:
        contents = assert_type(toolbox.contents, Contents)
        assert_type(await contents.prompts("notes"), tuple[Prompt, ...])
        assert_type(await contents.resources("notes"), tuple[str, ...])
        assert_type(toolbox.take_news(), list[str])
    roots.replace([Path("other")])
    ClientFeatures("someone")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class Colleague:
    """Whoever may sign in."""

    has_browser = False

    async def allows(self, request: SignInRequest) -> bool:
        """By what the request says."""
        return assert_type(request.scopes, tuple[str, ...]) == ()

    async def open(self, url: str, seconds: float) -> None:
        """Nothing is opened."""

    async def show_code(self, code: DeviceCode) -> None:
        """By what the code says."""
        assert_type(code.url, str)


async def signed_in(servers: list[ServerSpec]) -> None:
    """Somebody who is no ``SignInPerson`` by name is one by shape."""
    person: SignInPerson = Colleague()
    async with Toolbox.connect(servers, sign_in=SignInWay(person, device=True)) as toolbox:
        assert_type(toolbox, Toolbox)
