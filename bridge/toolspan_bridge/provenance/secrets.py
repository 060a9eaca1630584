"""What looks like a secret: names of files, and texts, each with the reason.

A name is looked for where a call names a file or a command; a text in what a call brought. Both are lists of
habits: a secret in a file of another name and another form is not noticed. All patterns are RE2's, so that
looking takes time that grows with the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, cast

from toolspan_server.common.path_spelling import unquoted

__all__ = [
    "SECRET_COMMANDS",
    "SECRET_NAMES",
    "SECRET_TEXTS",
    "SecretCommand",
    "SecretName",
    "SecretText",
    "assigned_strings",
    "path_readings",
    "secret_lines",
    "secret_names",
    "secret_texts",
    "strings_of",
]


@dataclass(frozen=True, slots=True)
class SecretName:
    """Paths in which ``pattern`` is found, in lower case and with ``/`` before each part, hold ``reason``.
    Each has one of ``needles``, which are looked for first. Endings of copies (``.bak``, ``.old``, ``~``,
    ``.1`` …) are left out before."""

    pattern: str
    reason: str
    needles: tuple[str, ...]


_DATA = r"(\.(json|ya?ml|toml|ini|csv|txt|xml|db|conf|cfg|properties|plist|sqlite3?))"
_KEY_ENDINGS = "pem key p8 p12 pfx pkcs12 ppk jks keystore kdbx kdb asc gpg pgp ovpn keytab agekey"
_TOKEN_FILES = """
netrc pgpass my.cnf mylogin.cnf npmrc yarnrc yarnrc.yml yarnrc.yaml pypirc git-credentials htpasswd s3cfg boto
vault-token vault_token vault-pass vault_pass vault-password vault_password dockercfg databrickscfg
terraformrc condarc authinfo
"""
_CLOUD_FOLDERS = "aws azure oci kube docker gcloud terraform.d cargo/credentials gem/credentials"
_KEYS, _TOKENS, _TOOLS = _KEY_ENDINGS.split(), _TOKEN_FILES.split(), _CLOUD_FOLDERS.split()


def _any_of(words: Iterable[str]) -> str:
    return f"({'|'.join(map(re.escape, words))})"


SECRET_NAMES = (
    SecretName(
        r"/\.{1,2}(flask)?env(rc|[._-][^/]*)?$",
        "environment variables, usually with keys",
        (".env", ".flaskenv"),
    ),
    SecretName(r"/[^/]+\.env$", "environment variables, usually with keys", (".env",)),
    SecretName(r"/proc/[^/]+/environ$", "the environment variables of a process", ("/environ",)),
    SecretName(rf"\.{_any_of(_KEYS)}$", "a private key or key store", tuple(f".{key}" for key in _KEYS)),
    SecretName(r"/\.?id_(rsa|dsa|ecdsa|ed25519|xmss)[^/]*$", "an SSH key", ("id_",)),
    SecretName(r"/\.ssh/[^/]", "SSH keys and hosts", (".ssh/",)),
    SecretName(r"/\.gnupg/[^/]", "GnuPG keys", (".gnupg/",)),
    SecretName(r"/\.password-store/[^/]", "passwords", (".password-store/",)),
    SecretName(rf"/[._]{_any_of(_TOKENS)}$", "passwords or tokens", tuple(_TOKENS)),
    SecretName(
        r"/(auth|local\.settings|appsettings\.[a-z]+)\.json$",
        "tokens or connection strings of a tool",
        ("auth.json", "settings."),
    ),
    SecretName(
        r"/(\.m2/settings(-security)?\.xml|\.gradle/gradle\.properties|nuget\.config|wp-config\.php)$",
        "passwords or tokens",
        (".m2/", ".gradle/", "nuget.config", "wp-config"),
    ),
    SecretName(
        rf"/\.{_any_of(_TOOLS)}(/[^/]|$|\.)",
        "credentials of a cloud, a cluster or a registry",
        tuple(f".{tool}" for tool in _TOOLS),
    ),
    SecretName(
        r"/\.config/(gcloud|gh|glab-cli|hub|op|rclone|doctl|git/credentials)(/|$)",
        "credentials of a command-line tool",
        (".config/",),
    ),
    SecretName(r"/([^/]*\.)?kube-?config[^/]*$", "credentials of a cluster", ("kubeconfig", "kube-config")),
    SecretName(
        r"/(etc/kubernetes/[^/]+\.conf|k3s\.ya?ml)$", "credentials of a cluster", ("kubernetes/", "k3s.")
    ),
    SecretName(rf"/[^/]*credentials?(([._-][^/]*)?{_DATA})?$", "credentials, by its name", ("credential",)),
    SecretName(rf"/[^/]*secrets?(([._-][^/]*)?{_DATA})?$", "secrets, by its name", ("secret",)),
    SecretName(
        r"/(secrets?|credentials)/[^/]",
        "a file in a folder of secrets, by its name",
        ("secret", "credential"),
    ),
    SecretName(
        r"/[^/]*(service[-_]?account|client[-_]secret|adminsdk)[^/]*\.json$",
        "keys of a cloud account",
        ("account", "secret", "adminsdk"),
    ),
    SecretName(r"\.tfstate$", "state of Terraform, which holds secrets in the clear", (".tfstate",)),
    SecretName(r"/(etc/)?(shadow|gshadow)$", "hashes of passwords", ("shadow",)),
    SecretName(
        rf"/([^/]*[._-])?(passwords?|passphrase|tokens?|api[-_]?keys?){_DATA}?$",
        "passwords or tokens, by its name",
        ("password", "passphrase", "token", "apikey", "api-key", "api_key"),
    ),
    SecretName(r"/(keychains|keyrings)/[^/]", "a key ring", ("keychains/", "keyrings/")),
    SecretName(r"/wallet\.dat$", "keys of a wallet", ("wallet.dat",)),
    SecretName(
        r"/(login data|logins\.json|key4\.db|cookies(\.sqlite)?)$",
        "passwords or sessions of a browser",
        ("login", "key4.db", "cookies"),
    ),
    SecretName(
        r"/\.(bash|zsh|psql|mysql|python|node_repl)_history$",
        "commands, which may hold passwords",
        ("_history",),
    ),
)
"""Names of files that usually hold secrets."""

_HARMLESS = re.compile(
    r"(\.(example|sample|template|dist|defaults?)|\.pub|/known_hosts|/design-tokens\.json)$"
)
"""Endings of files that are published, to show the form of the others or to be known."""

_COPY = re.compile(
    r"(~|\.(bak|backup|old|orig|save|saved|copy|tmp|temp|prev|previous|swp|swo|gz|bz2|xz|zst|zip|tar|tgz|7z"
    r"|[0-9]{1,10})|[ _-](copy|backup|bak|old)|\s?\([0-9]{1,4}\))$"
)
"""Endings of copies, which hold what the file without them holds."""

_MOST_COPIES = 8


@dataclass(frozen=True, slots=True)
class SecretCommand:
    """Commands in which ``pattern`` is found do what ``reason`` says."""

    pattern: str
    reason: str


_SHELL_START = r"(^|[\s;&|(`])"
SECRET_COMMANDS = (
    SecretCommand(
        _SHELL_START + r"(printenv|env|export -p|declare -x|set)(\s*$|\s*[;&|>)`])",
        "prints the environment variables, usually with keys",
    ),
    SecretCommand(
        _SHELL_START + r"(gh auth token|glab auth status|gcloud auth print-|aws configure (get|export)"
        r"|az account get-access|kubectl get secrets?|vault (read|kv get)|op (read|item get)|pass show"
        r"|git credential fill|security find-(generic|internet)-password|secret-tool lookup"
        r"|gpg --export-secret)",
        "prints a token or a password",
    ),
)
"""Commands that print secrets, each with what it does."""


def _always(_match: Any) -> bool:
    return True


_NAMED = (
    r"(?i)([a-z0-9_.-]*(?:secret|token|passw(?:or)?d|passphrase|pwd|api[_-]?key|private[_-]?key|access[_-]?key"
    r"|account[_-]?key|signing[_-]?key|encryption[_-]?key|_auth|credential)[a-z0-9_.-]*)"
    r"\\*[\"']?[ \t]*(=>|:|=)[ \t]*\\*([\"']?)([^\s\"'<>{}()\[\]$*,;&\\]{8,})(\\*[\"']|[ \t]*(?:\r?\n|$)|.)"
)
_PLACEHOLDER = re.compile(
    r"[A-Z_]+|your.*|(example|placeholder|redacted|changeme|undefined|required|optional).*"
)
"""Values that stand for a secret: a variable's name, or a word that says so."""
_PAGING = re.compile(r"next|page|cursor|continu|sync|csrf|xsrf|max_|tokens", re.IGNORECASE)
"""Names of tokens that open nothing: of pages, of forms, and counts of a model's tokens."""
_LEAST_WORD = 12


