"""JSON as it is sent to a system: real characters, and escapes where there are none."""

import json


def json_bytes(value: object) -> bytes:
    """`value` as JSON in UTF-8; with JSON's escapes for every character beyond ASCII if the value holds half a
    character (a lone surrogate), which UTF-8 cannot carry. A system may have said one, and what it said is sent back to
    it.
    """
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
