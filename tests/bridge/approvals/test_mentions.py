"""Rules about paths, and calls of tools of which nobody knows how they read their arguments."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.scripts.long_arguments import WORST
from tests.support.cost import at_most
from tests.support.loop_watch import allowed_seconds, watch
from tests.support.workspaces import write_files
from toolspan_bridge.approvals import (
    Approval,
    ApprovalRequest,
    CallFiles,
    Pattern,
    PolicyApprover,
    find_reason,
)
from toolspan_bridge.approvals.mentions import MentionedFiles
from toolspan_server.config import ApprovalRule
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.2.2")]

DENY = ApprovalRule(action="deny", paths=("secrets/**",))
ALLOW = ApprovalRule(action="allow", tools=("*",))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as made:
        here = Path(made).resolve() / "work"
        write_files(here, {"secrets/key.txt": "x", "src/a.py": "x", "other/é.txt": "x"})
        (here / "src/link").symlink_to("../secrets")
        (here / "top").symlink_to("secrets")
        yield here


def verdict(folder: Path, arguments: Mapping[str, Any], *globs: str) -> str:
    return MentionedFiles(arguments, [folder]).are_of(globs or ("secrets/**",))


NAMING: list[Any] = [
    "secrets",
    "secrets/",
    "secrets/new/file",
    "./src/../secrets/key.txt",
    "src/link/key.txt",
    "FOLDER/secrets/key.txt",
    "file://FOLDER/secrets/key.txt",
    "file://localhost/FOLDER/secrets/key.txt",
    "FILE:///FOLDER/secrets/key.txt",
    "file:secrets/key.txt",
    "%73ecrets/key.txt",
    "%2573ecrets%252fkey.txt",
    "secrets%2Fkey.txt",
    "'secrets/key.txt'",
    "`secrets/key.txt`",
    '"\\x73ecrets/key.txt"',
    "\\u0073ecrets/key.txt",
    "\\163ecrets/key.txt",
    "&#115;ecrets/key.txt",
    "secrets\\key.txt",
    ".\\secrets\\key.txt",
    "secrets./key.txt",
    "secrets /key.txt",
    "  secrets/key.txt\n",
    "secrets/key.txt\0.png",
    "sec\u200brets/key.txt",
    "\uff53ecrets/key.txt",
    "$PWD_OF_TEST/secrets/key.txt",
    "${PWD_OF_TEST}/secrets/key.txt",
    "~/secrets/key.txt",
    "cat secrets/key.txt | head",
    "cat 'sec'rets/key.txt",
    "cat --file=secrets/key.txt;ls",
    "cp src/a.py:secrets/key.txt",
    "cat <secrets/key.txt>/dev/null",
    "secret*",
    "s?crets/key.txt",
    "[s]ecrets/*",
    "cat secret*/key.txt",
    '{"path": "secrets/key.txt"}',
    '{"a": [{"b": "{\\"c\\": \\"secrets/key.txt\\"}"}]}',
    ["src/a.py", "secrets/key.txt"],
    {"secrets/key.txt": "text"},
    {"deep": [[{"a": {"b": {"c": {"d": {"e": {"f": ["secrets/key.txt"]}}}}}}]]},
]


@pytest.mark.parametrize("given", NAMING, ids=map(str, range(len(NAMING))))
def test_a_file_that_is_denied_is_seen_however_an_argument_names_it(
    folder: Path, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PWD_OF_TEST", str(folder))
    monkeypatch.setenv("HOME", str(folder))
    arguments = json.loads(json.dumps({"any": given}).replace("FOLDER", str(folder)))
    files = CallFiles(folder)
    assert Pattern(paths=["secrets/**"]).touches("files", "anything", arguments, files)
    assert not Pattern(paths=["elsewhere/**"]).touches("files", "anything", arguments, files)


@pytest.mark.parametrize(
    "given",
    [
        "*",
        "$SOMEWHERE/key.txt",
        "$(cat list)",
        "`pwd`/key.txt",
        "SECRETS/key.txt",
        "Secrets",
        "/mnt/of/a/container/secrets/key.txt",
        "work/secrets/key.txt",
        "cd secrets && cat key.txt",
        "src/lin?/key.txt",
        "cat src/l*/key.txt",
        "$WHERE/link/key.txt",
        "to*",
        "x" * 20_000,
        " ".join(map(str, range(3_000))),
        [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["secrets"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],
    ],
)  # fmt: skip
async def test_what_may_name_a_denied_file_is_asked_about_whatever_else_allows_it(
    folder: Path, given: Any
) -> None:
    assert verdict(folder, {"any": given}) == "perhaps"
    allow = ALLOW
    for policy in ("never", "rules", "destructive"):
        decided = await decision(folder, {"any": given}, [DENY, allow], policy=policy, allowed=["*"])
        assert decided.decider == "policy" and "nobody can tell" in decided.reason
    first = await decision(folder, {"any": given}, [allow, DENY], policy="rules")
    assert first.allowed, "a rule before it says so"


@pytest.mark.parametrize("given", ["*/key.txt", "{secrets,src}/key.txt", "src/../s*/**"])
def test_a_glob_that_means_a_denied_file_among_others_names_it(folder: Path, given: str) -> None:
    assert verdict(folder, {"any": given}) == "yes"
    assert verdict(folder, {"any": given}, "lib/a.md") != "yes"


@pytest.mark.parametrize(
    "given",
    [
        "What is the weather in Rome?",
        "**bold** text, 100 % sure (really): see https://example.com/a?b=c&d=e#f",
        "src/a.py",
        "/usr/share/doc/x",
        "a mail to me@example.com; it costs $5",
        "",
        7,
        None,
    ],
)
def test_other_texts_are_left_alone(folder: Path, given: Any) -> None:
    assert verdict(folder, {"any": given}) == "no"


def test_a_name_of_an_argument_is_no_path(folder: Path) -> None:
    assert verdict(folder, {"secrets": 1, "path": "src"}) == "no"


OBFUSCATIONS: list[Callable[[str], str]] = [
    lambda text: quote(text, safe=""),
    lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    lambda text: json.dumps(text),
    lambda text: json.dumps({"path": text}),
    lambda text: json.dumps([text]),
    lambda text: f"'{text}'",
    lambda text: f"file:{text}",
    lambda text: f"./{text}",
    lambda text: f"src/../{text}",
    lambda text: f" {text}\n",
    lambda text: f"{text}/",
    lambda text: f"cat {text} | head",
    lambda text: f"--path={text}",
    lambda text: text.replace("/", "//"),
    lambda text: text.replace("/", "/./"),
    lambda text: text.replace("/", "\\"),
    lambda text: text.replace("e", "?", 1),
    lambda text: text.replace("rets", "*", 1),
    lambda text: text.replace("c", "\u200bc", 1),
    lambda text: text.upper(),
    lambda text: f"{text}\0.png",
    lambda text: f"${{HERE:-.}}/{text}",
]


@settings(max_examples=250, deadline=None)
@given(
    steps=st.lists(st.sampled_from(OBFUSCATIONS), max_size=4),
    path=st.sampled_from(["secrets/key.txt", "src/link/key.txt", "secrets", "secrets/a/b"]),
    place=st.sampled_from(["text", "list", "key", "deep"]),
)
def test_a_denied_file_is_never_named_unseen(
    folder: Path, steps: Sequence[Callable[[str], str]], path: str, place: str
) -> None:
    text = path
    for step in steps:
        text = step(text)
    value: Any = {"text": text, "list": ["x", text], "key": {text: "x"}, "deep": [{"a": {"b": [text]}}]}[
        place
    ]
    through_link = path.startswith("src/link") and steps
    assert verdict(folder, {"any": value}) != "no" or through_link


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300), glob=st.sampled_from(["secrets/**", "**/*.pem", "a/b.txt", "**"]))
def test_every_text_has_a_verdict(folder: Path, text: str, glob: str) -> None:
    assert verdict(folder, {"any": text}, glob) in ("yes", "perhaps", "no")
    Pattern(paths=[glob]).covers("files", "x", {"path": text}, CallFiles(folder))


async def decision(
    folder: Path,
    arguments: Mapping[str, Any],
    rules: Sequence[ApprovalRule],
    *,
    policy: Any = "rules",
    allowed: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    works_as: str = "",
) -> Any:
    tool = ListedTool(
        works_as or "copy", "", schema or {"type": "object"}, {"annotations": {"destructiveHint": True}}
    )
    files = CallFiles(folder, works_as=works_as)
    approver = PolicyApprover(policy, allowed, rules=rules, files_of=lambda _server, _tool: files)
    reason = approver.reason_to_ask("files", tool, arguments)
    return await approver.decide(ApprovalRequest("1", "files", tool, arguments, reason))


ALLOW_SRC = ApprovalRule(action="allow", paths=("src/**",))


@pytest.mark.parametrize(
    ("arguments", "is_allowed"),
    [
        ({"path": "src/a.py"}, True),
        ({"path": "src/a.py", "count": 3, "force": True}, True),
        ({"path": "src/a.py", "destination": "src/b.py"}, True),
        ({"path": "src/a.py", "destination": "other/b.py"}, False),
        ({"path": "src/a.py", "destination": "/etc/passwd"}, False),
        ({"path": "src/a.py", "to": {"deep": ["other/b.py"]}}, False),
        ({"path": "src/a.py", "files": {"other/b.py": 1}}, False),
        ({"path": "src/a.py", "other/b.py": 1}, False),
        ({"path": "src/a.py", "command": "rm -rf ."}, False),
        ({"path": "src/%2e%2e/other/b.py"}, False),
        ({"path": "src/a.py /etc/passwd"}, False),
        ({"path": "src/$HOME"}, False),
        ({"path": "src/*"}, False),
        ({"path": "src/link/../a.py"}, False),
        ({"path": "src//etc/passwd"}, False),
        ({"file": "src/a.py"}, False),
    ],
)
async def test_a_tool_is_allowed_by_paths_where_all_that_it_is_given_lies_there(
    folder: Path, arguments: dict[str, Any], *, is_allowed: bool
) -> None:
    assert (await decision(folder, arguments, [ALLOW_SRC])).allowed is is_allowed


async def test_an_argument_with_a_pattern_of_its_own_needs_not_lie_in_the_paths(folder: Path) -> None:
    rule = ApprovalRule(action="allow", paths=("src/**",), arguments={"content": "*", "path": "*"})
    assert (await decision(folder, {"path": "src/a.py", "content": "any text /x"}, [rule])).allowed
    assert not (await decision(folder, {"path": "other/x", "content": "x"}, [rule])).allowed


def test_no_folder_is_proposed_that_would_not_cover_the_call(folder: Path) -> None:
    from toolspan_bridge.cli.terminal.approval.suggestion import suggested

    given = {"path": "src/a.py", "content": "any text"}
    assert suggested(given, CallFiles(folder)) == ""
    assert suggested({"path": "src/a.py"}, CallFiles(folder)) == "path=src/**"
    own = {"file_path": "src/a.py", "content": "any text"}
    assert suggested(own, CallFiles(folder, works_as="Write")) == "file_path=src/**"


async def test_an_argument_that_our_own_tool_leaves_out_allows_nothing(folder: Path) -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    given = {"command": "rm -rf .", "path": "src/a.py"}
    assert not (await decision(folder, given, [ALLOW_SRC], schema=schema, works_as="Bash")).allowed


def defaulting(**defaults: Any) -> dict[str, Any]:
    named = {name: {"type": "string", "default": value} for name, value in defaults.items()}
    options = {"type": "object", "properties": named}
    return {
        "type": "object",
        "properties": {**named, "options": {"$ref": "#/$defs/o"}},
        "$defs": {"o": options},
    }


@pytest.mark.parametrize("arguments", [{}, {"options": {}}, {"path": "src/a.py"}])
async def test_a_call_is_judged_with_the_defaults_of_its_tool(
    folder: Path, arguments: dict[str, Any]
) -> None:
    schema = defaulting(destination="secrets/key.txt", mode="wipe")
    rules = [DENY, ALLOW]
    assert (await decision(folder, arguments, rules, schema=schema)).decider == "rule"
    named = [ApprovalRule(action="deny", arguments={"mode": "wipe"}), ALLOW]
    assert not (await decision(folder, arguments, named, schema=schema)).allowed
    assert not (await decision(folder, {**arguments, "path": "src/a.py"}, [ALLOW_SRC], schema=schema)).allowed


async def test_a_tool_whose_defaults_cannot_be_told_is_asked_about(folder: Path) -> None:
    """A schema whose default contains itself."""
    itself = {"a": {"$ref": "#/$defs/a"}}
    inner = {"type": "object", "default": {}, "properties": itself}
    schema = {"type": "object", "properties": itself, "$defs": {"a": inner}}
    for rules in ([ApprovalRule(action="deny", arguments={"a": "x"}), ALLOW], [DENY]):
        decided = await decision(folder, {}, rules, schema=schema, policy="rules", allowed=["*"])
        assert decided.decider == "policy" and "nobody can tell" in decided.reason


@pytest.mark.requirement("I24.5.5")
@pytest.mark.parametrize("name", [*WORST, "many"])
def test_judging_has_a_bound_and_leaves_the_event_loop(name: str, tmp_path: Path) -> None:
    value: Any = WORST.get(name) or [f"{text[:4_000]}{n}" for n in range(30) for text in WORST.values()]
    rule = ApprovalRule(action="deny", paths=("secrets/**", "**/.env"))
    policy = PolicyApprover("never", rules=[rule], base=tmp_path)
    tool = ListedTool("take", "", {"type": "object"}, {})
    request = ApprovalRequest("", "other", tool, {"value": value}, "why")
    stalls = list[float]()

    async def judged() -> Approval:
        watch(asyncio.get_running_loop(), lambda seconds, _: stalls.append(seconds))
        await asyncio.sleep(0.02)
        await find_reason(policy, "other", tool, request.arguments)
        decided = await policy.decide(request)
        await asyncio.sleep(0.02)
        return decided

    with at_most(units=250):
        decided = asyncio.run(judged())
    assert decided.decider in ("policy", "rule")
    assert max(stalls, default=0.0) < allowed_seconds()
