"""Batch services that stand on loopback: each keeps what it was given, refuses what the real one would
refuse, and answers as ``Batches`` was told: an answer, an error or nothing for each, in an order of its own.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_bytes
from importlib import import_module
from typing import Any

from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent
from tests.support.provider_rules.chat_rows import rules_of

KEY = "sk-batch-secret"
NOT_FOUND = Sent({"error": {"message": "no such thing", "code": 404}}, status=404)


@dataclass(frozen=True)
class Said:
    """An answer of the model: its text, and calls as in ``tests.support.wires``."""

    text: str = ""
    calls: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A request that met an error of this HTTP status."""

    status: int
    kind: str
    message: str


Answer = Said | Failed | None


class Batches(FakeProvider):
    """A batch service. ``states`` are what the batch says of itself, the last one from then on; ``lost`` is
    how many requests to targets that fit ``losing`` get no answer, though they are carried out, and ``busy``
    how many posts are turned away. A service's words for a batch: ``running``, and of one
    that was cancelled first ``cancelling``, then ``over``; ``too_late`` counts those that had ended before.
    """

    running: tuple[str, ...] = ("in_progress", "validating")
    cancelling: tuple[str, ...] = ("cancelling",)
    over = "cancelled"

    def __init__(self, answers: Sequence[Answer], states: Sequence[str]) -> None:
        super().__init__(lambda _: "", [])
        self.losing, self.lost, self.busy, self.too_late = "", 0, 0, 0
        self.requests: list[dict[str, Any]] = []
        self._answers, self._states = list(answers), list(states)

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if self.busy and request.method == "POST":
            self.busy -= 1
            return Sent({"error": {"type": "rate_limit_error", "message": "Too many batches"}}, status=429)
        try:
            assert KEY in "".join(request.headers.values()) and KEY not in request.target
            sent = self._route(request)
        except (AssertionError, KeyError, ValueError) as problem:
            self.refused.append(f"{request.method} {request.target}: {problem!r}")
            return Sent({"error": {"message": str(problem)}}, status=400)
        if self.lost and self.losing and re.search(self.losing, request.target):
            self.lost -= 1
            return Sent(hang_up=True)
        return sent

    @abstractmethod
    def _route(self, request: Received) -> Sent: ...

    def _cancelled(self) -> Sent:
        if self._states[0] not in self.running:
            self.too_late += 1
            return Sent({"error": {"message": "It has ended", "code": 400}}, status=400)
        self._states = [*self.cancelling, self.over]
        return Sent({"id": "the batch"})

    def _state(self) -> str:
        return self._states.pop(0) if len(self._states) > 1 else self._states[0]


def _wire(name: str) -> Any:
    return import_module(f"tests.support.wires.{name}")


def _rules(name: str) -> Any:
    return import_module(f"tests.support.provider_rules.{name}")


