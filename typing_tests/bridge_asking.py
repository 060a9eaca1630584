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
    AtLimit,
    AuthError,
    Batch,
    BatchStatus,
    BridgeError,
    CallDelta,
    ChatTraits,
    Citation,
    Compacted,
    ConsentError,
    ContextOverflowError,
    Conversation,
    ConversationStore,
    Delta,
    ElicitationAnswer,
    ElicitationRequest,
    End,
    Ending,
    Event,
    Hook,
    HookDecision,
    HookInput,
    HookRan,
    IterationStarted,
    LimitChoice,
    LimitReached,
    Limits,
    Message,
    Notice,
    Part,
    Preset,
    PresetStore,
    Pricing,
    Provider,
    ProviderError,
    Question,
    ReasoningDelta,
    Reply,
    Request,
    Route,
    SamplingAnswer,
    SamplingRequest,
    Scripted,
    ServerFailure,
    ServerSpec,
    StopReason,
    StoreError,
    SubagentEvent,
    Text,
    TextDelta,
    TextRetracted,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    Toolbox,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolChoice,
    ToolLog,
    ToolOutcome,
    ToolProgress,
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
    calculator_server,
    cancel_batch,
    collect_batch,
    compact,
    cost_of,
    count_tokens,
    hooks_of,
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
    store = ConversationStore(Path("talks"))
    conversation.journal = store.journal(conversation, print)
    assert_type(store.resumed(store.find("latest"), print), Conversation)
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
        case IterationStarted() | UsageReported() | TextRetracted():
            return str(assert_type(event.iteration, int))
        case ToolCallStarted() | ToolApprovalRequest() | ToolApprovalAnswer() | ToolProgress() | ToolLog():
            return event.tool
        case ElicitationRequest() | ElicitationAnswer() | SamplingRequest() | SamplingAnswer():
            return event.tool
        case SubagentEvent():
            return told(assert_type(event.event, Event))
        case ToolCallFinished():
            return assert_type(event.outcome, ToolOutcome).name
        case Notice():
            return event.text
        case HookRan():
            return assert_type(event.hook, str)
        case End():
            assert_type(event.answer.tool_calls, tuple[ToolUse, ...])
            assert_type(event.answer.stop, Ending)
            assert_type(event.answer.citations, tuple[Citation, ...])
            return event.answer.content


def kept(toolbox: Toolbox) -> Question:
    presets = PresetStore("ann", Path("presets"))
    made = presets.create("Sums", default_reasoning_level="low", enabled_tools=["calculator"])
    assert_type(presets.all(), tuple[Preset, ...])
    assert_type(presets.update(made.id, model="openai/gpt-5.1"), Preset)
    assert_type(made.enabled_tools, tuple[str, ...])
    assert_type(calculator_server(Path("state")), ServerSpec)
    return made.question("Hello", "m", toolbox.tools)


def denies(given: HookInput) -> HookDecision | None:
    return HookDecision(deny="no") if given.tool == "Bash" else None


async def limited(provider: Provider, toolbox: Toolbox) -> Answer:
    async def at_limit(reached: LimitReached) -> LimitChoice:
        assert_type(reached.text, str)
        return 5 if reached.key == "question.calls" else "wrap_up"

    asked: AtLimit = at_limit
    compacted = assert_type(await compact(Conversation(), provider, "gpt-5"), Compacted)
    assert_type(compacted.messages, int)
    hook = Hook("no", "before_call", denies)
    Question("Hello", "gpt-5", hooks=(hook, *hooks_of(load_config("toolspan.yaml"))))
    pricing = Pricing("openai", "gpt-5")
    assert_type(pricing.cost(Usage(input_tokens=1)), float | None)
    question = Question("Hello", "gpt-5", limits=Limits(calls=5, usd=0.5))
    return await answer(question, provider, toolbox, at_limit=asked, pricing=pricing)


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
