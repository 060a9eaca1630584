"""Facts about models in providers' lists. Nothing is guessed: a fact missing in a list is ``None``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolspan_server.common.json_values import read_foreign_json

from .json_types import is_list, is_object

_CONTEXTS = ("context_length", "context_window", "max_context_length", "max_model_len", "max_input_tokens")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model by its name at the provider: tokens of context, and whether it calls tools, accepts images, and
    thinks. ``None`` is unknown. ``efforts`` are the settings of its thinking, where the provider lists them,
    and ``digest`` is of its weights and settings.
    """

    model: str
    context: int | None = None
    tools: bool | None = None
    vision: bool | None = None
    thinking: bool | None = None
    efforts: tuple[bool | str, ...] = ()
    digest: str = ""

    def as_dict(self) -> dict[str, Any]:
        """``{"model", "context", "tools", "vision", "thinking"}``."""
        return {name: getattr(self, name) for name in ("model", "context", "tools", "vision", "thinking")}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; ``after`` requests the next one, empty on the last."""

    models: tuple[ModelFacts, ...]
    after: str = ""


def openai_page(content: bytes) -> Page:
    """``{"data": [{"id", …}]}``, or the array alone (Together); members that services add are used.

    Raises ``ValueError`` for anything else, as the others do.
    """
    body = read_foreign_json(content)
    entries = body.get("data") if is_object(body) else body
    return Page(tuple(_of_openai(entry) for entry in _objects(entries)))


def anthropic_page(content: bytes) -> Page:
    """``{"data": [{"id", …}], "has_more", "last_id"}``. Every Claude that is listed calls tools."""
    body = _object(read_foreign_json(content))
    found = tuple(_of_anthropic(entry) for entry in _objects(body.get("data")))
    after = body.get("last_id") if body.get("has_more") is True else None
    return Page(found, after if isinstance(after, str) else "")


def gemini_page(content: bytes) -> Page:
    """``{"models": [{"name", "inputTokenLimit", …}], "nextPageToken"}``; only those that answer."""
    body = _object(read_foreign_json(content))
    found = tuple(
        ModelFacts(
            _text(entry.get("name")).removeprefix("models/"),
            context=_count(entry.get("inputTokenLimit")),
            thinking=_flag(entry.get("thinking")),
        )
        for entry in _objects(body.get("models"))
        if "generateContent" in _strings(entry.get("supportedGenerationMethods"))
    )
    return Page(found, _text(body.get("nextPageToken")))


def bedrock_page(content: bytes) -> Page:
    """``{"modelSummaries": [{"modelId", "inputModalities", …}]}``, of which those that write text."""
    body = _object(read_foreign_json(content))
    return Page(
        tuple(
            ModelFacts(_text(entry.get("modelId")), vision="IMAGE" in _strings(entry.get("inputModalities")))
            for entry in _objects(body.get("modelSummaries"))
            if "TEXT" in _strings(entry.get("outputModalities"))
        )
    )


def ollama_page(content: bytes) -> Page:
    """``{"models": [{"model" | "name", "capabilities"?}]}`` of ``/api/tags``."""
    body = _object(read_foreign_json(content))
    return Page(
        tuple(
            replace(
                _capable(_text(entry.get("model")) or _text(entry.get("name")), entry),
                digest=_text(entry.get("digest")),
            )
            for entry in _objects(body.get("models"))
        )
    )


def ollama_shown(model: str, content: bytes) -> ModelFacts:
    """``/api/show``: ``{"capabilities", "model_info": {"<arch>.context_length"}, "thinking": {"values"}}``;
    never raises.
    """
    try:
        shown = read_foreign_json(content)
    except ValueError:
        return ModelFacts(model)
    if not is_object(shown):
        return ModelFacts(model)
    values = _part(shown, "thinking").get("values")
    efforts = tuple(value for value in values if isinstance(value, bool | str)) if is_list(values) else ()
    return replace(_capable(model, shown), efforts=efforts)


def served_context(content: bytes) -> int | None:
    """The context that llama.cpp's server gives each request, of ``/props``:
    ``{"default_generation_settings": {"n_ctx"}}``; ``None`` where it does not say. Never raises."""
    try:
        shown = read_foreign_json(content)
    except ValueError:
        return None
    settings = _part(shown, "default_generation_settings") if is_object(shown) else dict[str, Any]()
    return _count(settings.get("n_ctx"))


def _capable(model: str, entry: Mapping[str, Any]) -> ModelFacts:
    """Recent servers report capabilities; older ones have no such key, so nothing is known."""
    info = entry.get("model_info")
    lengths = [v for k, v in info.items() if k.endswith(".context_length")] if is_object(info) else []
    context = next((found for found in map(_count, lengths) if found), None)
    if not is_list(entry.get("capabilities")):
        return ModelFacts(model, context)
    can = _strings(entry.get("capabilities"))
    return ModelFacts(model, context, "tools" in can, "vision" in can, "thinking" in can)


def _of_openai(entry: Mapping[str, Any]) -> ModelFacts:
    contexts = [entry.get(key) for key in _CONTEXTS]
    contexts.append(_part(entry, "meta").get("n_ctx"))  # n_ctx_train is the model's, not what is served
    can = _part(entry, "capabilities")
    parameters = entry.get("supported_parameters")
    return ModelFacts(
        _text(entry.get("id")),
        context=next((found for found in map(_count, contexts) if found), None),
        tools=_first(
            "tools" in _strings(parameters) if is_list(parameters) else None,
            _flag(can.get("function_calling")),
            _flag(entry.get("supports_tools")),
        ),
        vision=_first(_sees(entry), _flag(can.get("vision")), _flag(entry.get("supports_image_input"))),
    )


def _of_anthropic(entry: Mapping[str, Any]) -> ModelFacts:
    can = _part(entry, "capabilities")
    return ModelFacts(
        _text(entry.get("id")),
        context=_count(entry.get("max_input_tokens")),
        tools=True,
        vision=_supported(can.get("image_input")),
        thinking=_supported(can.get("thinking")),
    )


def _sees(entry: Mapping[str, Any]) -> bool | None:
    modalities = _part(entry, "architecture").get("input_modalities")
    return "image" in _strings(modalities) if is_list(modalities) else None


def _supported(value: Any) -> bool | None:
    return _flag(value.get("supported")) if is_object(value) else None


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if not is_list(value):
        raise ValueError("it holds no list of models")
    yield from (entry for entry in value if is_object(entry))


def _object(value: Any) -> Mapping[str, Any]:
    if not is_object(value):
        raise ValueError("it is no JSON object")
    return value


def _part(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = entry.get(name)
    return part if is_object(part) else dict[str, Any]()


def _strings(value: Any) -> frozenset[str]:
    return frozenset(each for each in value if isinstance(each, str)) if is_list(value) else frozenset()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _first(*values: bool | None) -> bool | None:
    return next((value for value in values if value is not None), None)
