"""AWS Signature Version 4: a header that proves, for ten minutes and for one request, that the sender has a key.

Source: AWS, Identity and Access Management user guide, "Create a signed AWS API request". Only the parts that AWS
requires and that proxies do not change are signed: the host, the type of the content, and the headers x-amz-*.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from posixpath import normpath
from urllib.parse import quote, urlsplit

from harvest.drivers.current_key import CurrentKey
from harvest.drivers.options import SigV4
from harvest.systems.timing import Clock
from recordings.files.times import compact_stamp

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """An access key. `session_token` is "" for a key that does not expire."""

    access_key: str
    secret_key: str
    session_token: str = ""


class Signer:
    """Signs each request with the current keys."""

    def __init__(self, options: SigV4, current: CurrentKey[AwsKeys], clock: Clock, *, refused: frozenset[int]) -> None:
        self._options, self._clock, self.refused = options, clock, refused
        self.key, self.discard, self.close = current.get, current.discard, current.close

    def headers(
        self, key: AwsKeys, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> Mapping[str, str]:
        options = self._options
        return sign(key, options.service, options.region, self._clock.now(), method, url, headers, content or b"")


def sign(
    keys: AwsKeys,
    service: str,
    region: str,
    now: datetime,
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
) -> dict[str, str]:
    """Return the headers `Authorization`, `X-Amz-Date` and, with temporary keys, `X-Amz-Security-Token`. `url` is the
    address as it is sent, with its escapes; `headers` are the other headers of the request."""
    moment = compact_stamp(now)
    added = {"X-Amz-Date": moment}
    if keys.session_token:
        added["X-Amz-Security-Token"] = keys.session_token
    address = urlsplit(url)
    named = {name.lower(): " ".join(value.split()) for name, value in {**headers, **added}.items()}
    signed = {
        name: value for name, value in named.items() if name in ("host", "content-type") or name.startswith("x-amz-")
    }
    signed.setdefault("host", address.netloc.rpartition("@")[2])
    pairs = [one.partition("=")[::2] for one in address.query.split("&") if one]
    listed = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            method,
            _canonical_path(address.path),
            "&".join("=".join(pair) for pair in sorted(pairs)),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            listed,
            hashlib.sha256(content).hexdigest(),
        )
    )
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join((_ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret_key}".encode()
    for part in (*scope.split("/"), to_sign):
        key = hmac.digest(key, part.encode(), "sha256")
    proof = f"Credential={keys.access_key}/{scope}, SignedHeaders={listed}, Signature={key.hex()}"
    return {**added, "Authorization": f"{_ALGORITHM} {proof}"}


def _canonical_path(path: str) -> str:
    """Return the path without empty, `.` and `..` parts, escaped once more than it is sent (only S3 does neither)."""
    whole = normpath(f"/{path.lstrip('/')}")
    return quote(whole + ("/" if path.endswith("/") and whole != "/" else ""), safe="/~")