def _is_value(match: Any) -> bool:
    """Whether a name and what follows it are a secret: in quotes, or with a digit, or long and the whole
    rest of its line; not what only stands for one."""
    name, sign, quote, value, after = match.groups()
    if (
        _PLACEHOLDER.fullmatch(value)
        or "://" in value
        or (_PAGING.search(name) and "pass" not in name.lower())
    ):
        return False
    if quote:
        return True
    if any(map(str.isdigit, value)):
        return not value.isdigit() or "pass" in name.lower()
    ends = after.strip() in ("", ";")
    plain = value.replace("-", "").replace("_", "").isalpha()
    if sign == "=" and name.isupper():
        return ends
    return ends and not (plain and (after == ";" or len(value) < _LEAST_WORD)) and not _CODE.search(value)


_CODE = re.compile(r"[.]\w*$|^\w+\.\w|::|^[A-Z][a-z]+[A-Z]")
"""What is code rather than a value: a member, a path, the name of a class."""


@dataclass(frozen=True, slots=True)
class SecretText:
    """Texts in which ``pattern`` is found look like ``reason``, where ``accepts`` says so of a match. Each
    has one of ``needles``, in lower case, which are looked for first."""

    pattern: str
    reason: str
    needles: tuple[str, ...]
    accepts: Callable[[Any], bool] = _always


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
    SecretText(r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", "a private key", ("age-secret-key",)),
    SecretText(
        r"\b(dop_v1_|shpat_|shpss_|glc_|xapp-|lin_api_|sq0csp-|PMAK-)[A-Za-z0-9_-]{20,}",
        "an API key",
        ("dop_v1_", "shpat_", "shpss_", "glc_", "xapp-", "lin_api_", "sq0csp-", "pmak-"),
    ),
    SecretText(
        r"(?i)\bauthorization\\*[\"']?\s*[:=]\s*\\*[\"']?(bearer|basic|token)\s+[A-Za-z0-9+/=._~-]{12,}",
        "an Authorization header",
        ("authorization",),
    ),
    SecretText(
        r"(?i)<[a-z0-9_.:-]*(?:password|passwd|secret|token|apikey|api-key|api_key)>[^<>\s$]{8,}</",
        "an element with the name and the value of a secret",
        ("password>", "passwd>", "secret>", "token>", "apikey>", "api-key>", "api_key>"),
    ),
    SecretText(
        r"(?i)\b(login|machine)\s+\S+\s+(login\s+\S+\s+)?password\s+[^\s<>{}$*]{6,}",
        "a login with its password",
        ("password",),
    ),
    SecretText(
        _NAMED,
        "a variable with the name and the value of a secret",
        (
            *("secret", "token", "password", "passwd", "passphrase", "pwd", "apikey", "api_key", "api-key"),
            *("privatekey", "private_key", "private-key", "accesskey", "access_key", "access-key", "_auth"),
            *("accountkey", "account_key", "account-key", "signing", "encryption", "credential"),
        ),
        _is_value,
    ),
)
"""Texts that are secrets by their form."""

