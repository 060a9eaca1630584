"""``/presets [NAME]``: the instructions, model, effort and tools of a preset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .....presets import PresetStore
from .....principals import LOCAL_USER
from .....sessions.preset_session import calculator_for, checked
from ....terminal.output import compact, print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    if not argument:
        _list(chat)
        return
    if argument == "off":
        chat.options = replace(chat.options, preset=None)
    else:
        preset, session = PresetStore(LOCAL_USER).get(argument), chat.asker.session
        if (calculator := calculator_for(preset, session)) is not None:
            session = await chat.host.joined(session, calculator)
        checked(preset, session)
        chat.asker.session = session
        chat.options = replace(chat.options, preset=preset)
    question, provider = await chat.routed("")
    using = "no preset is used" if argument == "off" else f"the preset {argument} is used"
    print_note(f"{using} from here on; {provider.name}/{question.model} answers")


def _list(chat: Chat) -> None:
    used = chat.options.preset
    found = PresetStore(LOCAL_USER).all()
    for preset in found:
        mark = " (used)" if used is not None and preset.id == used.id else ""
        print_note(f"{preset.name}{mark}: {preset.model or 'any model'}; {compact(preset.instructions, 60)}")
    if not found:
        print_note("there are no presets yet: toolspan presets create makes one")


async def _words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    del chat, typed
    return () if before else [*(preset.name for preset in PresetStore(LOCAL_USER).all()), "off"]


COMMAND = Command("presets", "[NAME|off]", "uses a preset, or lists them", _run, _words)