class OpenAIBatches(Batches):
    """``/v1/files`` and ``/v1/batches``."""

    _endpoint = ""
    metadata: dict[str, str] | None = None
    """That of the batch that was created; its list has it on the second page."""

    @override
    def _route(self, request: Received) -> Sent:
        match request.method, request.target:
            case "POST", "/v1/files":
                self._upload(request)
                return Sent({"id": "file-1", "object": "file", "purpose": "batch"})
            case "POST", "/v1/batches":
                assert request.headers["content-type"] == "application/json"
                assert request.body.keys() == {
                    "input_file_id", "endpoint", "completion_window", "metadata",
                }  # fmt: skip
                self.metadata = request.body["metadata"]
                assert len(self.metadata) == 1 and all(len(mark) <= 512 for mark in self.metadata.values())
                assert (request.body["input_file_id"], request.body["completion_window"]) == ("file-1", "24h")
                assert request.body["endpoint"] == self._endpoint, "the batch's endpoint is that of its lines"
                return Sent({"id": "batch_1", "object": "batch", "status": "validating"})
            case "GET", "/v1/batches?limit=100":
                other = {"id": "batch_0", "object": "batch", "metadata": None}
                return Sent({"object": "list", "data": [other], "has_more": self.metadata is not None})
            case "GET", "/v1/batches?limit=100&after=batch_0":
                listed = {"id": "batch_1", "object": "batch", "metadata": self.metadata}
                return Sent({"object": "list", "data": [listed], "has_more": False})
            case "GET", "/v1/batches/batch_1":
                return Sent(self._batch())
            case "POST", "/v1/batches/batch_1/cancel":
                return self._cancelled()
            case "GET", "/v1/files/file-out/content":
                return Sent(self._lines(failed=False), headers={"content-type": "application/jsonl"})
            case "GET", "/v1/files/file-err/content":
                return Sent(self._lines(failed=True), headers={"content-type": "application/jsonl"})
            case _:
                return NOT_FOUND

    def _upload(self, request: Received) -> None:
        kind = request.headers["content-type"]
        form = message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + request.content)
        fields: dict[Any, Any] = {}
        for field in form.get_payload():
            assert not isinstance(field, str)
            name = field.get_param("name", header="content-disposition")  # type: ignore[union-attr]
            fields[name] = field.get_payload(decode=True)  # type: ignore[union-attr]
        assert fields.keys() == {"purpose", "file"} and fields["purpose"] == b"batch"
        self.requests = [json.loads(line) for line in fields["file"].splitlines()]
        ids = [line["custom_id"] for line in self.requests]
        assert len(set(ids)) == len(ids), "ids are unique"
        assert len({line["body"]["model"] for line in self.requests}) == 1, "one model a file"
        (self._endpoint,) = {line["url"] for line in self.requests}
        for line in self.requests:
            assert line.keys() == {"custom_id", "method", "url", "body"} and line["method"] == "POST"
            assert "stream" not in line["body"]
            row = (rules_of("openai"),) if self._name() == "openai" else ()
            _rules(self._name()).check_request(line["body"], *row)

    def _name(self) -> str:
        return {"/v1/chat/completions": "openai", "/v1/responses": "openai_responses"}[self._endpoint]

    def _batch(self) -> dict[str, Any]:
        state = self._state()
        done = state in ("completed", "expired", "cancelled")
        faults = [{"code": "invalid", "line": 1, "message": "Line 1 is no JSON", "param": None}]
        counts = [isinstance(answer, kind) for kind in (Said, Failed) for answer in self._answers]
        half = len(self._answers)
        return {
            "id": "batch_1",
            "status": state,
            "errors": {"object": "list", "data": faults} if state == "failed" else None,
            "output_file_id": "file-out" if done else None,
            "error_file_id": "file-err" if done and any(counts[half:]) else None,
            "request_counts": {"total": half, "completed": sum(counts[:half]), "failed": sum(counts[half:])},
        }

    def _lines(self, *, failed: bool) -> bytes:
        lines: list[str] = []
        for request, answer in reversed(list(zip(self.requests, self._answers, strict=True))):
            if isinstance(answer, Failed) is failed and answer is not None:
                lines.append(json.dumps({"id": "b", "custom_id": request["custom_id"], **self._line(answer)}))
        return "\n".join(lines).encode() + b"\n"

    def _line(self, answer: Said | Failed) -> dict[str, Any]:
        wire = _wire(self._name())
        if isinstance(answer, Said):
            body = wire.answer(answer.text, answer.calls)
            return {"response": {"status_code": 200, "request_id": "q", "body": body}, "error": None}
        if not answer.status:
            return {"response": None, "error": {"code": answer.kind, "message": answer.message}}
        body = json.loads(wire.error(answer.message, answer.kind))
        return {"response": {"status_code": answer.status, "body": body}, "error": None}