_FILES = "path file filename file_name file_path filepath notebook_path uri source src from paths files glob"
_FILE_KEYS = frozenset(_FILES.split())
_NEEDLES = tuple(dict.fromkeys(needle for each in SECRET_NAMES for needle in each.needles))
_COMMAND_KEYS = frozenset(["command", "cmd", "script", "commands", "shell", "code"])
_WORDS = re.compile(r"[^\s'\"`;&|<>(){}=,$]+")
_LONGEST = 65_536
_LONGEST_PATH = 4_096
_MOST = 5


def secret_names(arguments: Mapping[str, Any] | None) -> tuple[str, ...]:
    """``.env (environment variables, usually with keys)`` for each file that ``arguments`` name and that
    looks like one with secrets: the first five, and how many more there are, with a digest that tells them
    apart. A command that is too long to be looked through counts as one."""
    return _first(_named(arguments or {}))


def _named(arguments: Mapping[str, Any]) -> Iterator[str]:
    for key, text in _named_strings(arguments):
        if key in _COMMAND_KEYS and len(text) > _LONGEST:
            yield f"a command that is too long to be looked through ({len(text):,} characters)"
        if key in _COMMAND_KEYS:
            for each in SECRET_COMMANDS:
                if re.search(each.pattern, text[:_LONGEST]):
                    yield f"a command that {each.reason}"
        yield from _told(_paths_in(key, text[:_LONGEST]))


