"""Access tokens from a token server, by the client's own credentials or by a refresh token.

The request and its errors are those of RFC 6749 (sections 2.3.1, 4.4, 5 and 6). A server may replace the refresh token
with every access token, and then accepts only the newest. A file keeps the newest refresh token for the next command,
and for other commands that use the file at the same time. The refresh token is on the disk before the access token is
used.
"""

import asyncio
import base64
import stat
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias, TypeGuard
from urllib.parse import quote_plus, urlencode, urlsplit

from harvest.drivers.current_key import Issued
from harvest.drivers.options import OAuth2, resolve_text, resolve_texts
from harvest.drivers.received import Received, excerpt
from harvest.systems.driver import Denied, DriverError, NotSent, Surroundings
from recordings.files.errors import RunError
from recordings.files.shared_file import SharedFile, shared_file
from topics.errors import InputError, Place
from topics.regular_file import read_regular

Post: TypeAlias = Callable[[str, Mapping[str, str], bytes], Awaitable[Received]]  # URL, headers and form
# Codes that waiting does not change: of RFC 6749, of RFC 8707, and of OpenID Connect.
_FINAL_CODES = frozenset(
    {
        *("invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type"),
        *("invalid_scope", "access_denied", "invalid_target", "interaction_required", "consent_required"),
    }
)
_PATIENCE = 30.0  # seconds to wait for other commands that renew the token in the same file


class TokenServer:
    """A source of access tokens. Raises InputError for an unset variable or a file that is not a refresh token."""

    def __init__(self, options: OAuth2, surroundings: Surroundings, post: Post) -> None:
        self._options, self._post, self._secrets = options, post, surroundings.secrets
        self._fields = resolve_texts(options.fields, surroundings)
        self._headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        self._add_client(surroundings)
        self._file = surroundings.folder / options.refresh_token_file if options.refresh_token_file else None
        self._refresh_token = ""
        if options.refresh_token is not None:
            self._refresh_token = resolve_text(options.refresh_token, surroundings)
        elif self._file is not None:
            self._secrets.add(_read_token_file(self._file))

    def _add_client(self, surroundings: Surroundings) -> None:
        options = self._options
        client = resolve_text(options.client_id, surroundings) if options.client_id is not None else ""
        secret = resolve_text(options.client_secret, surroundings) if options.client_secret is not None else ""
        given = {"scope": options.scope or ""}
        if secret and options.client_auth == "basic":
            pair = base64.b64encode(f"{quote_plus(client)}:{quote_plus(secret)}".encode()).decode()
            self._secrets.add(pair)
            self._headers["Authorization"] = f"Basic {pair}"
        else:
            given |= {"client_id": client, "client_secret": secret}
        self._fields = {**{name: value for name, value in given.items() if value}, **self._fields}

    async def obtain(self) -> Issued[str]:
        """Return an access token. Raises NotSent if the server cannot be reached or fails, and Denied if it refuses."""
        if self._file is None:
            issued, newer = await self._request(self._refresh_token)
            self._refresh_token = newer
            return issued
        with ExitStack() as stack:
            try:
                file: SharedFile = await asyncio.to_thread(stack.enter_context, shared_file(self._file, _PATIENCE))
                token = _last_line(file.data)
                issued, newer = await self._request(token)
                if newer != token:
                    await asyncio.to_thread(file.append, f"{newer}\n".encode())
            except RunError as fault:
                raise Denied("refresh-token-file", f"the file of the refresh token cannot be used: {fault}") from None
        return issued

    async def _request(self, refresh_token: str) -> tuple[Issued[str], str]:
        """Return an access token, and the refresh token for the next time."""
        form = {"grant_type": "refresh_token" if refresh_token else "client_credentials"}
        if refresh_token:
            form["refresh_token"] = refresh_token
            self._secrets.add(refresh_token)
        try:
            received = await self._post(
                self._options.token_url, self._headers, urlencode({**form, **self._fields}).encode()
            )
        except DriverError as fault:
            kind = Denied if isinstance(fault, Denied) else NotSent
            reason = "no-token" if kind is NotSent else fault.reason
            server = urlsplit(self._options.token_url).netloc
            raise kind(reason, f"the token server {server} gave no token: {fault.detail}") from None
        if not 200 <= received.status < 300:
            raise self._make_fault(received, refresh_token)
        value = received.json_or_none
        answer = value if isinstance(value, Mapping) else {}
        token, kind_of = answer.get("access_token"), str(answer.get("token_type") or "bearer")
        if not is_sendable(token):
            if answer.get("error"):  # some servers, such as GitHub's, refuse with the status 200
                raise self._make_fault(received, refresh_token)
            raise Denied("no-token", "the token server's answer is not JSON with an `access_token`")
        if kind_of.lower() != "bearer":
            raise Denied("no-token", f"the token server issues tokens of the type {excerpt(kind_of, 40)!r}, not Bearer")
        newer = answer.get("refresh_token")
        if not refresh_token or not is_sendable(newer):
            newer = refresh_token
        self._secrets.update(filter(None, (token, newer)))
        return Issued(token, seconds_of(answer.get("expires_in"))), newer

    def _make_fault(self, received: Received, refresh_token: str) -> DriverError:
        value = received.json_or_none
        code, description = (
            str(value.get(name) or "") if isinstance(value, Mapping) else "" for name in ("error", "error_description")
        )
        detail = f"the token server refuses: {received.status} {excerpt(': '.join(filter(None, (code, description))))}"
        if code == "invalid_grant" and refresh_token:
            detail += "; the refresh token has expired, was withdrawn, or was replaced by an earlier command"
            if self._file is None:
                detail += ": if the server replaces it, keep it in a file (refresh_token_file)"
        if code in _FINAL_CODES:
            return Denied(code.replace("_", "-"), detail)
        fault = received.refusal(answered=False)
        kind = Denied if fault is None or isinstance(fault, Denied) else NotSent
        return kind("no-token", detail, retry_after=fault.retry_after if fault is not None else None)


def is_sendable(token: object) -> TypeGuard[str]:
    """Return True for a text that can be sent in a header."""
    return isinstance(token, str) and token != "" and token.isascii() and token.isprintable() and " " not in token


def seconds_of(value: object) -> float | None:
    """Return a number of seconds, or None if the value is not one. Some servers write it as text."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return found if 0 <= found < 1e10 else None


def _last_line(data: bytes) -> str:
    lines = data.decode("ascii", "replace").split()
    return lines[-1] if lines else ""


def _read_token_file(path: Path) -> str:
    try:
        data = read_regular(path, 2**20)
        shared = path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise InputError(
            f"the refresh token cannot be read: {why}",
            place=Place(str(path)),
            advice="write the refresh token into this file, as its only line",
        ) from None
    if shared:
        raise InputError(
            "people other than its owner can read this refresh token",
            place=Place(str(path)),
            advice=f"chmod 600 {path}",
        )
    if any(len(line.split()) > 1 for line in data.splitlines()) or not data.isascii() or not data.strip():
        raise InputError(
            "the file is not a refresh token", place=Place(str(path)), allowed="one token of ASCII characters on a line"
        )
    return _last_line(data)
