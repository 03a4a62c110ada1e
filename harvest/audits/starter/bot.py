"""A stand-in system for trying out an audit. Replace this file with your own system."""

import json
import sys


def answer(text: str) -> str:
    """Return the reply to one user turn."""
    return f"I know one page about that, An example: https://www.iana.org/domains/example ({len(text)} characters read)"


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps({"text": answer(json.loads(line)["text"])}), flush=True)