def secret_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """``a private key``, … for each kind of secret that is found in ``texts``. Takes linear time."""
    found: dict[str, None] = {}
    for text in texts:
        lowered = text.lower()
        for each in SECRET_TEXTS:
            if each.reason in found or not any(needle in lowered for needle in each.needles):
                continue
            if any(map(each.accepts, _pattern(each.pattern).finditer(text))):
                found[each.reason] = None
    return tuple(found)


def secret_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """As ``secret_names``, for lines of a search's result: ``path:number:text``, or a path alone."""
    return _first(_told(re.split(r"[:-]\d+[:-]", line[:4_096], maxsplit=1)[0] for line in lines))


def path_readings(text: str) -> Iterator[str]:
    """``text`` as a path: as it is written, and as tools of our workspaces read one in double quotes."""
    yield text
    with suppress(ValueError):  # our tools do not read it
        if (path := unquoted(text)) != text:
            yield path.replace("\n", "\ufffd")  # it is one path, not lines of a text


def _told(paths: Iterable[str]) -> Iterator[str]:
    for path in dict.fromkeys(paths):
        told = (f"{each[-120:]} ({why})" for each in path_readings(path) if (why := _reason(each)))
        yield from list(told)[:1]


def _first(found: Iterable[str]) -> tuple[str, ...]:
    """The first of ``found``, each once; of the rest how many they are, and a digest of them."""
    every = list(dict.fromkeys(found))
    rest = every[_MOST:]
    if not rest:
        return tuple(every)
    digest = sha256("\n".join(sorted(rest)).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return (*every[:_MOST], f"{len(rest)} more files of that sort ({digest})")


def strings_of(value: Any) -> Iterator[str]:
    """Every text in a JSON value, in order, keys of objects left out."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            stack.extend(reversed([*cast("Mapping[str, Any]", each).values()]))
        elif isinstance(each, list | tuple):
            stack.extend(reversed(cast("list[Any]", each)))


def assigned_strings(value: Any) -> Iterator[str]:
    """``"key": "text"`` for every text in a JSON value that is right below a key: the key may be what shows
    that the text is a secret."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, Mapping):
            members = cast("Mapping[str, Any]", each)
            stack.extend(members.values())
            yield from (f'"{key}": "{text}"' for key, text in members.items() if isinstance(text, str))
        elif isinstance(each, list | tuple):
            stack.extend(cast("list[Any]", each))


def _named_strings(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    stack: list[tuple[str, Any]] = list(reversed([*arguments.items()]))
    while stack:
        key, value = stack.pop()
        if isinstance(value, str):
            yield key.lower(), value
        elif isinstance(value, Mapping):
            stack.extend(reversed([*cast("Mapping[str, Any]", value).items()]))
        elif isinstance(value, list | tuple):
            stack.extend((key, each) for each in reversed(cast("list[Any]", value)))


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
    names = [whole]
    while len(names) < _MOST_COPIES and (copied := _COPY.sub("", names[-1])) != names[-1]:
        names.append(copied)
    if not any(needle in whole for needle in _NEEDLES) or any(map(_HARMLESS.search, names)):
        return ""
    for each in SECRET_NAMES:
        if any(needle in whole for needle in each.needles):
            found = _pattern(each.pattern)
            if any(found.search(name) for name in names):
                return each.reason
    return ""


@cache
def _pattern(source: str) -> Any:
    from toolspan_server.common.re2_patterns import compiled

    return compiled(source)
