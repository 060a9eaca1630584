"""The options that say who asks: what routes match, and prompts name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError

if TYPE_CHECKING:
    from ...routes import Profile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def profile_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--service`` and ``--profile``, given to ``function`` as ``profile``, a ``Profile``."""

    @wraps(function)
    def profiled(*args: Any, service: str | None, profile: tuple[str, ...], **options: Any) -> Any:
        given: dict[str, list[str]] = {}
        for name, value in (_read(text) for text in profile):
            given.setdefault(name, []).append(value)
        if service is not None:
            given["service"] = [service]
        return function(*args, profile=_profile(given), **options)

    service = click.option("--service", metavar="NAME", help="For routes that match a service.")
    further = click.option(
        "--profile",
        multiple=True,
        metavar="KEY=VALUE",
        help="What routes match under that name, and what {{KEY}} of their prompts is; may repeat, also for "
        "several values of one KEY.",
    )
    return service(further(profiled))


def _profile(given: Mapping[str, list[str]]) -> Profile:
    if not given:
        return {}
    from ...routes import profile_of

    return profile_of({name: texts if len(texts) > 1 else texts[0] for name, texts in given.items()})


def _read(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise UsageError(f"--profile: {text!r} must be KEY=VALUE, a name of letters, digits, _ . and -")
    return name, value
