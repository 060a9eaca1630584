"""A config to start from: of mocks, of web APIs, of another server's tools."""

from __future__ import annotations

from ...files.yaml_text import block as yaml_block
from ._apis import api_source, http_tool, mock_tool
from ._described import Described, described, server_description
from ._document import Entry, config_text
from ._record import Calling, recorded, server_spec
from ._schema_file import SCHEMA, put_schema, put_schema_file

__all__ = [
    "SCHEMA",
    "Calling",
    "Described",
    "Entry",
    "api_source",
    "config_text",
    "described",
    "http_tool",
    "mock_tool",
    "put_schema",
    "put_schema_file",
    "recorded",
    "server_description",
    "server_spec",
    "yaml_block",
]
