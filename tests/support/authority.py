"""A whole authorization server on loopback, and an MCP server that takes its tokens, both over real HTTP.

A test changes what either does: ``metadata`` and ``resource_metadata`` are merged into the documents, and any
route can be replaced. ``asked`` holds every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.issuer import Issuer


@dataclass(frozen=True)
class Asked:
    """A request: its method, path, query or form, and headers in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int = 200
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Site:
    """Answers each path by its function in ``routes``."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self.routes: dict[str, Callable[[Asked], Answer]] = {}

    def paths(self, method: str = "") -> list[str]:
        """The paths that were asked for, in order."""
        return [each.path for each in self.asked if each.method == method or not method]

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        route = self.routes.get(asked.path)
        return Answer(404) if route is None else route(asked)


class Authority(Site):
    """The authorization server. It agrees to everything that is well-formed."""

    def __init__(self) -> None:
        super().__init__()
        self.metadata: dict[str, Any] = {}
        self.callback: dict[str, str | None] = {}
        """Parameters of the browser's way back, instead of the right ones; ``None`` leaves one out."""
        self.expires_in: int | None = 3_600
        self.rotates = True
        self.pending = 0
        """How often a device's code is not approved yet."""
        self.device_scope = ""
        self.assertions: set[str] = set()
        """The signed tokens that stand for somebody."""
        self.clients: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.refresh: dict[str, dict[str, str]] = {}
        self.live: dict[str, dict[str, str]] = {}
        """The access tokens that are good, with their ``scope`` and ``resource``."""
        self.routes = {
            "/.well-known/oauth-authorization-server": lambda _: Answer(data=self.document()),
            "/register": self.register,
            "/authorize": self.authorize,
            "/token": self.token,
            "/device": self.device,
            "/revoke": self.revoke,
            "/keys": lambda _: Answer(data=self.keys.documents["/keys"]),
        }

    def begin(self, url: str) -> None:
        self.url = url
        self.keys = Issuer(url)

    def document(self) -> dict[str, Any]:
        whole = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "device_authorization_endpoint": f"{self.url}/device",
            "revocation_endpoint": f"{self.url}/revoke",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return {key: value for key, value in whole.items() if value is not None}

    def register(self, asked: Asked) -> Answer:
        client_id = f"client-{len(self.clients) + 1}"
        self.clients[client_id] = asked.json
        return Answer(201, {**asked.json, "client_id": client_id})

    def authorize(self, asked: Asked) -> Answer:
        query = asked.query
        assert query["redirect_uri"] in self.clients[query["client_id"]]["redirect_uris"]
        code = secrets.token_hex(8)
        self.codes[code] = dict(query)
        back = {"code": code, "state": query["state"], "iss": self.url, **self.callback}
        shown = urlencode({key: value for key, value in back.items() if value is not None})
        return Answer(302, headers={"location": f"{query['redirect_uri']}?{shown}"})

    def token(self, asked: Asked) -> Answer:
        form = {"client_id": _basic_user(asked), **asked.form}
        match form["grant_type"]:
            case "authorization_code":
                known = self.codes.pop(form["code"], None)
                challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
                if known is None or known["code_challenge"] != challenge.rstrip(b"=").decode():
                    return Answer(400, {"error": "invalid_grant"})
                return self.granted(known.get("scope", ""), form.get("resource", ""), form["client_id"])
            case "refresh_token":
                known = self.refresh.get(form["refresh_token"])
                if known is None or known["client_id"] != form["client_id"]:
                    return Answer(400, {"error": "invalid_grant", "error_description": "it was revoked"})
                if self.rotates:
                    del self.refresh[form["refresh_token"]]
                return self.granted(known["scope"], known["resource"], known["client_id"])
            case "urn:ietf:params:oauth:grant-type:jwt-bearer":
                if form["assertion"] not in self.assertions:
                    return Answer(400, {"error": "invalid_grant", "error_description": "who is that?"})
                return self.granted(form.get("scope", ""), form["resource"], form["client_id"])
            case "client_credentials":
                return self.granted(form.get("scope", ""), form["resource"], form["client_id"])
            case _:
                self.pending -= 1
                if self.pending >= 0:
                    return Answer(400, {"error": "authorization_pending"})
                return self.granted(self.device_scope, form["resource"], form["client_id"])

    def granted(self, scope: str, resource: str, client_id: str) -> Answer:
        kept = {"scope": scope, "resource": resource, "client_id": client_id}
        access = self.keys.token(aud=resource, scope=scope, jti=secrets.token_hex(4))
        renewal = secrets.token_hex(8)
        self.live[access], self.refresh[renewal] = kept, kept
        data: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "refresh_token": renewal}
        data |= {"scope": scope} if scope else {}
        return Answer(data=data | ({} if self.expires_in is None else {"expires_in": self.expires_in}))

    def device(self, asked: Asked) -> Answer:
        self.device_scope = asked.form.get("scope", "")
        code = {"device_code": "device-secret", "user_code": "WDJB-MJHT", "expires_in": 600, "interval": 1}
        return Answer(data={**code, "verification_uri": f"{self.url}/go"})

    def revoke(self, asked: Asked) -> Answer:
        self.live.pop(asked.form["token"], None)
        self.refresh.pop(asked.form["token"], None)
        return Answer()


