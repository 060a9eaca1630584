"""The keys of providers: which are set. None of them is shown or sent."""

from __future__ import annotations

import os

from ....errors import AuthError, BridgeError
from ....providers import own_providers, resolve_model
from ....providers.usable import is_local, usable_providers
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 50


async def check(around: Surroundings) -> list[Finding]:
    """The providers with a key, and those of the config that lack theirs."""
    with_key = [name for name in usable_providers() if not is_local(name)]
    found: list[Finding] = []
    if with_key:
        found.append(ok(f"a key is set for {', '.join(with_key)}"))
    own = own_providers(around.config)
    for name in own:
        try:
            resolve_model(f"{name}/-", None, own)
        except AuthError as error:
            found.append(problem(error.message, "set the variable", error.exit_code))
        except BridgeError as error:
            found.append(problem(error.message, "correct it under providers", error.exit_code))
        else:
            found.append(ok(f"provider {name!r} of the config has what it needs"))
    if not found and not os.environ.get("TOOLSPAN_MODEL"):
        todo = (
            "set one, such as OPENAI_API_KEY, or start a local server of models; offline/keyword needs none"
        )
        found.append(warning("no provider's key is set", todo))
    return found
