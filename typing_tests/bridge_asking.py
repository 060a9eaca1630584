"""The types of ``toolspan_bridge``'s surface: servers, models, events, conversations; checked, never run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from toolspan_bridge import (
    DEFAULT_MODEL,
    Answer,
    Approval,
    ApprovalRequest,
    Approver,
    Assistant,
    AuthError,
    Batch,
    BatchStatus,
    BridgeError,
    CallDelta,
    ChatTraits,
    Citation,
    ConsentError,
    ContextOverflowError,
    Conversation,
    Delta,
    End,
    Ending,
    Event,
    IterationStarted,
    Message,
    Notice,
    Part,
    Provider,
    ProviderError,
    Question,
    ReasoningDelta,
    Reply,
    Request,
    Route,
    Scripted,
    ServerFailure,
    ServerSpec,
    StopReason,
    StoreError,
    Text,
    TextDelta,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    Toolbox,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolChoice,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    ToolUse,
    Unattended,
    UnknownModelError,
    UnreachableError,
    Usage,
    UsageError,
    UsageReported,
    User,
    WireOptions,
    answer,
    cancel_batch,
    collect_batch,
    cost_of,
    count_tokens,
    own_providers,
    own_server,
    poll_batch,
    provider_names,
    resolve_model,
    route,
    run,
    servers_of,
    submit_batch,
)
from toolspan_server import load_config


async def asked() -> None:
    config = load_config("toolspan.yaml")
    servers = assert_type(servers_of(config), list[ServerSpec])
    provider, model = resolve_model(DEFAULT_MODEL, own=own_providers(config))
    assert_type(provider, Provider)
    conversation = assert_type(Conversation.load(Path("talk.json")), Conversation)
    async with Toolbox.connect([*servers, own_server(config)]) as toolbox:
        assert_type(toolbox.tools, tuple[ToolSpec, ...])
        assert_type(toolbox.failures, tuple[ServerFailure, ...])
        way = assert_type(route(config, "Hello"), Route)
        assert_type(way.question("Hello", model), Question)
        assert_type(await answer(Question("Hello", model), provider, toolbox), Answer)
        async for event in run(Question("And now?", model), provider, toolbox, conversation.messages):
            assert_type(event, Event)
            assert_type(told(event), str)
        assert_type(await count_tokens(provider, Request(model, (User("Hello"),))), int)
        assert_type(await toolbox.call(toolbox.tools[0], {}, "1"), ToolOutcome)
    assert_type(conversation.messages, list[Message])
    assert_type(provider_names(), tuple[str, ...])
    assert_type(cost_of("openai", "gpt-5", Usage(input_tokens=1)), float | None)
    Question("Hello")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    resolve_model(provider)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def told(event: Event) -> str:
    """Every event is one of these."""
    match event:
        case TextDelta() | ReasoningDelta() | CallDelta():
            delta: Delta = event
            return type(delta).__name__
        case Text():
            return event.text
        case IterationStarted() | UsageReported():
            return str(assert_type(event.iteration, int))
        case ToolCallStarted() | ToolApprovalRequest() | ToolApprovalAnswer():
            return event.tool
        case ToolCallFinished():
            return assert_type(event.outcome, ToolOutcome).name
        case Notice():
            return event.text
        case End():
            assert_type(event.answer.tool_calls, tuple[ToolUse, ...])
            assert_type(event.answer.stop, Ending)
            assert_type(event.answer.citations, tuple[Citation, ...])
            return event.answer.content


async def approving(provider: Provider, toolbox: Toolbox, request: ApprovalRequest) -> Answer:
    approver: Approver = Unattended("always", allowed=["look"])
    assert_type(await approver.decide(request), Approval)
    return await answer(Question("Hello", "m"), provider, toolbox, approver=approver)


def role(message: Message) -> str:
    """Every message is one of these."""
    match message:
        case User():
            return str(assert_type(message.parts, tuple[Part, ...]))
        case Assistant():
            return str(assert_type(message.calls, tuple[ToolCall, ...]))
        case ToolResults():
            return str(assert_type(message.outcomes, tuple[ToolOutcome, ...]))


def wired(request: Request) -> ChatTraits:
    wire = assert_type(request.wire, WireOptions)
    return wire.chat


async def replayed(choice: ToolChoice = ("server", "tool")) -> StopReason:
    provider: Provider = Scripted([{"text": "Hello"}, Reply(Assistant("Hello"))])
    reply = assert_type(await provider.answer(Request("m", (User("Hi"),), tool_choice=choice)), Reply)
    assert_type(reply.usage + Usage(1, 2), Usage)
    return reply.stop


async def in_a_batch(provider: Provider, requests: dict[str, Request]) -> int:
    batch = assert_type(await submit_batch(provider, requests), Batch)
    batch.save(Path("batch.json"))
    status = assert_type(await poll_batch(provider, Batch.load(Path("batch.json"))), BatchStatus)
    assert_type(await cancel_batch(provider, batch), BatchStatus)
    assert_type(await collect_batch(provider, batch), dict[str, Reply | BridgeError])
    return status.total if status.finished else status.succeeded + status.failed


def caught(error: BridgeError) -> int:
    match error:
        case ContextOverflowError():
            return assert_type(error.maximum_tokens, int | None) or 0
        case ProviderError() | UnknownModelError():
            return assert_type(error.status, int | None) or 0
        case AuthError() | ConsentError() | StoreError() | UnreachableError() | UsageError() | _:
            return assert_type(error.exit_code, int)
