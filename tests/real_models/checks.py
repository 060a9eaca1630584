"""What must hold with any model, however weak: requests are accepted, answers are parsed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from toolspan_bridge import (
    Assistant,
    BridgeError,
    Conversation,
    Expect,
    Message,
    Part,
    Scenario,
    Store,
    Suite,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
    validate,
)
from toolspan_bridge.errors import ProviderError, UnknownModelError
from toolspan_bridge.events import (
    Answer,
    End,
    Text,
    TextDelta,
)

from .bench import WIRES, Bench
from .engine import CONTEXT

QUESTIONS = (
    "What is the weather in Paris?",
    "What is 17 * 23?",
    "Set a timer for 5 minutes, and tell me the weather in Oslo.",
    "Say hello.",
)
_THREE_TOOLS = Path(__file__).parents[2] / "configs" / "three-tools.json"
_DEFAULT_SCENARIOS, _BELOW_THRESHOLD = 4, 6
_WEATHER = '{"location": "Oslo", "temperature": 22, "condition": "snow — 7 °C"}'
_CALLS = (
    ToolCall("call_1", "tools__get_weather", {"location": "Oslo"}, '{"location": "Oslo"}'),
    ToolCall("call_2", "tools__calculate", {"expression": "1/0"}, '{"expression": "1/0"}'),
)


@dataclass(frozen=True, slots=True)
class Row:
    """How a check went: ``fault`` is empty when it passed, ``note`` is what else there is to say."""

    check: str
    wire: str
    fault: str
    note: str


class Fault(Exception):
    """What should hold does not. The message says what."""


async def rows(bench: Bench) -> AsyncIterator[Row]:
    """Every check over every wire, one after the other."""
    for wire in WIRES:
        for check in (_whole, _streamed, _conversation, _history, _too_long):
            yield await _row(check, bench, wire)
    for check in (_across, _listed, _elsewhere, _validated, _default_suite):
        yield await _row(check, bench, "")


async def _row(check: Callable[[Bench, str], Awaitable[str]], bench: Bench, wire: str) -> Row:
    name = check.__name__.strip("_").replace("_", " ")
    try:
        return Row(name, wire, "", await check(bench, wire))
    except (BridgeError, Fault) as fault:
        return Row(name, wire, f"{type(fault).__name__}: {fault}", "")


async def _whole(bench: Bench, wire: str) -> str:
    answers = [_sound(await bench.ask(wire, text)) for text in QUESTIONS]
    return _told(answers)


async def _streamed(bench: Bench, wire: str) -> str:
    answers: list[Answer] = []
    for text in QUESTIONS:
        events = await bench.events(wire, text, [], stream=True)
        end = events[-1]
        if not isinstance(end, End):
            raise Fault(f"the last event is {end}")
        pieces = "".join(event.text for event in events if isinstance(event, TextDelta))
        turns = "".join(event.text for event in events if isinstance(event, Text))
        if pieces.split() != turns.split():
            raise Fault(f"the pieces {pieces!r} are not the turns {turns!r}")
        answers.append(_sound(end.answer))
    return _told(answers)


async def _conversation(bench: Bench, wire: str) -> str:
    talk = Conversation()
    answers: list[Answer] = []
    for text in (
        "What is the weather in Rome?",
        "And in Lima?",
        "What is 6 * 7?",
        "Which cities did I name?",
    ):
        answers.append(_sound(await bench.ask(wire, text, talk.messages)))
        talk = Conversation.from_json(talk.to_json())
    return _told(answers)


async def _history(bench: Bench, wire: str) -> str:
    """A turn with two calls, one of which failed, told by somebody else; weak models make none."""
    messages: tuple[Message, ...] = (
        User("The weather in Oslo, and 1/0?"),
        Assistant("Let me see.", _CALLS),
        ToolResults(
            (
                ToolOutcome(
                    "call_1",
                    "get_weather",
                    {"success": True, "result": json.loads(_WEATHER), "tool_name": "get_weather"},
                    (Part("text", {"type": "text", "text": _WEATHER}),),
                ),
                ToolOutcome(
                    "call_2",
                    "calculate",
                    {"success": False, "error": "Division by zero", "tool_name": "calculate"},
                ),
            )
        ),
    )
    for stream in (False, True):
        reply = await bench.reply(wire, *messages, stream=stream)
        if reply.incomplete or reply.stop == "error":
            raise Fault(f"a turn ended as {reply.stop!r}: {reply.trouble}")
        after = (*messages, reply.message, *_unanswered(reply.message), User("Thank you."))
        await bench.reply(wire, *after, stream=stream)
    return ""


def _unanswered(message: Assistant) -> tuple[ToolResults, ...]:
    outcomes = (
        ToolOutcome(call.id, call.name, {"success": True, "result": 1, "tool_name": call.name})
        for call in message.calls
    )
    return (ToolResults(tuple(outcomes)),) if message.calls else ()


async def _too_long(bench: Bench, wire: str) -> str:
    try:
        await bench.ask(wire, "very " * 2 * CONTEXT + "long")
    except ProviderError as error:
        if error.fault != "context_overflow":
            raise Fault(f"the error is of the kind {error.fault!r}: {error}") from None
        return str(error)[:100]
    raise Fault("a question longer than the context was answered")


async def _across(bench: Bench, wire: str) -> str:
    """One conversation over every wire and back, saved and loaded between."""
    talk = Conversation()
    answers: list[Answer] = []
    for place, way in enumerate((*WIRES, *reversed(WIRES))):
        text = QUESTIONS[place % 2]
        answers.append(_sound(await bench.ask(way, text, talk.messages)))
        talk = Conversation.from_json(talk.to_json())
    return _told(answers)


async def _listed(bench: Bench, wire: str) -> str:
    command = [sys.executable, "-m", "toolspan_bridge", "models", "--provider", "llamacpp", "--json"]
    done = await anyio.run_process(command, check=False, stderr=subprocess.PIPE)
    if done.returncode:
        raise Fault(done.stderr.decode())
    ids = [model["id"] for model in json.loads(done.stdout)["models"]]
    if not ids:
        raise Fault("toolspan models lists nothing")
    return ", ".join(ids)


async def _elsewhere(bench: Bench, wire: str) -> str:
    try:
        await bench.ask("engine-elsewhere", "Say hello.")
    except UnknownModelError as error:
        return str(error)[:100]
    raise Fault("what is not there was answered")


async def _validated(bench: Bench, wire: str) -> str:
    suite = Suite(
        name="real-models",
        scenarios=(
            Scenario(query=QUESTIONS[0], expect=Expect.model_validate({"calls": [{"tool": "get_weather"}]})),
            Scenario(query=QUESTIONS[3], expect=Expect.model_validate({"no_calls": True})),
        ),
    )
    models = [f"{name}/{bench.model}" for name in WIRES]
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.sqlite3") as store:
        async with bench.asker() as asker:
            report = await validate(models, suite, asker.ask, store, timeout=600)
    for model in report.models:
        if model.error:
            raise Fault(f"{model.model_id}: {model.error}")
        for trial in model.trials:
            if "content" not in trial.details or trial.details.get("stop") in ("error", "incomplete"):
                raise Fault(f"{model.model_id}, {trial.scenario}: {trial.error}")
    good = sum(trial.success for model in report.models for trial in model.trials)
    return f"{good} of {len(models) * len(suite.scenarios)} right"


async def _default_suite(bench: Bench, wire: str) -> str:
    """``toolspan validate`` with the suite that it has by itself: whatever the model makes of it, no trial
    may end by an error."""
    with tempfile.TemporaryDirectory() as folder:
        model = ("--model", f"llamacpp/{bench.model}")
        config = shutil.copy(_THREE_TOOLS, folder)  # the store is beside it
        options = ("--config", config, *model, "--trials", "2", "--json")
        command = [sys.executable, "-m", "toolspan_bridge", "validate", *options]
        done = await anyio.run_process(command, check=False, cwd=folder, stderr=subprocess.PIPE)
    if done.returncode not in (0, _BELOW_THRESHOLD):
        raise Fault(f"exit {done.returncode}: {done.stderr.decode()}")
    (measured,) = json.loads(done.stdout)["models"]
    badge = measured["badge"]
    if measured["error"] or badge["errors"]:
        raise Fault(f"{badge['errors']} trials ended by an error: {measured['error']} {done.stderr.decode()}")
    if badge["n"] != 2 * _DEFAULT_SCENARIOS:
        raise Fault(f"{badge['n']} trials are there, not {2 * _DEFAULT_SCENARIOS}")
    return str(badge["text"])


def _sound(answer: Answer) -> Answer:
    if answer.stop in ("error", "incomplete"):
        raise Fault(f"an answer ended as {answer.stop!r}: {answer.reason}")
    return answer


def _told(answers: list[Answer]) -> str:
    calls = sum(len(answer.tool_calls) for answer in answers)
    return f"{len(answers)} answers, {calls} calls, {sum(answer.broken for answer in answers)} broken"
