"""``--store``: the validation store in place of that of the config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ...errors import StoreError, UsageError
from ...sessions.chosen.config import ConfigChoice


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--store``, given to ``function`` in ``choice``: for verbs that have ``config_options`` too."""

    @wraps(function)
    def chosen(*args: Any, choice: ConfigChoice, store: str | None, **options: Any) -> Any:
        named = choice if store is None else replace(choice, store=_url(store))
        return function(*args, choice=named, **options)

    return click.option(
        "--store",
        metavar="URL",
        help="Where trials are kept: a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME. "
        "Default: the config's validation.store, else a file in its state folder.",
    )(chosen)


def _url(store: str) -> str:
    """``store`` as a URL; a relative file starts here. Raises ``UsageError`` for another sort of place."""
    from ...validation.storage.places import place_of

    try:
        place = place_of(store)
    except StoreError as error:
        raise UsageError(f"--store: {error.message}") from None
    return place.url if place.path is None else f"sqlite:///{Path.cwd() / place.path}"