def _basic_user(asked: Asked) -> str:
    """The client that ``Authorization: Basic`` names; empty where there is none."""
    encoded = asked.headers.get("authorization", "").removeprefix("Basic ")
    return base64.b64decode(encoded).decode().partition(":")[0]


class Guarded(Site):
    """An MCP server (2026-07-28) whose tools ``read`` and ``write`` want ``scopes``."""

    def __init__(self, authority: Authority) -> None:
        super().__init__()
        self.authority = authority
        self.resource_metadata: dict[str, Any] = {}
        self.challenge = ""
        """The ``WWW-Authenticate`` of a 401, instead of the right one."""
        self.scopes = {"read": "notes:read", "write": "notes:read notes:write"}
        self.routes = {
            "/mcp": self.mcp,
            "/.well-known/oauth-protected-resource/mcp": lambda _: Answer(data=self.document()),
        }

    def document(self) -> dict[str, Any]:
        return {
            "resource": f"{self.url}/mcp",
            "authorization_servers": [self.authority.url],
            "scopes_supported": ["notes:read"],
            **self.resource_metadata,
        }

    def mcp(self, asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(405)
        message = asked.json
        known = self.authority.live.get(asked.headers.get("authorization", "").removeprefix("Bearer "))
        where = f'resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
        if known is None or known["resource"] != f"{self.url}/mcp":
            return Answer(401, headers={"www-authenticate": self.challenge or f"Bearer {where}"})
        tool = message.get("params", {}).get("name", "")
        wanted = self.scopes.get(tool, "") if message["method"] == "tools/call" else ""
        if set(wanted.split()) - set(known["scope"].split()):
            header = f'Bearer error="insufficient_scope", scope="{wanted.split()[-1]}", {where}'
            return Answer(403, headers={"www-authenticate": header})
        return Answer(data={"jsonrpc": "2.0", "id": message.get("id"), "result": _result(message)})


def _result(message: Mapping[str, Any]) -> dict[str, Any]:
    complete: dict[str, Any] = {"resultType": "complete"}
    cached = complete | {"ttlMs": 0, "cacheScope": "private"}
    match message["method"]:
        case "server/discover":
            return cached | {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        case "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "write")]
            return cached | {"tools": tools}
        case _:
            return complete | {"content": [{"type": "text", "text": "done"}]}


@contextmanager
def open_site(site: Site) -> Iterator[Site]:
    """``site`` on loopback, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            is_form = self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
            form = dict(parse_qsl(body.decode(), keep_blank_values=True)) if is_form else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = dict(parse_qsl(parts.query))
            answer = site.answer(Asked(self.command, parts.path, query, form, headers, body))
            data = b"" if answer.data is None else json.dumps(answer.data).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_DELETE = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    if isinstance(site, Authority):
        site.begin(site.url)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def signed_in_server() -> Iterator[tuple[Authority, Guarded]]:
    """An authority, and an MCP server that sends people there."""
    authority = Authority()
    guarded = Guarded(authority)
    with open_site(authority), open_site(guarded):
        yield authority, guarded


def past() -> float:
    """A moment that is over."""
    return time.time() - 60
