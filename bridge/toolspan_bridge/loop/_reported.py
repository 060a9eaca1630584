"""What is reported of a call, as an event of the run."""

from __future__ import annotations

from ..client import (
    ElicitationAnswer,
    ElicitationRequest,
    SamplingAnswer,
    SamplingRequest,
)
from ..events import Event, Notice, SubagentEvent, ToolLog, ToolProgress
from ..messages import Usage
from ..toolbox.reports import (
    CallElicitation,
    CallElicited,
    CallLog,
    CallNotice,
    CallProgress,
    CallReport,
    CallSampled,
    CallSampling,
    SubagentReport,
)


def reported(report: CallReport, call_id: str, server: str, tool: str, iteration: int) -> Event:
    """The event of ``report`` about the call ``call_id`` of ``tool``."""
    match report:
        case CallProgress():
            of_call = report.progress, report.total, report.message
            return ToolProgress(call_id, server, tool, *of_call, iteration)
        case CallLog():
            text = f"{report.logger}: {report.text}" if report.logger else report.text
            return ToolLog(call_id, server, tool, report.level, text, iteration)
        case CallNotice():
            return Notice(report.text)
        case CallElicitation():
            return ElicitationRequest(call_id, tool, report.question, report.number, iteration)
        case CallElicited():
            return ElicitationAnswer(call_id, tool, report.answer, report.number, iteration)
        case CallSampling():
            return SamplingRequest(call_id, server, tool, report.params, report.number, iteration)
        case CallSampled():
            return _sampled(report, call_id, server, tool, iteration)
        case SubagentReport():
            return SubagentEvent(call_id, tool, report.agent, report.event, iteration)


def _sampled(report: CallSampled, call_id: str, server: str, tool: str, iteration: int) -> SamplingAnswer:
    done = report.sampled
    return SamplingAnswer(
        call_id,
        server,
        tool,
        report.number,
        iteration,
        report.result,
        "" if done is None else done.model,
        "" if done is None else done.provider,
        Usage() if done is None else done.usage,
        report.refused,
    )
