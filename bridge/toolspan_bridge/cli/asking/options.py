"""The options of verbs that ask a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ...principals import LOCAL_USER
from ...sessions.chosen.question import QuestionOptions
from ..inputs import completed
from ..inputs.attachments import STDIN, read_files
from ..inputs.images import read_images
from ..inputs.options import log_level_option, model_option, reasoning_option

if TYPE_CHECKING:
    from ...client import LogLevel
    from ...messages import ReasoningEffort
    from ...presets import Preset


@dataclass(frozen=True, slots=True)
class AskOptions(QuestionOptions):
    """What the command line adds to a question. ``takes_stdin``: a file of it is stdin; ``verbose``: nothing
    is shown in short."""

    takes_stdin: bool = False
    verbose: bool = False


def ask_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--model``, ``--preset``, ``--system``, ``--builtin``, ``--reasoning``, ``--search``, ``--image``,
    ``--file``, ``--no-stream``, ``--verbose``, ``--log-level`` and ``--trim``, given to ``function`` as
    ``options``; beside ``--json``."""

    @wraps(function)
    def with_options(
        *args: Any,
        model: str | None,
        preset: str | None,
        system: str | None,
        builtins: tuple[str, ...],
        images: tuple[str, ...],
        files: tuple[str, ...],
        no_stream: bool,
        trim: bool,
        compact: bool,
        reasoning: ReasoningEffort | None,
        log_level: LogLevel | None,
        search: tuple[str, ...],
        verbose: bool,
        as_json: bool,
        **others: Any,
    ) -> Any:
        _check(builtins)
        lines = others.get("output") == "jsonl"
        stream = not no_stream and (lines or (not as_json and sys.stdout.isatty()))
        options = AskOptions(
            model,
            system,
            (*read_images(images), *read_files(files)),
            builtins,
            stream=stream,
            trim=trim,
            compact=compact,
            reasoning=reasoning,
            log_level=log_level,
            search=_searched(search),
            preset=_stored(preset),
            takes_stdin=STDIN in files,
            verbose=verbose,
        )
        return function(*args, options=options, as_json=as_json, **others)

    shown = _image(_file(_no_stream(_verbose(log_level_option(_trim(_compact(with_options)))))))
    return model_option(_preset(_system(reasoning_option(_builtin(_search(shown))))))


def _check(builtins: Sequence[str]) -> None:
    if builtins:
        from ...routes import check_builtins

        check_builtins(builtins)


def _searched(given: Sequence[str]) -> Mapping[str, Any]:
    if not given:
        return {}
    from ...routes import web_search_options
    from ..inputs.web_search import read_search

    return web_search_options(read_search(given))


def _stored(preset: str | None) -> Preset | None:
    if preset is None:
        return None
    from ...presets import PresetStore

    return PresetStore(LOCAL_USER).get(preset)


_preset = click.option(
    "--preset",
    metavar="NAME",
    shell_complete=completed.presets,
    help="The instructions, model, effort and tools of a preset (see toolspan presets); other options win.",
)
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
    shell_complete=completed.files,
    help="A PNG, JPEG, GIF or WebP image that goes with the (first) question; may repeat.",
)
_file = click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    shell_complete=completed.files,
    help="An image, PDF, sound or text that goes with the (first) question, - for stdin; may repeat. A model "
    "that does not take it is an error, and nothing is sent.",
)
_no_stream = click.option(
    "--no-stream", is_flag=True, help="Show the answer when it is complete, without streaming."
)
_verbose = click.option(
    "--verbose", is_flag=True, help="At a terminal: show thoughts, and results of tools, whole."
)
_compact = click.option(
    "--compact",
    is_flag=True,
    help="Have the model summarise the conversation before the question, if it gets too long for it.",
)
_trim = click.option(
    "--trim",
    is_flag=True,
    help="Leave out the oldest messages where the model's context is too short for all; without it only tool "
    "calls and their results are left out.",
)
