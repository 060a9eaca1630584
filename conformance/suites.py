"""What is run: which version of the suite, with which options, and which scenarios must be among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
)
SKILLS = ("sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest")
EXTENSIONS = (
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
)
HEADERS = ("http-header-validation", "http-custom-header-server-validation")


NOT_AGGREGATED = frozenset(SKILLS)
"""What an aggregate does not have: skills are an extension between a client and one server."""


@dataclass(frozen=True)
class Suite:
    """Scenarios of one version of the suite.

    ``title`` is for people; each of ``runs`` is one run's options; ``required`` are the scenarios that must
    not be left out. ``role`` is what of ours is tested.
    """

    title: str
    package: str
    runs: tuple[tuple[str, ...], ...]
    required: tuple[str, ...]
    role: Literal["server", "client"] = "server"


SUITES = (
    Suite(
        "0.1.16, active suite",
        "@modelcontextprotocol/conformance@0.1.16",
        (("--suite", "active"),),
        ("server-initialize", "tools-call-sampling", "tools-call-elicitation", "resources-subscribe"),
    ),
    Suite(
        "0.2.0-alpha.12, requirements of 2025-11-25",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        (("--requirements", "2025-11-25"),),
        ("server-initialize", "server-session-lifecycle", "server-sse-polling", "json-schema-2020-12"),
    ),
    Suite(
        "0.2.0-alpha.12, requirements of 2026-07-28",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        (("--requirements", "2026-07-28"),),
        ("server-stateless", "json-schema-2020-12", *TASKS, *HEADERS),
    ),
    Suite(
        "0.2.0-alpha.12, the skills extension",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        tuple(("--scenario", name) for name in SKILLS),
        SKILLS,
    ),
    Suite(
        "0.1.16, the client",
        "@modelcontextprotocol/conformance@0.1.16",
        (("--suite", "all"),),
        ("initialize", "sse-retry", "auth/scope-step-up", "auth/cross-app-access-complete-flow"),
        "client",
    ),
    Suite(
        "0.2.0-alpha.12, the client by 2025-11-25",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        (("--requirements", "2025-11-25"),),
        ("initialize", "sse-retry", "auth/pre-registration", *EXTENSIONS),
        "client",
    ),
    Suite(
        "0.2.0-alpha.12, the client by 2026-07-28",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        (("--requirements", "2026-07-28"),),
        ("request-metadata", "sep-2322-client-request-state", "auth/iss-wrong-issuer", *EXTENSIONS),
        "client",
    ),
)


def of_aggregate() -> list[Suite]:
    """The suites of the server without what an aggregate does not have."""
    kept = (
        replace(suite, required=tuple(each for each in suite.required if each not in NOT_AGGREGATED))
        for suite in SUITES
        if suite.role == "server"
    )
    return [suite for suite in kept if suite.required]
