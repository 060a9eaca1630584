"""``toolspan models``: list the models that the providers have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import click

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.config import Config

from ...errors import UsageError
from ...providers import (
    DEFAULT_MODEL,
    own_providers,
    provider_names,
    split_model,
)
from ...providers.best import best_of
from ...providers.prices import ModelPrice, price_of
from ...sessions.chosen.config import ConfigChoice
from ...sessions.chosen.user_config import set_user_default_model, user_config_file, user_default_model
from ...validation import (
    UNTESTED,
    Badge,
    WordingChoice,
    read_choices,
)
from ...validation.standing import ModelStanding, Standings
from ...validation.standing.standings import ModeRecord
from ...validation.stores import store_of
from ..inputs.options import config_options, json_option, read_config
from ..inputs.store import store_option
from ..module_group import Verb
from ..terminal.errors import exit_code
from ..terminal.output import emit_json, emit_table, print_message, print_note
from ..terminal.unlisted import unlisted_notes
from ..terminal.waiting.waits import waiting

if TYPE_CHECKING:
    from ...providers.listing import ModelListing
    from ...providers.wire.model_facts import ModelFacts


@click.command(name="models", cls=Verb, example="toolspan models --provider ollama")
@click.option(
    "-p",
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME",
    help="Only this provider; may repeat. Default: every one, the config's own among them.",
)
@click.option(
    "--default",
    is_flag=False,
    flag_value="",
    metavar="[PROVIDER/MODEL]",
    help="Show which model answers when none is named, or set it, for this user and every folder; best is "
    "the cheapest validated one.",
)
@config_options
@store_option
@json_option
def command(providers: tuple[str, ...], default: str | None, choice: ConfigChoice, as_json: bool) -> int:
    """List the models of the providers: tokens of context, whether they call tools, see images and think,
    what a million tokens cost in US dollars, and what `validate` has found. What a provider does not report
    is left empty; prices, and a context that it leaves out, are those of a table.

    A provider that gives no list is named on stderr with the reason: those that only lack a key or do not run
    on this machine in one line each, unless they were asked for by name. Then the exit code is that of the
    reason: 3 without a key, 4 unreachable.
    """
    config = read_config(choice, needed=False, keys=("providers", "models", "validation", "state_dir"))
    if default is not None:
        _default(default, config, as_json=as_json)
        return 0
    wanted = _wanted(providers, config)
    listed = anyio.run(_listed, wanted, config)
    choices = read_choices(store_of(config))
    models = _models(listed, Standings(config).every(), choices, config)
    if as_json:
        emit_json({"models": models, "unlisted": _unlisted(listed)})
    else:
        _show(models)
        for note in unlisted_notes(listed, in_full=bool(providers)):
            print_note(note)
    failed = next((each.error for each in listed if each.error), None)
    return exit_code(failed) if providers and failed else 0


def _default(model: str, config: Config, *, as_json: bool) -> None:
    """Set the default model to ``model``, or show which it is. Raises ``UsageError``."""
    if model:
        _check_default(model, config)
        set_user_default_model(model)
    from_environment, kept = os.environ.get("TOOLSPAN_MODEL", ""), user_default_model()
    chosen = from_environment or kept or DEFAULT_MODEL
    source = "$TOOLSPAN_MODEL" if from_environment else str(user_config_file()) if kept else "none is set"
    if as_json:
        emit_json({"default": chosen, "source": source})
        return
    print_message(f"{chosen} ({source})")
    if model and from_environment:
        print_note(f"{model} was kept, but $TOOLSPAN_MODEL wins over it")


def _check_default(model: str, config: Config) -> None:
    """Raise ``UsageError`` where ``model`` names none, and no provider whose ``best`` is meant."""
    own = own_providers(config)
    provider = best_of(model, own)
    if provider is None:
        split_model(model, own)
    elif provider and provider not in provider_names(own):
        raise UsageError(f"no provider {provider!r} ({nearest(provider, provider_names(own))})")


def _wanted(providers: tuple[str, ...], config: Config) -> Sequence[str]:
    known = provider_names(own_providers(config))
    for name in providers:
        if name.lower() not in known:
            raise UsageError(f"no provider {name!r} ({nearest(name, known)})")
    return [name.lower() for name in providers] or known


async def _listed(providers: Sequence[str], config: Config) -> list[ModelListing]:
    from ...providers.listing import ModelLister

    with waiting(f"the models of {providers[0] if len(providers) == 1 else f'{len(providers)} providers'}"):
        return await ModelLister(own_providers(config)).listed(providers)


def _models(
    listed: Sequence[ModelListing],
    standings: Mapping[tuple[str, str], ModelStanding],
    choices: Mapping[str, WordingChoice],
    config: Config,
) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{each.provider}/{facts.model}",
            "provider": each.provider,
            **facts.as_dict(),
            **_priced(each.provider, facts, config),
            "validated": badge.status == "validated" if badge.counts.n else None,
            "badge": badge.as_dict(),
            "prompt": {"wording": choice.wording, "better": choice.better} if choice else None,
            "modes": [mode.as_dict() for mode in modes],
            "better_mode": better.named(f"{each.provider}/{facts.model}") if better else None,
        }
        for each in listed
        for facts in each.models
        for choice in [choices.get(f"{each.provider}/{facts.model}")]
        for standing in [standings.get((each.provider, facts.model))]
        for modes, better in [(standing.modes, standing.better_mode()) if standing else ([], None)]
        for badge in [_native_badge(modes, choice)]
    ]


def _priced(provider: str, facts: ModelFacts, config: Config) -> dict[str, Any]:
    """The context and the prices of the table; nothing for the config's own providers."""
    price = ModelPrice() if provider in config.providers else price_of(provider, facts.model)
    known = price.input is not None or price.output is not None
    prices = {"input": price.input, "output": price.output} if known else None
    return {"context": facts.context or price.context, "usd_per_million_tokens": prices}


