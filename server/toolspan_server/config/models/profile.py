"""The caller's profile as configs have it: names, values, and placeholders of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, cast

from ...problems import Fault, Faulty
from ...schema.constraints import Limits

ProfileName = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]
PLACEHOLDER = r"\{\{\s*([\w.-]+)\s*\}\}"
"""A name in a prompt, as a regular expression."""
USER_MESSAGE = "user_message"
"""The placeholder of the question."""
RAG_CONTEXT = "rag_context"
"""The placeholder of what is found in the route's collection."""
PREVIOUS_MESSAGES = "previous_messages"
"""The placeholder of the conversation before the question."""
FILLED = (USER_MESSAGE, RAG_CONTEXT, PREVIOUS_MESSAGES, "service")
"""The placeholders that every prompt may have."""

_OWN = ("intent_regexp", "service", "profile")


def profile_text(value: Any) -> str | None:
    """The text of a value of a profile: ``true`` and ``false`` as JSON has them; ``None`` when it is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def wanted_value(value: Any) -> Any:
    """``value``, which a rule wants of a profile. Raises ``Faulty`` when no profile can have it."""
    values = cast("Sequence[Any]", value) if isinstance(value, list) else [value]
    if not values or any(profile_text(each) is None for each in values):
        hint = "write a text, a number, true or false, or a list of them"
        raise Faulty(Fault((), "is no value of a profile", hint))
    return cast("Any", value)


def with_profile(data: Any, _info: Any) -> Any:
    """``data`` of a rule's ``match``, with the names that are no keys of its own under ``profile``.

    Raises ``Faulty`` for one that is nearly a key of its own.
    """
    if not isinstance(data, dict):
        return data
    import difflib

    given = cast("dict[str, Any]", data)
    further = {name: value for name, value in given.items() if name not in _OWN}
    for name in further:
        if near := difflib.get_close_matches(str(name), ("intent_regexp",), n=1, cutoff=0.75):
            raise Faulty(
                Fault((name,), f"unknown key {str(name)!r}", f"did you mean {near[0]!r}?", on_key=True)
            )
    profile = given.get("profile", {})
    if not further or not isinstance(profile, dict):
        return given
    own = {name: given[name] for name in _OWN if name in given}
    return {**own, "profile": {**cast("dict[str, Any]", profile), **further}}
