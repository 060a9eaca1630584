"""``python -m toolspan_server.config`` prints the JSON Schema of the config file."""

from __future__ import annotations

import sys

from .published_schema import config_schema_text

if __name__ == "__main__":
    sys.stdout.write(config_schema_text())