class AnthropicBatches(Batches):
    """``/v1/messages/batches``."""

    cancelling = ("canceling",)
    over = "canceled"

    @override
    def _route(self, request: Received) -> Sent:
        assert request.headers["anthropic-version"] == "2023-06-01"
        match request.method, request.target:
            case "POST", "/v1/messages/batches":
                assert request.body.keys() == {"requests"}
                self.requests = request.body["requests"]
                for each in self.requests:
                    assert each.keys() == {"custom_id", "params"} and "stream" not in each["params"]
                    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each["custom_id"])
                    _rules("anthropic").check_request(each["params"])
                assert len({each["custom_id"] for each in self.requests}) == len(self.requests)
                return Sent({"id": "msgbatch_1", "type": "message_batch", "processing_status": "in_progress"})
            case "GET", "/v1/messages/batches/msgbatch_1":
                return Sent(self._batch())
            case "POST", "/v1/messages/batches/msgbatch_1/cancel":
                return self._cancelled()
            case "GET", "/v1/messages/batches/msgbatch_1/results":
                return Sent(self._results(), headers={"content-type": "application/x-jsonl"})
            case _:
                return NOT_FOUND

    def _batch(self) -> dict[str, Any]:
        state = self._state()
        over = state not in ("in_progress", "canceling")
        kinds = {"succeeded": Said, "errored": Failed, state: type(None)}
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if over:
            counts |= {
                name: sum(type(each) is kind for each in self._answers)
                for name, kind in kinds.items()
                if name != "ended"
            }
        else:
            counts["processing"] = len(self._answers)
        return {
            "id": "msgbatch_1",
            "type": "message_batch",
            "processing_status": "ended" if over else state,
            "request_counts": counts,
            "results_url": "https://elsewhere.test/steals-keys" if over else None,
        }

    def _results(self) -> bytes:
        lines: list[str] = []
        for request, answer in reversed(list(zip(self.requests, self._answers, strict=True))):
            lines.append(json.dumps({"custom_id": request["custom_id"], "result": self._result(answer)}))
        return "\n".join(lines).encode()

    def _result(self, answer: Answer) -> dict[str, Any]:
        match answer:
            case Said():
                return {"type": "succeeded", "message": _wire("anthropic").answer(answer.text, answer.calls)}
            case Failed():
                error = json.loads(_wire("anthropic").error(answer.message, answer.kind))
                return {"type": "errored", "error": error}
            case None:
                return {"type": self._states[-1]}


class GeminiBatches(Batches):
    """``models/M:batchGenerateContent`` and ``batches/ID``; ``named``: with the metadata of the requests."""

    named = True
    shown = ""
    running = ("RUNNING",)
    cancelling = ("RUNNING",)
    over = "CANCELLED"

    @override
    def _route(self, request: Received) -> Sent:
        match request.method, request.target:
            case "POST", "/v1beta/models/m:batchGenerateContent":
                batch = request.body["batch"]
                assert request.body.keys() == {"batch"} and batch.keys() == {"displayName", "inputConfig"}
                self.shown = batch["displayName"]
                assert self.shown and batch["inputConfig"].keys() == {"requests"}
                self.requests = batch["inputConfig"]["requests"]["requests"]
                for each in self.requests:
                    assert each.keys() == {"request", "metadata"}
                    _rules("gemini").check_request(each["request"])
                return Sent({"name": "batches/b1", "metadata": {"state": "BATCH_STATE_PENDING"}})
            case "POST", "/v1beta/batches/b1:cancel":
                return self._cancelled()
            case "GET", "/v1beta/batches?pageSize=100":
                return Sent({"operations": [], "nextPageToken": "p 2"} if self.shown else {})
            case "GET", "/v1beta/batches?pageSize=100&pageToken=p%202":
                listed = {"name": "batches/b1", "metadata": {"displayName": self.shown}}
                return Sent({"operations": [{"name": "batches/b0"}, listed]})
            case "GET", "/v1beta/batches/b1":
                return Sent(self._operation())
            case _:
                return NOT_FOUND

    def _operation(self) -> dict[str, Any]:
        state = self._state()
        stats = {"requestCount": str(len(self._answers))}
        for name, kind in (("successfulRequestCount", Said), ("failedRequestCount", Failed)):
            stats[name] = str(sum(isinstance(answer, kind) for answer in self._answers))
        metadata = {"state": f"BATCH_STATE_{state}", "batchStats": stats}
        if state == "FAILED":
            return {
                "name": "batches/b1",
                "metadata": metadata,
                "done": True,
                "error": {"code": 13, "message": "No"},
            }
        if state != "SUCCEEDED":
            return {"name": "batches/b1", "metadata": metadata}
        pairs = zip(self.requests, self._answers, strict=True)
        given = [self._response(request, answer) for request, answer in pairs if answer is not None]
        output = {"inlinedResponses": {"inlinedResponses": given}}
        return {"name": "batches/b1", "metadata": metadata, "done": True, "response": output}

    def _response(self, request: dict[str, Any], answer: Said | Failed) -> dict[str, Any]:
        named = {"metadata": request["metadata"]} if self.named else {}
        if isinstance(answer, Failed):
            return {**named, "error": {"code": answer.status, "message": answer.message}}
        return {**named, "response": _wire("gemini").answer(answer.text, answer.calls)}
