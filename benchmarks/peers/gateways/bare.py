"""The least that can be called a gateway: an ASGI app on uvicorn that forwards what it gets, and no more.

``python bare.py PORT URL``
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

clients: list[httpx2.AsyncClient] = []


async def forward(request: Request) -> Response:
    body = await request.body()
    headers = {"content-type": "application/json"}
    outgoing = clients[0].build_request("POST", "/chat/completions", content=body, headers=headers)
    answer = await clients[0].send(outgoing, stream=True)
    kind = answer.headers["content-type"]
    if not kind.startswith("text/event-stream"):
        return Response(await answer.aread(), answer.status_code, media_type=kind)
    return StreamingResponse(answer.aiter_raw(), answer.status_code, media_type=kind)


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
    limits = httpx2.Limits(max_connections=1_000, max_keepalive_connections=1_000)
    async with httpx2.AsyncClient(base_url=sys.argv[2], limits=limits, timeout=60) as client:
        clients.append(client)
        yield


app = Starlette(routes=[Route("/v1/chat/completions", forward, methods=["POST"])], lifespan=lifespan)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")
