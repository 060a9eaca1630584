"""The options of verbs that ask a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import click

from ...loop import Question
from ...messages import Part, ReasoningEffort
from ...routes import check_builtins, web_search_options
from ..inputs.images import read_images
from ..inputs.options import model_option, reasoning_option
from ..inputs.web_search import read_search


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What the command line adds to a question. ``stream``: the answer is shown as it comes; ``trim``: the
    oldest messages may be left out. Without ``reasoning`` the route's holds."""

    model: str | None = None
    system: str | None = None
    images: tuple[Part, ...] = ()
    builtins: tuple[str, ...] = ()
    stream: bool = False
    trim: bool = False
    reasoning: ReasoningEffort | None = None
    search: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def applied_to(self, question: Question) -> Question:
        """``question`` with these options."""
        builtins = tuple(dict.fromkeys((*question.builtins, *self.builtins)))
        return replace(
            question,
            parts=self.images,
            builtins=builtins,
            stream=self.stream,
            trim=self.trim,
            reasoning=self.reasoning or question.reasoning,
            builtin_options=self._builtin_options(question),
        )

    def _builtin_options(self, question: Question) -> Mapping[str, Mapping[str, Any]]:
        if not self.search:
            return question.builtin_options
        web_search = {**question.builtin_options.get("web_search", {}), **self.search}
        return {**question.builtin_options, "web_search": web_search}


def ask_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--model``, ``--system``, ``--builtin``, ``--reasoning``, ``--search``, ``--image``, ``--no-stream``
    and ``--trim``, given to ``function`` as ``options``; beside ``--json``."""

    @wraps(function)
    def with_options(
        *args: Any,
        model: str | None,
        system: str | None,
        builtins: tuple[str, ...],
        images: tuple[str, ...],
        no_stream: bool,
        trim: bool,
        reasoning: ReasoningEffort | None,
        search: tuple[str, ...],
        as_json: bool,
        **others: Any,
    ) -> Any:
        check_builtins(builtins)
        stream = not (as_json or no_stream) and sys.stdout.isatty()
        options = AskOptions(
            model,
            system,
            read_images(images),
            builtins,
            stream=stream,
            trim=trim,
            reasoning=reasoning,
            search=web_search_options(read_search(search)),
        )
        return function(*args, options=options, as_json=as_json, **others)

    return model_option(_system(reasoning_option(_builtin(_search(_image(_no_stream(_trim(with_options))))))))


_system = click.option("--system", metavar="TEXT", help="The system prompt; wins over the route's.")
_builtin = click.option(
    "--builtin",
    "builtins",
    multiple=True,
    metavar="NAME",
    help="A tool of the provider's own beside the config's, such as web_search; may repeat.",
)
_search = click.option(
    "--search",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of --builtin web_search: allowed_domains, blocked_domains (hosts, with commas), country, "
    "region, city, timezone, max_uses; may repeat, and wins over the route's.",
)
_image = click.option(
    "--image",
    "images",
    multiple=True,
    metavar="FILE",
    help="A PNG, JPEG, GIF or WebP image that goes with the (first) question; may repeat.",
)
_no_stream = click.option(
    "--no-stream", is_flag=True, help="Show the answer when it is complete, without streaming."
)
_trim = click.option(
    "--trim",
    is_flag=True,
    help="Leave out the oldest messages where a local model's context is too short for all; "
    "without it such a question is refused.",
)
