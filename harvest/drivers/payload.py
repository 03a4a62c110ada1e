"""JSON as it is sent to a system: real characters, and escapes where there are none."""

from __future__ import annotations

import json

__all__ = ["json_bytes"]


def json_bytes(value: object) -> bytes:
    """`value` as JSON in UTF-8. What a system said before is sent back to it, and if that held half a character (a
    lone surrogate), which UTF-8 cannot carry, the whole is written with JSON's escapes instead.
    """
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
