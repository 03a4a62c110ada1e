"""Credentials that expire, and credentials that sign requests.

    source of keys                                    key              what a request gets
    a token server (`drivers/oauth2.py`)              an access token  a header such as Authorization
    a program (`drivers/token_command.py`)            an access token  the same
    a program, or the environment                     keys of AWS      a signature (`drivers/sigv4.py`)

Keys stay in memory (`drivers/current_key.py`), and each is registered for redaction before it is used.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from harvest.drivers.current_key import CurrentKey, Issued
from harvest.drivers.oauth2 import Post, TokenServer
from harvest.drivers.options import Auth, resolve_text
from harvest.drivers.sigv4 import AwsKeys, Signer
from harvest.drivers.token_command import printed_keys, printed_token
from harvest.systems.driver import Surroundings


class Credentials(Protocol):
    """The credentials that a system requires with each request. `refused` has the statuses that a request gets if its
    key is not valid any more, so that a new key may help."""

    refused: frozenset[int]

    async def key(self) -> Any:
        """Return the current key, and obtain it first if need be. Raises NotSent and Denied."""
        ...

    def headers(
        self, key: Any, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> Mapping[str, str]:
        """Return the headers to add to this request. `url` is the address as it is sent, percent-encoded."""
        ...

    def discard(self, key: Any) -> None:
        """Forget a key that was refused, unless it has been replaced meanwhile."""
        ...

    async def close(self) -> None: ...


class TokenHeader:
    """A token in a header."""

    refused = frozenset({401})

    def __init__(self, header: str, prefix: str, current: CurrentKey[str]) -> None:
        self._header, self._prefix, self._current = header, prefix, current
        self.key, self.discard, self.close = current.get, current.discard, current.close

    def headers(
        self, key: str, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> Mapping[str, str]:
        return {self._header: self._prefix + key}


def make_credentials(auth: Auth, surroundings: Surroundings, post: Post) -> Credentials | None:
    """Return the credentials, or None if `auth` is only a certificate. `post` sends a form to a token server. Nothing
    is sent or started yet. Raises InputError for an unset variable and for a file that is not a refresh token."""
    clock = surroundings.clock
    if auth.sigv4 is not None:
        if auth.sigv4.command is None:
            given = (auth.sigv4.access_key, auth.sigv4.secret_key, auth.sigv4.session_token)
            fixed = AwsKeys(*(resolve_text(one, surroundings) if one is not None else "" for one in given))

            async def known() -> Issued[AwsKeys]:
                return Issued(fixed)

            return Signer(auth.sigv4, CurrentKey(known, clock), clock, refused=frozenset())
        # AWS answers 403 to a session token that has expired, and to others that may not.
        current = CurrentKey(printed_keys(auth.sigv4.command, surroundings), clock)
        return Signer(auth.sigv4, current, clock, refused=frozenset({401, 403}))
    if auth.oauth2 is not None:
        server = TokenServer(auth.oauth2, surroundings, post)
        return TokenHeader(auth.header, auth.prefix, CurrentKey(server.obtain, clock))
    if auth.command is not None:
        return TokenHeader(auth.header, auth.prefix, CurrentKey(printed_token(auth.command, surroundings), clock))
    return None
