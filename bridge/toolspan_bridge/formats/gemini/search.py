"""The settings of Google's search, as each of its two APIs takes them.

Source: google-genai 3.4.0, ``types.GoogleSearch`` and ``types.RetrievalConfig``, and the converters beside
them: domains are left out of a search on Vertex AI only, times limit it on the Developer API only, and where
the user is is a place on the globe, of the request rather than of the tool. Nothing takes the user's city.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import Request
from ..shared.json_values import as_list, as_object, text

__all__ = ["DEVELOPER", "VERTEX", "Api", "google_search", "retrieval_config", "search_notes"]

_TIMES = ("start_time", "end_time")
_GLOBE = ("latitude", "longitude")


@dataclass(frozen=True, slots=True)
class Api:
    """One of Google's APIs: which settings its search takes, besides the user's place and language."""

    name: str
    taken: frozenset[str]


DEVELOPER = Api("Gemini's API", frozenset(_TIMES))
VERTEX = Api("Vertex AI", frozenset({"blocked_domains"}))

_RETRIEVAL = frozenset({"language", *_GLOBE})
_IN_PAIRS = (_TIMES, _GLOBE)


def google_search(request: Request, api: Api) -> dict[str, Any]:
    """``{"googleSearch": …}`` with the settings of ``request`` that ``api`` takes."""
    given, settings = _given(request), dict[str, Any]()
    if "blocked_domains" in api.taken and (domains := as_list(given.get("blocked_domains"))):
        settings["excludeDomains"] = [text(domain) for domain in domains]
    if api.taken.issuperset(_TIMES) and all(given.get(name) for name in _TIMES):
        start, end = (text(given[name]) for name in _TIMES)
        settings["timeRangeFilter"] = {"startTime": start, "endTime": end}
    return {"googleSearch": settings}


def retrieval_config(request: Request) -> dict[str, Any]:
    """``toolConfig.retrievalConfig``: where the user is and what language they speak; empty without both."""
    given, config = _given(request), dict[str, Any]()
    if all(_is_number(given.get(name)) for name in _GLOBE):
        config["latLng"] = {name: given[name] for name in _GLOBE}
    if language := text(given.get("language")):
        config["languageCode"] = language
    return config


def search_notes(request: Request, api: Api) -> Iterator[str]:
    """What of the settings is left out, for people to read."""
    given = _given(request)
    unknown = sorted(given.keys() - api.taken - _RETRIEVAL)
    if unknown:
        yield f"Google's web_search takes no {', '.join(unknown)} ({api.name}): left out"
    for pair in _IN_PAIRS:
        here = [name for name in pair if name in given]
        if len(here) == 1 and (here[0] in api.taken or pair is _GLOBE):
            yield f"Google's web_search takes {' and '.join(pair)} together: {here[0]} is left out"


def _given(request: Request) -> Mapping[str, Any]:
    """The settings, the user's place among the others."""
    given = dict(request.builtin_options.get("web_search", {}))
    place = as_object(given.pop("user_location", None)) or {}
    return {name: value for name, value in {**given, **place}.items() if value not in (None, "", [])}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
