"""``/api/validation``: what is proven of models, and runs that prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.to_thread

from toolspan_server.errors import ConfigError

from ..app.streams import event_stream, last_event_id
from ..endpoint import Call, Endpoint
from ..pages import Page, page_of
from ..problems import Problem
from ._validation_models import (
    BadgeQuery,
    Chosen,
    Compared,
    Comparison,
    History,
    Matrix,
    RunInfo,
    RunList,
    RunRequest,
    StoredQuery,
    StoredRuns,
    SuiteInfo,
    SuiteList,
    TrialList,
    TrialsQuery,
)

if TYPE_CHECKING:
    from sse_starlette import EventSourceResponse
    from starlette.responses import Response

    from ...validation import Suite
    from ..validation.runs import ValidationRun

_RUNS = "/api/validation/runs"


async def matrix(call: Call) -> dict[str, Any]:
    """The last record of each model and suite."""
    from ..validation import records

    return await anyio.to_thread.run_sync(records.matrix, call.app.config)


async def history(call: Call) -> dict[str, Any]:
    """Every record of a model and suite."""
    from ..validation import records

    asked = call.asked(Chosen)
    models, suites = [[each] if each else [] for each in (asked.model, asked.suite)]
    found = await anyio.to_thread.run_sync(records.history, call.app.config, models, suites)
    return {"records": found}


async def trials(call: Call) -> dict[str, Any]:
    """Trials with their transcripts."""
    from ...validation.storage.selections.selection import Selection
    from ..validation import records

    asked = call.asked(TrialsQuery)
    models, suites = [(each,) if each else () for each in (asked.model, asked.suite)]
    selection, skip = Selection(models, suites, run=asked.run or ""), int(asked.cursor or 0)
    found, more = await anyio.to_thread.run_sync(
        records.trials, call.app.config, selection, asked.scenario, skip, asked.limit
    )
    return {"trials": found, "next_cursor": str(skip + len(found)) if more else None}


async def stored(call: Call) -> dict[str, Any]:
    """The last runs of the store."""
    from ..validation import records

    most = call.asked(StoredQuery).limit
    return {"runs": await anyio.to_thread.run_sync(records.stored_runs, call.app.config, most)}


async def compare(call: Call) -> dict[str, Any]:
    """Two runs of the store."""
    from ..validation import records

    asked = call.asked(Compared)
    return await anyio.to_thread.run_sync(records.comparison, call.app.config, asked.before, asked.after)


async def badge(call: Call) -> Response:
    """A badge as SVG."""
    from starlette.responses import Response

    from ..validation import records

    asked = call.asked(BadgeQuery)
    svg = await anyio.to_thread.run_sync(records.badge_svg, call.app.config, asked.model, asked.suite)
    return Response(svg, media_type="image/svg+xml", headers={"Cache-Control": "no-cache"})


async def suites(call: Call) -> SuiteList:
    """The suites beside the config."""
    from ..validation.suites import found_suites

    found = await anyio.to_thread.run_sync(found_suites, call.app.config)
    page, cursor = page_of(found, call.asked(Page), key=lambda each: (each.name,))
    listed = [
        SuiteInfo(
            name=each.name,
            scenarios=len(each.suite.scenarios) if each.suite else 0,
            problems=list(each.problems),
        )
        for each in page
    ]
    return SuiteList(suites=listed, next_cursor=cursor)


async def started(call: Call) -> RunInfo:
    """Begin a run in the background."""
    from ...validation import RunLimits
    from ..validation.runs import ValidationRuns, Wanted

    asked = call.values(RunRequest)
    chosen = await anyio.to_thread.run_sync(_chosen, call, asked.suites)
    limits = RunLimits(asked.max_cost, asked.max_time_s)
    wanted = Wanted(chosen, tuple(asked.models), tuple(asked.modes), asked.trials, limits)
    return _info(call.app.of(ValidationRuns).start(call.principal, wanted))


async def runs(call: Call) -> RunList:
    """The caller's runs of this process."""
    from ..validation.runs import ValidationRuns

    own = call.app.of(ValidationRuns).of(call.principal)
    ordered = sorted(own, key=lambda run: (run.started, run.id))
    page, cursor = page_of(ordered, call.asked(Page), key=lambda run: (run.started, run.id))
    return RunList(runs=[_info(run) for run in page], next_cursor=cursor)


async def run(call: Call) -> RunInfo:
    """One run."""
    return _info(_run(call))


async def events(call: Call) -> EventSourceResponse:
    """The events of a run, as they come."""
    return event_stream(_run(call).following(last_event_id(call.request) or 0))


async def cancelled(call: Call) -> RunInfo:
    """Begin no more trials."""
    from ..validation.runs import ValidationRuns

    found = _run(call)
    call.app.of(ValidationRuns).cancel(found)
    return _info(found)


