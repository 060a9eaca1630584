"""Requests made by the API's own description find no answer that it does not describe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks as every

from tests.support.web_app import CONFIG, WebApp, web_app

pytestmark = pytest.mark.long

_STREAMS = "text/event-stream"
_LIMITS = "web: {requests_per_minute: 1000000}\n"


@pytest.mark.requirement("I15.1.16")
@pytest.mark.filterwarnings("ignore")
def test_no_request_gets_an_answer_that_is_not_described(tmp_path: Path) -> None:
    """Streams are left to their own tests: they do not end."""
    with web_app(tmp_path, config=CONFIG + _LIMITS) as app:
        document: dict[str, Any] = app.ask("GET", "/api/openapi.json").json
        there = _things(app)
        tried: list[str] = []
        for operation in _operations(document, app.url):
            tried.append(operation.label)

            @settings(
                max_examples=30,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy())
            def fits(case: Any) -> None:
                _lead_to(there, case)
                case.call_and_validate(
                    checks=[
                        every.not_a_server_error,
                        every.status_code_conformance,
                        every.content_type_conformance,
                        every.response_schema_conformance,
                    ]
                )

            fits()
        assert "POST /api/tools/call" in tried
        assert app.process.poll() is None
        assert "Traceback" not in app.errors.read_text()


def _things(app: WebApp) -> dict[str, str]:
    """The ids of what is there, by the beginning of its path."""
    server = app.ask("GET", "/api/servers").json["servers"][0]["name"]
    app.ask("POST", "/api/presets", {"name": "there", "enabled_tools": ["get_weather"]})
    return {
        "/api/conversations": app.ask("POST", "/api/conversations", {"model": "offline/keyword"}).json["id"],
        "/api/presets": "there",
        "/api/servers": server,
        "/api/tools": server,
    }


def _lead_to(there: dict[str, str], case: Any) -> None:
    """Let every other request be about something that is there, and not be the end of it."""
    place = next((each for each in there if case.operation.path.startswith(each)), None)
    if place is None or not case.path_parameters or case.operation.method.upper() == "DELETE":
        return
    first = next(iter(case.path_parameters))
    if len(str(case.path_parameters[first])) % 2:
        case.path_parameters[first] = there[place]
        if place == "/api/tools":
            case.path_parameters["name"] = "get_weather"


def _operations(document: dict[str, Any], url: str) -> list[Any]:
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=url)
    found = [result.ok() for result in schema.get_all_operations()]
    return [each for each in found if _STREAMS not in str(each.definition.raw.get("responses", {}))]
