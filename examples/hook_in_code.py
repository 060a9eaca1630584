"""Hooks in code: one that keeps a record of every call, and one that refuses some."""

from __future__ import annotations

import anyio

from toolspan_bridge import Hook, HookDecision, HookInput, Question, Scripted, Toolbox, answer


def record(given: HookInput) -> None:
    """Print each call before it is made."""
    print(f"call: {given.tool} {given.arguments}")


def guard(given: HookInput) -> HookDecision | None:
    """Refuse questions about passwords."""
    return HookDecision(deny="no passwords") if "password" in given.text else None


async def main() -> None:
    hooks = (Hook("record", "before_call", record), Hook("guard", "before_turn", guard))
    provider = Scripted([{"text": "It is noon."}])
    for text in ("What time is it?", "What is the password?"):
        told = await answer(Question(text, "model", hooks=hooks), provider, Toolbox(()))
        print(told.content)


anyio.run(main)
