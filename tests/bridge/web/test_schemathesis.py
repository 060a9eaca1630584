"""Requests made by the API's own description find no answer that it does not describe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks as every

from tests.support.web_app import CONFIG, web_app

pytestmark = pytest.mark.long

_STREAMS = "text/event-stream"
_LIMITS = "web: {requests_per_minute: 1000000}\n"


@pytest.mark.requirement("I15.1.16")
@pytest.mark.filterwarnings("ignore")
def test_no_request_gets_an_answer_that_is_not_described(tmp_path: Path) -> None:
    """Streams are left to their own tests: they do not end."""
    with web_app(tmp_path, config=CONFIG + _LIMITS) as app:
        document: dict[str, Any] = app.ask("GET", "/api/openapi.json").json
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


def _operations(document: dict[str, Any], url: str) -> list[Any]:
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=url)
    found = [result.ok() for result in schema.get_all_operations()]
    return [each for each in found if _STREAMS not in str(each.definition.raw.get("responses", {}))]
