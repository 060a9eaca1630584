"""What looks like a secret: names of files, and texts, each with the reason.

A name is looked for where a call names a file or a command; a text in what a call brought. Both are lists of
habits: a secret in a file of another name and another form is not noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

__all__ = [
    "SECRET_NAMES",
    "SECRET_TEXTS",
    "SecretName",
    "SecretText",
    "secret_lines",
    "secret_names",
    "secret_texts",
    "strings_of",
]


@dataclass(frozen=True, slots=True)
class SecretName:
    """Paths that ``pattern`` finds, in lower case and with ``/`` before each part, hold ``reason``."""

    pattern: str
    reason: str


SECRET_NAMES = (
    SecretName(r"/\.env(rc|\.[^/]+)?$", "environment variables, usually with keys"),
    SecretName(r"/[^/]+\.env$", "environment variables, usually with keys"),
    SecretName(r"/proc/[^/]+/environ$", "the environment variables of a process"),
    SecretName(
        r"\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx|asc|gpg|pgp|ovpn)$", "a private key or key store"
    ),
    SecretName(r"/id_(rsa|dsa|ecdsa|ed25519)[^/.]*$", "an SSH key"),
    SecretName(r"/\.ssh/(?!known_hosts$|[^/]+\.pub$)[^/]", "SSH keys and hosts"),
    SecretName(r"/\.gnupg/[^/]", "GnuPG keys"),
    SecretName(
        r"/\.(netrc|pgpass|my\.cnf|npmrc|yarnrc(\.yml)?|pypirc|git-credentials|htpasswd)$",
        "passwords or tokens",
    ),
    SecretName(r"/_netrc$", "passwords"),
    SecretName(
        r"/\.(aws|azure|oci|kube|docker|gcloud|terraform\.d)/[^/]", "credentials of a cloud or a cluster"
    ),
    SecretName(
        r"/\.config/(gcloud|gh|hub|op|rclone|git/credentials)(/|$)", "credentials of a command-line tool"
    ),
    SecretName(r"/kubeconfig[^/]*$", "credentials of a cluster"),
    SecretName(r"/[^/]*credentials?(\.(json|ya?ml|toml|ini|csv|txt|xml|db))?$", "credentials, by its name"),
    SecretName(r"/[^/]*secrets?(\.(json|ya?ml|toml|ini|txt|xml|db))?$", "secrets, by its name"),
    SecretName(r"/(secrets?|credentials)/[^/]", "a file in a folder of secrets, by its name"),
    SecretName(r"/[^/]*(service[-_]?account|client[-_]secret)[^/]*\.json$", "keys of a cloud account"),
    SecretName(r"\.tfstate(\.backup)?$", "state of Terraform, which holds secrets in the clear"),
    SecretName(r"/(etc/)?(shadow|gshadow)$", "hashes of passwords"),
    SecretName(
        r"/(passwords?|tokens?|api[-_]?keys?)(\.(json|ya?ml|txt|csv|ini))?$",
        "passwords or tokens, by its name",
    ),
    SecretName(r"/(keychains|keyrings)/[^/]", "a key ring"),
    SecretName(
        r"/(login data|logins\.json|key4\.db|cookies(\.sqlite)?)$", "passwords or sessions of a browser"
    ),
    SecretName(r"/\.(bash|zsh|psql|mysql|python)_history$", "commands, which may hold passwords"),
)
"""Names of files that usually hold secrets."""

_HARMLESS = re.compile(r"(\.(example|sample|template|dist|defaults?)|\.pub)$")
"""Endings of files that are published to show the form of the others."""

_COMMANDS = re.compile(r"(^|[\s;&|(`])(printenv|env|export -p|declare -x|set)(\s*$|\s*[;&|>)`])")
_PRINTS = "prints the environment variables, usually with keys"


@dataclass(frozen=True, slots=True)
class SecretText:
    """Texts in which ``pattern``, of RE2, is found look like ``reason``. Each has one of ``needles``, in
    lower case, which are looked for first."""

    pattern: str
    reason: str
    needles: tuple[str, ...]


SECRET_TEXTS = (
    SecretText(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----", "a private key", ("begin ",)),
    SecretText(r"PuTTY-User-Key-File-[23]:", "a private key", ("putty-user-key-file",)),
    SecretText(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b", "an access key of AWS", ("akia", "asia")),
    SecretText(
        r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{40,}",
        "a token of GitHub",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    SecretText(r"\bglpat-[A-Za-z0-9_-]{20,}", "a token of GitLab", ("glpat-",)),
    SecretText(r"\bsk-(ant-|proj-|or-)?[A-Za-z0-9_-]{20,}", "an API key of a model provider", ("sk-",)),
    SecretText(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}", "a token of Slack", ("xox",)),
    SecretText(r"\bAIza[0-9A-Za-z_-]{35}", "an API key of Google", ("aiza",)),
    SecretText(r"\bya29\.[0-9A-Za-z_-]{20,}", "an access token of Google", ("ya29.",)),
    SecretText(r"\b[rs]k_(live|test)_[0-9A-Za-z]{16,}", "an API key of Stripe", ("k_live_", "k_test_")),
    SecretText(r"\bnpm_[A-Za-z0-9]{36}\b", "a token of npm", ("npm_",)),
    SecretText(r"\bpypi-[A-Za-z0-9_-]{50,}", "a token of PyPI", ("pypi-",)),
    SecretText(r"\bhf_[A-Za-z0-9]{30,}", "a token of Hugging Face", ("hf_",)),
    SecretText(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "an API key of SendGrid", ("sg.",)),
    SecretText(
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        "a signed token (JWT)",
        ("eyj",),
    ),
    SecretText(
        r"\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]+:[^\s/@'\"{}$<>*]{3,}@[a-zA-Z0-9.-]+",
        "a URL with a password",
        ("://",),
    ),
    SecretText(
        r"(?i)\b[A-Z0-9_]*(SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY)[A-Z0-9_]*\s*[=:]\s*"
        r"['\"]?[A-Za-z0-9+/_~-]*[0-9][A-Za-z0-9+/_~-]{7,}",
        "a variable with the name and the value of a secret",
        ("secret", "token", "password", "passwd", "apikey", "api_key", "privatekey", "private_key", "access"),
    ),
)
"""Texts that are secrets by their form."""

_FILES = "path file filename file_name file_path filepath notebook_path uri source src from paths files glob"
_FILE_KEYS = frozenset(_FILES.split())
_COMMAND_KEYS = frozenset(["command", "cmd", "script", "commands", "shell", "code"])
_WORDS = re.compile(r"[^\s'\"`;&|<>(){}=,$]+")
_LONGEST = 65_536
_LONGEST_PATH = 4_096
_MOST = 5


def secret_names(arguments: Mapping[str, Any] | None) -> tuple[str, ...]:
    """``.env (environment variables, usually with keys)`` for each file that ``arguments`` name and that
    looks like one with secrets, at most five."""
    found: dict[str, None] = {}
    for key, text in _named_strings(arguments or {}):
        if key in _COMMAND_KEYS and _COMMANDS.search(text[:_LONGEST]):
            found[f"a command that {_PRINTS}"] = None
        for path in _paths_in(key, text[:_LONGEST]):
            if reason := _reason(path):
                found[f"{path[-120:]} ({reason})"] = None
        if len(found) >= _MOST:
            break
    return tuple(found)[:_MOST]


def secret_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """``a private key``, … for each kind of secret that is found in ``texts``. Takes linear time."""
    found: dict[str, None] = {}
    for text in texts:
        lowered = text.lower()
        for each in SECRET_TEXTS:
            if any(needle in lowered for needle in each.needles) and _pattern(each.pattern).search(text):
                found[each.reason] = None
    return tuple(found)[:_MOST]


def secret_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """As ``secret_names``, for lines of a search's result: ``path:number:text``, or a path alone."""
    found: dict[str, None] = {}
    for line in lines:
        path = re.split(r"[:-]\d+[:-]", line[:4_096], maxsplit=1)[0]
        if reason := _reason(path):
            found[f"{path[-120:]} ({reason})"] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def strings_of(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys of objects left out."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            stack.extend(cast("Mapping[str, Any]", each).values())
        elif isinstance(each, list | tuple):
            stack.extend(cast("list[Any]", each))


def _named_strings(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    stack: list[tuple[str, Any]] = list(arguments.items())
    while stack:
        key, value = stack.pop()
        if isinstance(value, str):
            yield key.lower(), value
        elif isinstance(value, Mapping):
            stack.extend(cast("Mapping[str, Any]", value).items())
        elif isinstance(value, list | tuple):
            stack.extend((key, each) for each in cast("list[Any]", value))


def _paths_in(key: str, text: str) -> Iterator[str]:
    if key in _COMMAND_KEYS:
        yield from _WORDS.findall(text)
    elif key in _FILE_KEYS or not any(map(str.isspace, text)):
        yield text


def _reason(path: str) -> str:
    """Why ``path`` looks like a file with secrets; empty where it does not."""
    if path.startswith(("http://", "https://")) or not path or "\n" in path:
        return ""
    path = path[-_LONGEST_PATH:]
    whole = "/" + path.removeprefix("file://").replace("\\", "/").lower().rstrip("*?").strip("\"' ")
    if _HARMLESS.search(whole):
        return ""
    return next((name.reason for name, pattern in _name_patterns() if pattern.search(whole)), "")


@cache
def _name_patterns() -> tuple[tuple[SecretName, re.Pattern[str]], ...]:
    return tuple((each, re.compile(each.pattern)) for each in SECRET_NAMES)


@cache
def _pattern(source: str) -> Any:
    from toolspan_server.common.re2_patterns import compiled

    return compiled(source)
