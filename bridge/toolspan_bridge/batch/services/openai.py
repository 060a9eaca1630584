"""OpenAI's batches: a file of requests, a batch over it, a file of answers and one of errors.

Source: openai 3.54.0, ``types/batch.py``, ``batch_create_params.py`` and ``file_create_params.py`` there:
up to 50,000 requests and 200 MB in a file, all for one model and one endpoint, Chat Completions or Responses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ...errors import ProviderError
from ...providers.wire.api import ProviderApi
from .contract import BatchStatus, Limits, Outcome, State, WireBody
from .exchanges import MOST_PAGES, asked_for, posted, result_lines, too_many
from .reading import count, json_object, name_of, objects, part, text

__all__ = ["LIMITS", "PRICE_SHARE", "cancel", "create", "find", "results", "status"]

LIMITS = Limits(50_000, 200_000_000)
PRICE_SHARE = 0.5
_MARK = "toolspan"
_STATES: dict[str, State] = {
    "cancelled": "cancelled",
    "completed": "ended",
    "expired": "expired",
    "failed": "failed",
}


async def create(provider: ProviderApi, model: str, bodies: Sequence[WireBody], mark: str) -> str:
    """The id of the new batch, whose metadata have ``mark``; the provider deletes the file after 30 days."""
    file, content_type = _form(b"\n".join(_lines(bodies)) + b"\n")
    sent = await provider.exchange("POST", "/files", file, content_type=content_type)
    file_id = text(json_object(sent, "the uploaded file").get("id"))
    if not file_id:
        raise ProviderError("the uploaded file has no id")
    wanted = {
        "input_file_id": file_id,
        "endpoint": f"/v1{bodies[0].path}",
        "completion_window": "24h",
        "metadata": {_MARK: mark},
    }
    return text((await posted(provider, "/batches", wanted)).get("id"))


async def find(provider: ProviderApi, mark: str) -> str:
    """As ``Service.find``: the list is read page by page, the newest first."""
    after = ""
    for _ in range(MOST_PAGES):
        page = await asked_for(provider, f"/batches?limit=100{after}")
        batches = objects(page.get("data"))
        for batch in batches:
            if part(batch, "metadata").get(_MARK) == mark:
                return text(batch.get("id"))
        last = text(batches[-1].get("id")) if batches else ""
        if not (page.get("has_more") and last):
            return ""
        after = f"&after={quote(last, safe='')}"
    raise too_many(provider.name)


async def status(provider: ProviderApi, batch_id: str, total: int) -> BatchStatus:
    """As ``Service.status``. A batch fails as a whole when its file is refused."""
    batch = await asked_for(provider, _of(batch_id))
    counts = part(batch, "request_counts")
    faults = [text(fault.get("message")) for fault in objects(part(batch, "errors").get("data"))]
    return BatchStatus(
        _STATES.get(text(batch.get("status")), "running"),
        total,
        count(counts.get("completed")),
        count(counts.get("failed")),
        "; ".join(filter(None, faults[:3])),
    )


async def results(provider: ProviderApi, batch_id: str, total: int) -> list[Outcome]:
    """As ``Service.results``."""
    batch = await asked_for(provider, _of(batch_id))
    found: list[Outcome] = []
    for key in ("output_file_id", "error_file_id"):
        if file_id := text(batch.get(key)):
            path = f"/files/{quote(file_id, safe='')}/content"
            found += await result_lines(provider, path, total, _outcome)
    return found


async def cancel(provider: ProviderApi, batch_id: str) -> None:
    """As ``Service.cancel``."""
    await provider.exchange("POST", f"{_of(batch_id)}/cancel")


def _of(batch_id: str) -> str:
    return f"/batches/{quote(batch_id, safe='')}"


def _outcome(line: dict[str, Any], place: int) -> Outcome:
    answer, error = part(line, "response"), part(line, "error")
    if answer:
        return Outcome(place, count(answer.get("status_code")), answer.get("body"))
    return Outcome(place, why=text(error.get("message")) or text(error.get("code")) or "no answer")


def _lines(bodies: Sequence[WireBody]) -> Iterator[bytes]:
    for place, each in enumerate(bodies):
        line = {"custom_id": name_of(place), "method": "POST", "url": f"/v1{each.path}", "body": each.body}
        yield json.dumps(line, separators=(",", ":")).encode()


def _form(lines: bytes) -> tuple[bytes, str]:
    """The file as a form with its purpose, and the form's content type. JSON in ASCII never holds the line
    that parts the fields, since that begins with a hyphen."""
    mark = f"toolspan-{hashlib.sha256(lines).hexdigest()[:32]}"
    purpose = f'--{mark}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    file = 'Content-Disposition: form-data; name="file"; filename="batch.jsonl"'
    head = f"{purpose}--{mark}\r\n{file}\r\nContent-Type: application/jsonl\r\n\r\n"
    form = head.encode() + lines + f"\r\n--{mark}--\r\n".encode()
    return form, f"multipart/form-data; boundary={mark}"
