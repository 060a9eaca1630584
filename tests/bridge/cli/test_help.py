"""What the help of the verbs and of the chat shows, and the options that all verbs have in common."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, cast

import click
import pytest

from toolspan_bridge.cli.chat.commands import GROUPS, commands
from toolspan_bridge.cli.chat.commands.talk.help import COMMAND as HELP
from toolspan_bridge.cli.main import toolspan
from toolspan_bridge.cli.module_group import Verb
from toolspan_server.cli.command_line import parsed

if TYPE_CHECKING:
    from toolspan_bridge.cli.chat.chat import Chat

WITHOUT_CONFIG = {
    "completion": "prints a script",
    "demo": "writes its own configs",
    "errors": "says the same of every config",
    "init": "writes a config",
    "presets list": "presets are the user's",
    "presets show": "presets are the user's",
    "presets delete": "presets are the user's",
    "trust list": "what was trusted is the user's",
    "trust forget": "what was trusted is the user's",
    "trust state": "names a folder",
}


def contexts(context: click.Context | None = None) -> Iterator[click.Context]:
    """Of ``toolspan``, each verb, and each subcommand."""
    context = context or click.Context(toolspan, info_name="toolspan")
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from contexts(click.Context(command, info_name=name, parent=context))


@cache
def every() -> dict[str, click.Context]:
    """By the words before its options."""
    return {context.command_path: context for context in contexts()}


@pytest.mark.requirement("I13.5.23")
def test_every_help_begins_with_an_example_that_its_command_takes() -> None:
    for path, context in every().items():
        assert isinstance(context.command, Verb), path
        example = context.command.example
        if path != "toolspan serve":  # whose help is toolspan-server's
            assert context.get_help().split("\n\n")[1] == f"Example:\n  {example}"
        called, options = named(example)
        assert called == path or isinstance(context.command, click.Group)
        if called == "toolspan serve":
            assert parsed(options, called).transport == "http"
        else:
            assert_takes(every()[called], options)


def named(example: str) -> tuple[str, list[str]]:
    """The command of a line, and what follows it."""
    words = shlex.split(example)
    count = max(n for n in range(1, len(words) + 1) if " ".join(words[:n]) in every())
    return " ".join(words[:count]), words[count:]


def assert_takes(context: click.Context, options: list[str]) -> None:
    read, left, _ = context.command.make_parser(context).parse_args(options)
    assert not left
    for parameter in context.command.params:
        given = read.get(parameter.name or "")
        assert given or not parameter.required
        if isinstance(parameter.type, click.Choice) and isinstance(given, str | list):
            parameter.type_cast_value(context, given)


@pytest.mark.requirement("I13.5.40")
def test_what_a_list_of_commands_says_of_each_is_a_whole_sentence() -> None:
    for path, context in every().items():
        if isinstance(context.command, click.Group):
            listed = context.get_help().partition("\nCommands:\n")[2].splitlines()
            assert listed, path
            assert not [row for row in listed if not re.search(r"[\w)]\.$", row)], path


@pytest.mark.requirement("I13.5.23")
def test_the_help_of_serve_begins_with_its_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(["--help"], "toolspan serve")
    command = every()["toolspan serve"].command
    assert isinstance(command, Verb)
    assert capsys.readouterr().out.split("\n\n")[1] == f"Example:\n  {command.example}"


@pytest.mark.requirement("I13.3.20")
def test_every_verb_that_reads_a_config_takes_it_as_c_and_config() -> None:
    without: set[str] = set()
    for path, context in every().items():
        name = path.removeprefix("toolspan").strip()
        options = {each for parameter in context.command.params for each in parameter.opts}
        assert ("-c" in options) == ("--config" in options), path
        if "--config" not in options and not isinstance(context.command, click.Group) and name != "serve":
            without.add(name)
    assert without == set(WITHOUT_CONFIG)
    for spelling in ("-c", "--config"):
        assert [str(file) for file in parsed([spelling, "a.yaml"], "serve").config] == ["a.yaml"]


@pytest.mark.requirement("I13.4.44")
@pytest.mark.anyio
@pytest.mark.parametrize("columns", [60, 80, 100])
async def test_the_help_of_the_chat_is_two_columns_that_fit_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    await HELP.run(cast("Chat", None), "")  # which it does not look at
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= columns
    names = {each.written for group in GROUPS for each in commands(group)}
    for line in lines:
        first, second = line[:30].strip(), line[30:]
        if line.strip() in names:
            continue  # too long for its column: its help begins below
        if line.startswith("  "):
            assert not second[:1].isspace()
            assert not first or line[28:30] == "  "
    together = " ".join(" ".join(lines).split())
    for group in GROUPS:
        for each in commands(group):
            assert f"{each.written} {each.help}" in together
