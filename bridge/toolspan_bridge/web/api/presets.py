"""``/api/presets``: the presets of who asks. Tools are validated with the words of the seed."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from toolspan_server.common.call_patterns import LONGEST_GLOB

from ...errors import UsageError
from ...presets import DEFAULT_TOOLS, Preset, PresetStore, builtin_tools
from ..endpoint import Answer, Call, Endpoint, Values
from ..pages import Page, page_of
from ..problems import Problem

_Glob = Annotated[str, Field(max_length=LONGEST_GLOB)]


class PresetRecord(Answer):
    """A preset: the times are in seconds since 1970."""

    id: str
    name: str
    instructions: str
    model: str
    default_reasoning_level: str
    created_at: int
    updated_at: int
    enabled_tools: list[str]


class PresetList(Answer):
    """Presets, the oldest first. ``builtin_tools`` may be enabled whatever servers there are: a provider
    performs them, and the calculator is Toolspan's own."""

    presets: list[PresetRecord]
    builtin_tools: list[str]
    next_cursor: str | None


class NewPreset(Values):
    """A preset to be made."""

    name: str = Field(min_length=1, max_length=100)
    instructions: str = Field("", max_length=100_000)
    model: str = Field("", max_length=300, description="PROVIDER/MODEL, or empty: as without a preset.")
    default_reasoning_level: str = Field("medium", max_length=20)
    enabled_tools: list[Annotated[str, Field(max_length=LONGEST_GLOB)]] = Field(
        list(DEFAULT_TOOLS), max_length=1_000
    )


class ChangedPreset(Values):
    """What is to change; what is left out stays."""

    name: str | None = Field(None, min_length=1, max_length=100)
    instructions: str | None = Field(None, max_length=100_000)
    model: str | None = Field(None, max_length=300)
    default_reasoning_level: str | None = Field(None, max_length=20)
    enabled_tools: list[_Glob] | None = Field(None, max_length=1_000)


async def listed(call: Call) -> PresetList:
    """The presets of the caller."""
    found = await anyio.to_thread.run_sync(store_of(call).all)
    page, cursor = page_of(found, call.asked(Page), key=_key)
    return PresetList(
        presets=[_record(each) for each in page], builtin_tools=list(builtin_tools()), next_cursor=cursor
    )


async def created(call: Call) -> PresetRecord:
    """A new preset. What is wrong with it is said in the words of ``toolspan presets``."""
    wanted, store = call.values(NewPreset), store_of(call)
    if any(each.name == wanted.name for each in await anyio.to_thread.run_sync(store.all)):
        raise Problem(
            409, f"there is a preset {wanted.name!r} already: choose another name, or update that one"
        )
    make = partial(store.create, **wanted.model_dump(), known_tools=_known(call))
    return _record(await anyio.to_thread.run_sync(make))


async def shown(call: Call) -> PresetRecord:
    """One preset, by its name or id."""
    return _record(await _found(call))


async def changed(call: Call) -> PresetRecord:
    """The preset with what is given changed."""
    wanted = call.values(ChangedPreset).model_dump(exclude_none=True)
    preset, store = await _found(call), store_of(call)
    new_name = wanted.pop("name", preset.name)
    change = partial(
        store.update,
        preset.id,
        new_name=None if new_name == preset.name else new_name,
        **wanted,
        known_tools=_known(call),
    )
    return _record(await anyio.to_thread.run_sync(change))


async def deleted(call: Call) -> None:
    """Remove it."""
    preset = await _found(call)
    await anyio.to_thread.run_sync(store_of(call).delete, preset.id)


def store_of(call: Call) -> PresetStore:
    """The presets of who calls: those of the command line where no token is needed."""
    return PresetStore(call.principal)


async def _found(call: Call) -> Preset:
    try:
        return await anyio.to_thread.run_sync(store_of(call).get, call.path["name"])
    except UsageError as error:
        raise Problem(404, error.message) from None


def _known(call: Call) -> list[str]:
    return [tool.name for tool in call.app.live.current.session.toolbox.tools]


def _record(preset: Preset) -> PresetRecord:
    return PresetRecord(**preset.as_dict())


def _key(preset: Preset) -> tuple[int, str]:
    return preset.created_at, preset.id


_ONE = "/api/presets/{name}"
ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/presets",
        "List the presets.",
        listed,
        "presets",
        audience="own",
        query=Page,
        answer=PresetList,
    ),
    Endpoint(
        "POST",
        "/api/presets",
        "Create a preset.",
        created,
        "presets",
        audience="own",
        body=NewPreset,
        answer=PresetRecord,
        status=201,
        problems=(409, 503),
        starts=True,
    ),
    Endpoint(
        "GET",
        _ONE,
        "Show a preset.",
        shown,
        "presets",
        audience="own",
        answer=PresetRecord,
        problems=(404, 503),
    ),
    Endpoint(
        "PUT",
        _ONE,
        "Change a preset.",
        changed,
        "presets",
        audience="own",
        body=ChangedPreset,
        answer=PresetRecord,
        problems=(404, 503),
    ),
    Endpoint(
        "DELETE",
        _ONE,
        "Delete a preset.",
        deleted,
        "presets",
        audience="own",
        status=204,
        problems=(404, 503),
    ),
)
