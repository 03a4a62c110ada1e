"""A chat behind tokens that expire, and the token server that issues them, written from RFC 6749 (sections 2.3.1, 4.4,
5 and 6) and RFC 6750 (section 3)."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote_plus

from tests.servers.local_http import Asked, response

__all__ = ["CLIENT", "SECRET", "GuardedChat"]

CLIENT, SECRET = "desk client", "c1:Gj8tRb4n/Wy6cVs1q%"


@dataclass
class GuardedChat:
    """valid: the tokens that the chat takes now. rotates: every refresh token is good for one use. forgives: and for a
    second one while its successor was never used, since that may not have arrived. uses: how often a token is good
    before it is withdrawn, whatever was said of its life; 0: always. answers: what the token server says next instead
    of a token, in order. truth: what the chat answered, by session."""

    expires_in: object = 3600
    rotates: bool = False
    forgives: bool = False
    uses: int = 0
    answers: list[tuple[str, str]] = field(default_factory=list)
    pause: float = 0.0
    refresh_token: str = "refresh-0-Lm5pXk9vTd2fBz7h"
    forms: list[dict[str, list[str]]] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    used_refresh_tokens: list[str] = field(default_factory=list)
    valid: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    truth: defaultdict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self._chat if asked.path == "/chat" else self._issue
        if asked.path == "/token":
            await asyncio.sleep(self.pause)
        status, value = answer(asked)
        body = value if isinstance(value, str) else json.dumps(value)
        writer.write(response(status, body, *(("Retry-After: 7",) if status.startswith(("429", "503")) else ())))

    def _issue(self, asked: Asked) -> tuple[str, object]:
        form = parse_qs(asked.body.decode(), strict_parsing=True)
        self.forms.append(form)
        if self.answers:
            return self.answers.pop(0)
        if self._client(asked, form) != (CLIENT, SECRET):
            return "401 Unauthorized", {"error": "invalid_client"}
        more = {}
        if form["grant_type"] == ["refresh_token"]:
            given = form["refresh_token"][0]
            forgiven = self.forgives and given in self.used_refresh_tokens[-1:]
            if given != self.refresh_token and not forgiven:
                return "400 Bad Request", {"error": "invalid_grant", "error_description": "unknown or used"}
            if self.rotates:
                self.used_refresh_tokens += [] if forgiven else [given]
                self.refresh_token = f"refresh-{len(self.issued) + 1}-{secrets.token_hex(12)}"
                more = {"refresh_token": self.refresh_token}
        token = f"access-{len(self.issued) + 1}-{secrets.token_hex(16)}"
        self.issued.append(token)
        self.valid[token] = self.uses or -1
        return "200 OK", {"access_token": token, "token_type": "bearer", "expires_in": self.expires_in, **more}

    def _client(self, asked: Asked, form: dict[str, list[str]]) -> tuple[str, ...]:
        scheme, _, pair = asked.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            return tuple(map(unquote_plus, base64.b64decode(pair).decode().split(":")))
        return tuple(form.get(name, [""])[0] for name in ("client_id", "client_secret"))

    def _chat(self, asked: Asked) -> tuple[str, object]:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.valid:
            self.refused += 1
            return "401 Unauthorized", {"error": {"message": f"the token {token} is not valid"}}
        self.valid[token] -= 1
        if not self.valid[token]:
            del self.valid[token]
        turns = self.truth[asked.json["session"]]
        # A chat that echoes its headers, as debugging gateways do.
        reply = f"{len(turns) + 1}: {asked.json['text']} ({asked.headers['authorization']})"
        turns.append((asked.json["text"], reply))
        return "200 OK", {"reply": reply}
