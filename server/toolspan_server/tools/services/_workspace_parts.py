"""What the tools of a workspace use besides its files: made when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ...common.call_patterns import PathGlobs
from ...common.state.folder import private_folder
from ...engines.http_client import HttpClient, HttpResponse, Policy
from ...engines.http_client._hosts import Hosts
from ...engines.http_client._retry import HttpRetry
from ...engines.http_client._secrets import Secrets
from ...engines.sandbox import CommandRunner, SandboxSettings
from ...engines.web_pages import WebLimits, WebPages
from ...engines.workspace import PathRule, Workspace
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.search_engine import Hit, SearchEngineConfig, SearchQuestion, host_of

if TYPE_CHECKING:
    from ._workspace_config import WorkspaceConfig

_SEARCH_MS = 20_000
_SEARCH_BYTES = 2 * 1024**2


def command_runner(workspace: Workspace, config: WorkspaceConfig, environment: Environment) -> CommandRunner:
    """What runs commands in ``workspace``: they change its folder and its writable roots only."""
    for stored in environment.stored:  # made while a command runs, it would count as what the command made
        with suppress(OSError):  # then nobody makes it
            private_folder(stored.parent)
    roots = workspace.roots[1:]
    bash = config.bash
    readable = [(environment.config_dir / Path(each).expanduser()).resolve() for each in bash.readable]
    settings = SandboxSettings(
        bash.sandbox,
        bash.network,
        writable=[root.path.resolve() for root in roots if root.writable],
        readable=[*(root.path.resolve() for root in roots if not root.writable), *readable],
        protected=[path.absolute() for path in own_paths(config, environment)],
        hidden=[each.resolve() for each in environment.stored],
        environment=bash.environment,
        obeyed=config.protected,
        git_data=bash.git,
        unfinished=unfinished(environment),
    )
    return CommandRunner(workspace.path.resolve(), settings, bash.limits)


def path_rules(
    environment: Environment, workspace: Workspace, tool: str, arguments: Mapping[str, Any]
) -> list[PathRule]:
    """What the rules of the config say of the files that a call of ``tool`` may open, in order.

    A client knows this server by the config's name, or by that and ``-own`` where another has the name.
    """
    folders = [root.path for root in workspace.roots]
    found: list[PathRule] = []
    for rule in environment.rules:
        pattern, allows = rule.pattern, rule.action == "allow"
        names = (environment.server, f"{environment.server}-own")
        if any(pattern.names(each, tool) for each in names) and pattern.holds(arguments, narrow=allows):
            globs = None if pattern.paths is None else PathGlobs(pattern.paths, folders)
            found.append(PathRule(rule.action, globs, rule.reason))
    return found if any(rule.action == "deny" and rule.globs is not None for rule in found) else []


def own_paths(config: WorkspaceConfig, environment: Environment) -> tuple[Path, ...]:
    """What no tool changes, unless the workspace's config says otherwise."""
    return () if config.change_config else environment.own_paths


def unfinished(environment: Environment) -> Path:
    """The folder of what there was before commands that run."""
    return environment.state_dir.absolute() / "commands"


def web_pages(config: WorkspaceConfig, environment: Environment) -> WebPages:
    """The pages that the workspace's ``web_fetch`` allows, by the server's HTTP client."""
    web = config.web_fetch
    hosts = Hosts(web.allowed_domains, web.allow_private)
    limits = WebLimits(web.timeout_ms, web.max_response_bytes, web.cache_seconds)
    return WebPages(environment.shared.get(HttpClient, HttpClient), hosts, limits)


async def search(
    engine: SearchEngineConfig | None, environment: Environment, question: SearchQuestion
) -> list[Hit]:
    """What ``engine`` finds; hosts that it was not asked for are left out. Raises ``ToolFailure``."""
    if engine is None:
        raise ToolFailure(
            "No search engine is configured",
            error_code="search_not_configured",
            user_action="Add web_search to the workspace in the config, such as {type: searxng, url: …}, "
            "{type: brave, api_key: ${BRAVE_API_KEY}} or {type: tavily, api_key: ${TAVILY_API_KEY}}. In "
            "toolspan ask and chat the model's provider searches where it can.",
        )
    host = host_of(engine.address)
    secrets = Secrets(engine.secrets())
    policy = Policy(
        hosts=Hosts((host,), (host,)),
        retry=HttpRetry(max_attempts=2),
        timeout_ms=_SEARCH_MS,
        max_bytes=_SEARCH_BYTES,
        owner=f"WebSearch {engine.type}",
        secrets=secrets,
    )
    try:
        response = await environment.shared.get(HttpClient, HttpClient).send(engine.request(question), policy)
        found = engine.hits(_answer(engine, response))
        return [hit for hit in found if _wanted(host_of(hit.url), question)][: question.count]
    except ToolFailure as failure:
        failure.error = secrets.redact(failure.error)
        raise


def _answer(engine: SearchEngineConfig, response: HttpResponse) -> Mapping[str, Any]:
    import json

    if response.status in (401, 403):
        _refused(engine, response, "correct its key; SearXNG needs json among search.formats of its settings")
    if response.status == 429:
        _refused(engine, response, "wait: too much was asked")
    if not 200 <= response.status < 300:
        _refused(engine, response, "try again later")
    try:
        answer = json.loads(response.text())
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        _refused(engine, response, "check its address: the answer is no JSON object")
    return answer  # pyright: ignore[reportUnknownVariableType] # JSON


def _refused(engine: SearchEngineConfig, response: HttpResponse, action: str) -> NoReturn:
    raise ToolFailure(
        f"The search engine {engine.type} answered with HTTP {response.status}: "
        f"{' '.join(response.start(300).split())}",
        error_code="search_failed",
        user_action=f"{action[0].upper()}{action[1:]}.",
        upstream_status=response.status,
    )


def _wanted(host: str, question: SearchQuestion) -> bool:
    if any(_is_below(host, each) for each in question.blocked):
        return False
    return not question.allowed or any(_is_below(host, each) for each in question.allowed)


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
