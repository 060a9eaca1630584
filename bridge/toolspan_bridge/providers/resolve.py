"""Resolves ``provider/model`` to a provider. A provider's module is imported when it is named."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from toolspan_server.config import UntrustedItem, refusal, written_entry
from toolspan_server.problems import json_path

from ..errors import ConsentError, UsageError
from . import catalog
from .compatible.rows import row_names

if TYPE_CHECKING:
    from toolspan_server.config import Config, ProviderConfig

    from .contract import Provider
    from .deployments.own_models import OwnModels
    from .http.settings import HttpSettings

DEFAULT_MODEL = "offline/keyword"
"""The default model: it needs no key and no network, and is not a language model."""

OWN_MODELS = "models"
"""What stands before the slash of a model of the config's own: ``models/NAME``."""


@dataclass(frozen=True, slots=True)
class WithheldProvider:
    """A provider that was left out of a config that nobody trusts: ``item``."""

    item: UntrustedItem


OwnProviders = Mapping[str, "ProviderConfig | OwnModels | WithheldProvider"]
"""What a config adds to the known providers, by name."""

Mode = Literal["native", "prompt"]
"""How a model calls tools: in their own channel, or in its text."""

ChoiceOf = Callable[[str, Mode], str]
"""The name of the wording of the prompt, or of the rendering of native calls, that is chosen for
``provider/model``; empty for none."""

_MODE = re.compile(r"(prompt|native)(?:\.([^/:]*))?:", re.IGNORECASE)
_CHOICES = {"prompt": "prompt", "native": "rendering"}
_LONGEST_NAME = 500


@cache
def known_names() -> tuple[str, ...]:
    """The name of every provider that needs no config, sorted."""
    modules = (module.name.replace("_", "-") for module in pkgutil.iter_modules(catalog.__path__))
    return tuple(sorted((*row_names(), *modules)))


def own_providers(config: Config) -> OwnProviders:
    """The providers that ``config`` adds, by name; ``models`` stands for its own models.

    Raises ``UsageError`` when one has the name of a known provider and is not marked as its replacement, or
    when a deployment of a model is at none.
    """
    for name, provider in config.providers.items():
        if name in known_names() and not provider.replaces:
            raise UsageError(
                f"$.providers.{name}: there is a provider of that name already: choose another, "
                "or add replaces: true if it is to stand in its place"
            )
    if not config.models:
        return {**config.providers, **_withheld(config)} if config.withheld else config.providers
    if OWN_MODELS in config.providers:
        raise UsageError(f"$.providers.{OWN_MODELS}: that name is the one of $.models: choose another")
    from .deployments.own_models import own_models

    found = own_models(config)
    for deployment in found.deployments():
        split_model(deployment, config.providers)
    return {**config.providers, OWN_MODELS: found}


def _withheld(config: Config) -> dict[str, WithheldProvider]:
    """The providers that were left out of ``config``, as nobody trusts it. One that stands in the place of a
    known provider counts too: what is meant for a company's proxy is not to go elsewhere."""
    written = written_entry(config, "providers")
    known = cast("dict[str, Any]", written) if isinstance(written, dict) else {}
    names = {json_path(("providers", name)): name for name in known}
    found: dict[str, WithheldProvider] = {}
    for item in config.withheld:
        name = OWN_MODELS if item.place == "$.models" else names.get(item.place)
        if name is not None:
            found[name] = WithheldProvider(item)
    return found


def provider_names(own: Iterable[str] = ()) -> tuple[str, ...]:
    """Every provider's name, sorted, with the config's ``own``."""
    return tuple(sorted({*known_names(), *own}))


def split_model(text: str, own: Iterable[str] = ()) -> tuple[str, str]:
    """``provider/model`` or ``provider:model`` as a pair. The model's own name may contain both signs;
    ``prompt:`` may precede the provider's, or ``prompt.WORDING:``, which chooses how a system prompt tells of
    the tools: ``prompt:ollama/gemma3``, ``prompt.json-tools:ollama/gemma3``; or ``native:``, which changes
    nothing of the pair, or ``native.RENDERING:``, which chooses how calls that the model wrote as text go
    back to it. ``own`` are the config's providers.

    Raises ``UsageError`` when the provider, the wording or the rendering is unknown, or no model is named.
    """
    found = _mode(text, own)
    if found is None:
        return _split(text, provider_names(own))
    mode, choice, rest = found
    _check_choice(mode, choice)
    provider, model = _split(rest, provider_names(own))
    before = mode if choice is None else f"{mode}.{choice.lower()}"
    return (provider if before == "native" else f"{before}:{provider}"), model


def names_mode(text: str, own: Iterable[str] = ()) -> bool:
    """Whether ``text``, a model, says that it is to be asked by prompts, or by native calls."""
    return _mode(text, own) is not None