def _run(call: Call) -> ValidationRun:
    from ..validation.runs import ValidationRuns

    return call.app.of(ValidationRuns).get(call.principal, call.path["id"])


def _info(run: ValidationRun) -> RunInfo:
    return RunInfo(
        id=run.id,
        run=run.run or None,
        state=run.state,
        suites=[suite.name for suite in run.wanted.suites],
        models=list(run.models),
        started=run.started,
        ended=run.ended or None,
        total=run.total,
        finished=run.finished,
        successes=run.successes,
        errors=run.errors,
        problem=run.problem or None,
        report=run.report,
    )


def _chosen(call: Call, names: list[str]) -> tuple[Suite, ...]:
    """The suites of ``names``, each of which the connected tools can meet. Raises ``Problem``."""
    from ...validation import check_tools
    from ..validation.suites import found_suites, problems_of

    known, tools = {each.name: each for each in found_suites(call.app.config)}, _tools(call)
    chosen: list[Suite] = []
    for name in dict.fromkeys(names):
        found = known.get(name)
        if found is None:
            raise Problem(422, f"there is no suite {name!r} (there are: {', '.join(known)})")
        if found.suite is None:
            raise Problem(422, f"the suite {name!r} cannot be loaded: {'; '.join(found.problems)}")
        try:
            if found.file is not None:
                check_tools(found.file, found.suite, tools)
        except ConfigError as error:
            assert found.file is not None
            raise Problem(422, "; ".join(problems_of(error, found.file))) from None
        if missing := found.suite.missing_tools(tools):
            raise Problem(422, f"the suite {name!r} names tools that no server offers: {', '.join(missing)}")
        chosen.append(found.suite)
    return tuple(chosen)


def _tools(call: Call) -> tuple[Any, ...]:
    return call.app.live.current.session.toolbox.tools


_TAG = "validation"
_FROM_STORE = (404, 422, 503)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/validation/matrix",
        "The last record of each model and suite.",
        matrix,
        _TAG,
        audience="shared",
        answer=Matrix,
        problems=(503,),
    ),
    Endpoint(
        "GET",
        "/api/validation/history",
        "Every record of models and suites.",
        history,
        _TAG,
        audience="operator",
        query=Chosen,
        answer=History,
        problems=(503,),
    ),
    Endpoint(
        "GET",
        "/api/validation/trials",
        "Trials with their transcripts.",
        trials,
        _TAG,
        audience="operator",
        query=TrialsQuery,
        answer=TrialList,
        problems=(503,),
    ),
    Endpoint(
        "GET",
        "/api/validation/stored-runs",
        "The last runs of the store, whoever made them.",
        stored,
        _TAG,
        audience="operator",
        query=StoredQuery,
        answer=StoredRuns,
        problems=(503,),
    ),
    Endpoint(
        "GET",
        "/api/validation/compare",
        "Compare two runs of the store.",
        compare,
        _TAG,
        audience="operator",
        query=Compared,
        answer=Comparison,
        problems=_FROM_STORE,
    ),
    Endpoint(
        "GET",
        "/api/validation/badge",
        "The badge of a model and suite, as SVG.",
        badge,
        _TAG,
        audience="shared",
        query=BadgeQuery,
        problems=_FROM_STORE,
        media_type="image/svg+xml",
    ),
    Endpoint(
        "GET",
        "/api/validation/suites",
        "The suites that can be run.",
        suites,
        _TAG,
        audience="shared",
        query=Page,
        answer=SuiteList,
        problems=(400,),
    ),
    Endpoint(
        "GET",
        _RUNS,
        "Your runs of this process.",
        runs,
        _TAG,
        audience="own",
        query=Page,
        answer=RunList,
        problems=(400,),
    ),
    Endpoint(
        "POST",
        _RUNS,
        "Start a run in the background.",
        started,
        _TAG,
        audience="own",
        body=RunRequest,
        answer=RunInfo,
        status=202,
        problems=(403, 422, 429),
        starts=True,
    ),
    Endpoint(
        "GET",
        _RUNS + "/{id}",
        "A run and its report.",
        run,
        _TAG,
        audience="own",
        answer=RunInfo,
        problems=(404,),
    ),
    Endpoint(
        "GET",
        _RUNS + "/{id}/events",
        "Follow a run.",
        events,
        _TAG,
        audience="own",
        stream=True,
        problems=(400, 404),
    ),
    Endpoint(
        "POST",
        _RUNS + "/{id}/cancel",
        "Begin no more trials; asked again, give up those that run.",
        cancelled,
        _TAG,
        audience="own",
        answer=RunInfo,
        status=202,
        problems=(404,),
        starts=True,
    ),
)
