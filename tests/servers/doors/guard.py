"""A gate before a door: it lets requests through that show the current token, which it withdraws once, in the middle.

The token comes from a token server (RFC 6749, section 4.4), or from a file, which a program prints. A refusal is that
of RFC 6750, section 3, unless the API has words of its own.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.servers.doors.door import KEY, Door
from tests.servers.local_http import Asked, response

__all__ = ["Gate"]

TOKENS = ("first-token-4Tz8wQ", "second-token-9Lk2vB")


class Gate:
    """uses: how many requests the first token is good for. file: where a program finds the token, as a text or as keys
    of AWS. given: how often the token server gave a token. refused: how often a request was refused."""

    def __init__(self, door: Door, uses: int, file: Path) -> None:
        self.door, self.uses, self.file = door, uses, file
        self.given = self.refused = 0
        self._write(TOKENS[0])

    def _write(self, token: str) -> None:
        self.token = token
        keys = {"AccessKeyId": f"AKID{token[:5]}", "SecretAccessKey": "s" * 20, "SessionToken": token, "Version": 1}
        self.file.write_text(json.dumps(keys) if self.door.signed else token)

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/token":
            self.given += 1
            writer.write(response("200 OK", json.dumps({"access_token": self.token, "token_type": "Bearer"})))
            return
        header, prefix = self.door.key_header
        if self._shown(asked) != self.token:
            self.refused += 1
            writer.write(self.door.expired())
            return
        self.uses -= 1
        if self.uses == 0:
            self._write(TOKENS[1])
        headers = {**asked.headers, header: f"{prefix}{KEY}"}
        await self.door(Asked(asked.method, asked.target, headers, asked.body), writer)

    def _shown(self, asked: Asked) -> str:
        """The token in the request: of a signature, the session's token."""
        if self.door.signed:
            assert f"Credential=AKID{asked.headers['x-amz-security-token'][:5]}/" in asked.headers["authorization"]
            return asked.headers["x-amz-security-token"]
        return next(
            (value.rpartition(" ")[2] for value in asked.headers.values() if value.rpartition(" ")[2] in TOKENS), ""
        )