def _unlisted(listed: Sequence[ModelListing]) -> list[dict[str, str]]:
    return [
        {"provider": each.provider, "code": each.error.code, "message": each.error.message}
        for each in listed
        if each.error
    ]


def _show(models: Sequence[Mapping[str, Any]]) -> None:
    worded = any(_prompt(model) for model in models)
    rows = [
        (
            model["id"],
            f"{model['context']:,}" if model["context"] else "",
            *(_word(model[fact]) for fact in ("tools", "vision", "thinking")),
            _price(model["usd_per_million_tokens"]),
            model["badge"]["signed"] if model["badge"]["n"] else "",
            *([_prompt(model)] if worded else []),
        )
        for model in models
    ]
    if rows:
        heads = ("model", "context", "tools", "vision", "thinking", "$ in/out", "validation")
        emit_table((*heads, "prompt") if worded else heads, rows)


def _price(prices: Mapping[str, float | None] | None) -> str:
    shown = [] if prices is None else [prices["input"], prices["output"]]
    return " / ".join("?" if price is None else f"{price:g}" for price in shown)


def _native_badge(modes: Sequence[ModeRecord], choice: WordingChoice | None) -> Badge:
    """The badge by native calls, in the rendering that is used."""
    native = {mode.wording: mode.badge for mode in modes if mode.mode != "prompt"}
    return native.get(choice.rendering if choice else "") or native.get("", UNTESTED)


def _prompt(model: Mapping[str, Any]) -> str:
    """The wording that was chosen for a model, how it compares with its native calls, and its badge; of a
    model without a choice the badge of each wording that was tried."""
    compared = {"prompt": "better than native", "native": "native is better", "equal": "as native"}
    badges = {mode["wording"]: mode["badge"]["signed"] for mode in model["modes"] if mode["mode"] == "prompt"}
    made = model["prompt"]
    if made:
        badges = {f"{made['wording']} ({compared[made['better']]})": badges.get(made["wording"], "")}
    return "; ".join(f"{name} {badge}".strip() for name, badge in badges.items())


def _word(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