def with_choice(text: str, own: Iterable[str], choice_of: ChoiceOf) -> str:
    """``provider/model``, or ``prompt:provider/model``, with the rendering or the wording that is chosen for
    it; any other model as it is.

    Raises ``UsageError`` as ``split_model``.
    """
    mode, choice, _ = _mode(text, own) or ("native", None, text)
    bare = bare_model(text, own)
    if choice is not None or not (chosen := choice_of(bare, mode)):
        return text
    return f"{mode}.{chosen}:{bare}"


def bare_model(text: str, own: Iterable[str] = ()) -> str:
    """``provider/model`` of ``text``, which may be written otherwise, and with a mode.

    Raises ``UsageError`` as ``split_model``.
    """
    provider, model = split_model(text, own)
    return f"{_without_mode(provider)}/{model}"


def _mode(text: str, own: Iterable[str] = ()) -> tuple[Mode, str | None, str] | None:
    """The mode that ``text``, a model, begins with, its wording or rendering, and what follows; ``None``
    where there is none. A provider of the config's ``own`` may be called ``native``."""
    found = _MODE.match(text)
    if found is None:
        return None
    mode = cast("Mode", found[1].lower())
    if mode == "native" and found[2] is None and mode in own:
        return None
    return mode, found[2], text[found.end() :]


def _without_mode(name: str) -> str:
    found = _MODE.match(name)
    return name if found is None else name[found.end() :]


def _check_choice(mode: Mode, name: str | None) -> None:
    if name is None:
        return
    from ..formats.prompt.renderings import RENDERINGS
    from ..formats.prompt.wordings import WORDINGS

    known = WORDINGS if mode == "prompt" else RENDERINGS
    if name.lower() not in known:
        what = "wording of the prompt" if mode == "prompt" else "rendering of native calls"
        raise UsageError(f"{name!r} is not a {what} (known: {', '.join(known)})")


def _split(text: str, names: tuple[str, ...]) -> tuple[str, str]:
    if len(text) > _LONGEST_NAME:
        raise UsageError(f"the name of a model has at most {_LONGEST_NAME} characters, not {len(text):,}")
    for separator in re.finditer(r"[/:]", text):
        provider, model = text[: separator.start()].strip().lower(), text[separator.end() :].strip()
        if provider in names:
            if not model:
                break
            return provider, model
    word = re.split(r"[/:]", text, maxsplit=1)[0].strip().lower()
    if word in names:
        raise UsageError(f"{text!r} names no model: write {word}/MODEL")
    import difflib

    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(names)
    raise UsageError(f"no provider {word!r}: a model is written provider/model ({hint})")


def resolve_model(
    text: str, settings: HttpSettings | None = None, own: OwnProviders | None = None
) -> tuple[Provider, str]:
    """The provider of the model ``text``, and the model's name there. Nothing is sent yet.

    ``own`` are the config's providers (``own_providers``). Raises ``UsageError`` when the name is unknown,
    ``AuthError`` when the provider's key is missing, ``ConsentError`` when nobody trusts its config.
    """
    name, model = split_model(text, own or ())
    mode = _MODE.match(name)
    name = _without_mode(name)
    if name in ("offline", "scripted"):
        if mode:
            raise UsageError(f"{name} takes no {_CHOICES[mode[1]]}: write {name}/{model}")
        return import_module(f"{catalog.__name__}.{name}").connect(model), model
    http = import_module(".http.settings", __package__)
    settings = settings or http.HttpSettings()
    if own and isinstance(withheld := own.get(name), WithheldProvider):
        raise ConsentError(refusal([withheld.item]))
    if own and name == OWN_MODELS and name in own:
        if mode:
            raise UsageError(f"{name} takes no {_CHOICES[mode[1]]}: write it before the deployments' models")
        return _deployments(own, model, settings), model
    if own and name in own:
        provider = import_module(".compatible.own", __package__).connect_own(name, own[name], settings)
    elif name in row_names():
        provider = import_module(".compatible.connect", __package__).connect_row(name, settings)
    else:
        module = import_module(f"{catalog.__name__}.{name.replace('-', '_')}")
        provider = module.connect(model, settings)
    if mode is None:
        return provider, model
    return (provider.prompted(mode[2] or "") if mode[1] == "prompt" else provider.rendered(mode[2])), model


def _deployments(own: OwnProviders, model: str, settings: HttpSettings | None) -> Provider:
    """The provider of ``models/MODEL``."""
    from .deployments.own_models import OwnModels
    from .prices import Pricing

    models = own[OWN_MODELS]
    if not isinstance(models, OwnModels):
        raise AssertionError("own_providers refuses a provider of that name")

    def connect(deployment: str, settings: HttpSettings) -> tuple[Provider, str, Pricing]:
        provider, name = resolve_model(deployment, settings, own)
        bare, _, _ = bare_model(deployment, own).partition("/")
        return provider, name, Pricing(bare, name, own=bare in own)

    from .http.settings import HttpSettings as Settings

    return models.connect(model, settings or Settings(), connect)
