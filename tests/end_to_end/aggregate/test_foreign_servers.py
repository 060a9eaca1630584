"""Six servers that others wrote behind one endpoint, each listed and called by a client of either era."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.aggregates import ERAS, aggregate, connected, names
from tests.support.foreign_calls import first_turn, page, second_turn
from tests.support.foreign_servers import foreign_servers
from tests.support.served import http_server

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.node, pytest.mark.xdist_group("foreign")]


@pytest.mark.requirement("I15.4.34")
@pytest.mark.parametrize("mode", ERAS)
async def test_foreign_servers_are_listed_and_called_through_one_endpoint(tmp_path: Path, mode: str) -> None:
    servers = foreign_servers(tmp_path)
    config = aggregate(tmp_path, servers, {"approval": "never"})
    with page() as url, http_server(config) as served:
        async with connected(f"{served.url}/mcp", mode=mode) as client:
            listed = await names(client)
            assert {name.partition("_")[0] for name in listed} == set(servers)
            for server, tool, arguments, expected in [*first_turn(tmp_path, url), *second_turn(tmp_path)]:
                assert f"{server}_{tool}" in listed
                result = await client.call_tool(f"{server}_{tool}", arguments)
                whole = result.model_dump_json()
                assert expected in whole, f"{server} {tool}: {whole[:2000]}"
                assert result.is_error == (expected == "denied")
