"""Bytes as Base64 text in a config."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from ..problems import Fault, Faulty
from .constraints import AfterValidator


def _base64(written: str) -> str:
    try:
        return base64.b64encode(base64.b64decode("".join(written.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        raise Faulty(
            Fault((), "is not Base64", "encode the bytes, or name them as a file: file: logo.png")
        ) from None


Base64 = Annotated[str, AfterValidator(_base64)]
