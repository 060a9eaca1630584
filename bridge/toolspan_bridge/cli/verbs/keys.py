"""``toolspan keys create|list|show|revoke``: the virtual keys of the gateway."""

from __future__ import annotations

import re
import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from typing_extensions import override

from ...errors import UsageError
from ...providers.prices import usd_text
from ...sessions.chosen.config import ConfigChoice
from ..inputs.options import config_options, json_option, read_config
from ..module_group import SubcommandGroup
from ..terminal.output import emit_json, emit_table, emit_text, print_message, print_note

if TYPE_CHECKING:
    from ...web.keys import KeyStore, VirtualKey
    from ...web.keys.spending import Spent

_UNITS = {"h": 3_600, "d": 86_400}
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_USD = click.FloatRange(0, 1e9, min_open=True)
_COUNT = click.IntRange(1, 1_000_000_000)


@click.group(name="keys", cls=SubcommandGroup, example="toolspan keys create team-a --budget-month 20")
def command() -> None:
    """Keep virtual keys: who may ask which models through the gateway, how fast, and for how much money.

    They are kept beside the config, in its state folder, as hashes; each is shown once, when it is created.
    """


class _Expiry(click.ParamType[float]):
    name = "expiry"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        if found := re.fullmatch(r"([0-9]{1,6})([hd])", str(value)):
            return time.time() + int(found[1]) * _UNITS[found[2]]
        try:
            when = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time: write 12h, 30d, or a date as 2030-01-31 (UTC)", param)
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        if seconds <= time.time():
            self.fail(f"{value!r} is over: the key could never be used", param)
        return seconds


@command.command(name="create", example="toolspan keys create ci --model 'openai/*' --budget-day 5")
@click.argument("name")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="GLOB",
    help="Models that it may ask, as provider/model or a glob of such; may repeat. Default: all.",
)
@click.option(
    "--toolset",
    "toolsets",
    multiple=True,
    metavar="NAME",
    help="Toolsets of the config; may repeat. Default: all.",
)
@click.option("--requests-per-minute", "rpm", type=_COUNT, metavar="N", help="Most requests in 60 seconds.")
@click.option("--tokens-per-minute", "tpm", type=_COUNT, metavar="N", help="Most tokens in 60 seconds.")
@click.option("--budget-day", type=_USD, metavar="USD", help="Most US dollars on one day (UTC).")
@click.option("--budget-month", type=_USD, metavar="USD", help="Most US dollars in one month (UTC).")
@click.option("--budget", type=_USD, metavar="USD", help="Most US dollars in all.")
@click.option("--expires", type=_Expiry(), metavar="TIME", help="When it ends: 12h, 30d, or a date (UTC).")
@config_options
@json_option
def create(
    name: str,
    models: tuple[str, ...],
    toolsets: tuple[str, ...],
    rpm: int | None,
    tpm: int | None,
    budget_day: float | None,
    budget_month: float | None,
    budget: float | None,
    expires: float | None,
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """Create the key NAME and print it.

    It is shown this once, and kept only as a hash.
    """
    from ...web.keys import KeyLimits

    if not _NAME.fullmatch(name):
        raise UsageError("a key's name has 1 to 100 characters, and no control characters")
    config = read_config(choice, keys=("state_dir",))
    if unknown := sorted(set(toolsets) - set(config.toolsets)):
        known = ", ".join(sorted(config.toolsets)) or "none"
        raise UsageError(f"the config has no toolset {unknown[0]!r} (it has: {known})")
    limits = KeyLimits(models or ("*",), toolsets, rpm, tpm, budget_day, budget_month, budget)
    with closing(_store(choice)) as store:
        key, secret = store.create(name, limits, expires)
    if as_json:
        emit_json({"key": secret, **key.as_dict(time.time())})
        return
    print_note(f"the key {name} was created; it is shown this once (send it as Authorization: Bearer KEY)")
    emit_text(secret)


@command.command(name="list", example="toolspan keys list --json")
@config_options
@json_option
def list_(choice: ConfigChoice, as_json: bool) -> None:
    """List the keys, with what was spent with each in all."""
    now = time.time()
    with closing(_store(choice)) as store:
        found = [(key, store.ledger.spent(key)) for key in store.all()]
    if as_json:
        emit_json({"keys": [{**key.as_dict(now), "spent": spent.as_dict()} for key, spent in found]})
    elif found:
        rows = [
            (key.name, key.id, key.state(now), ", ".join(key.limits.models), usd_text(spent.usd_in_all))
            for key, spent in found
        ]
        emit_table(("key", "id", "state", "models", "spent"), rows)
    else:
        print_note("there are no keys yet: toolspan keys create NAME makes one")


@command.command(name="show", example="toolspan keys show ci")
@click.argument("name")
@config_options
@json_option
def show(name: str, choice: ConfigChoice, as_json: bool) -> None:
    """Show a key: what it allows, and what was spent.

    NAME is its name or its id.
    """
    with closing(_store(choice)) as store:
        key = store.get(name)
        spent = store.ledger.spent(key)
    if as_json:
        emit_json({**key.as_dict(time.time()), "spent": spent.as_dict()})
    else:
        print_message("\n".join(_lines(key, spent)))


@command.command(name="revoke", example="toolspan keys revoke ci")
@click.argument("name")
@config_options
@json_option
def revoke(name: str, choice: ConfigChoice, as_json: bool) -> None:
    """Revoke a key by its name or id.

    From now on no request is let through with it, also by servers that run.
    """
    with closing(_store(choice)) as store:
        key = store.revoke(name)
    if as_json:
        emit_json(key.as_dict(time.time()))
    else:
        print_note(f"the key {key.name} is revoked")


def _store(choice: ConfigChoice) -> KeyStore:
    from ...web.keys import KeyStore

    return KeyStore(read_config(choice, keys=("state_dir",)).state_directory)


def _lines(key: VirtualKey, spent: Spent) -> list[str]:
    data, limits = key.as_dict(time.time()), key.limits
    budgets = (
        ("today", spent.usd_today, limits.usd_per_day),
        ("this month", spent.usd_this_month, limits.usd_per_month),
        ("in all", spent.usd_in_all, limits.usd_in_all),
    )
    return [
        f"{key.name} (id {key.id}): {data['state']}",
        f"created {data['created']}, expires {data['expires'] or 'never'}, revoked {data['revoked'] or 'no'}",
        f"models: {', '.join(limits.models)}",
        f"toolsets: {', '.join(limits.toolsets) or 'all'}",
        f"requests a minute: {limits.requests_per_minute or 'any number'}, tokens a minute: "
        f"{limits.tokens_per_minute or 'any number'}",
        *(
            f"spent {when}: {usd_text(used)} of {'no limit' if limit is None else f'${limit:g}'}"
            for when, used, limit in budgets
        ),
        f"held by requests that run: {usd_text(spent.usd_held)}",
        f"requests: {spent.requests}, tokens: {spent.tokens}",
    ]
