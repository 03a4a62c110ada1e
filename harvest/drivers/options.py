"""Options that several drivers share: values from the environment, and how a server is reached.

A secret never stands in a file. Where an option takes a `Text`, either the text itself stands there or
`{env: NAME}`, and headers that are known to carry secrets accept only the latter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from harvest.drivers.driver import Surroundings
from topics.document import StrictModel
from topics.errors import InputError

__all__ = ["FromEnvironment", "Headers", "Text", "Url", "WireOptions", "resolved", "resolved_headers"]

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"})

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = re.compile(r"[\x20-\x7e]*")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")


def refused(what: str) -> PydanticCustomError:
    """An error that pydantic shows as it is, at its place in the file."""
    return PydanticCustomError("refused", "{what}", {"what": what})


def _variable(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise refused(f"{name!r} is not the name of an environment variable (letters, digits and _)")
    return name


VariableName = Annotated[str, AfterValidator(_variable)]


class FromEnvironment(StrictModel):
    """env: the environment variable that holds the value. prefix: stands before it (`Bearer `)."""

    env: VariableName
    prefix: str = ""


Text = str | FromEnvironment


def _headers(headers: dict[str, Text]) -> dict[str, Text]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise refused(f"{name!r} is not the name of a header")
        if isinstance(value, FromEnvironment):
            continue
        if name.lower() in SECRET_HEADERS:
            raise refused(f"header {name} carries a secret: write {{env: NAME}}, and set that environment variable")
        if not _PLAIN.fullmatch(value):
            raise refused(f"header {name} holds a character that cannot be sent (printable ASCII can)")
    return headers


def _url(url: str) -> str:
    if _PLACEHOLDER.search(url.partition("://")[2].partition("/")[0]):
        raise refused("a placeholder may stand in the path or the query of a URL, not in its host")
    try:
        parts = urlsplit(_PLACEHOLDER.sub("x", url))
        host, _ = parts.hostname, parts.port
    except ValueError as fault:
        raise refused(f"not a URL: {fault}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise refused("not a URL that starts with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise refused("a URL must not hold a user name or a password: use a header with {env: NAME}")
    if parts.fragment:
        raise refused("a URL with a fragment (#…) cannot be asked for")
    if re.search(r"[\x00-\x20\x7f]", _PLACEHOLDER.sub("x", url)):
        raise refused("a URL must not hold spaces or control characters: write them as %20 and the like")
    return url


def _proxy(value: Text) -> Text:
    if isinstance(value, str) and "@" in value:
        raise refused("a proxy's user name and password must not stand in a file: write {env: NAME} for the URL")
    return value


Headers = Annotated[dict[str, Text], AfterValidator(_headers)]
Url = Annotated[str, AfterValidator(_url)]
Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)]


class WireOptions(StrictModel):
    """How a server is reached. Certificates are always verified."""

    headers: Headers = Field({}, description="further headers; a value is text or `{env: NAME, prefix: TEXT}`")
    timeout: Seconds = Field(120.0, description="seconds for a whole turn, from the first try to connect")
    connect_timeout: Seconds = Field(10.0, description="seconds for the connection, within `timeout`")
    read_timeout: Seconds | None = Field(
        None, description="seconds of silence that are waited through, within `timeout`; not given: as long as that"
    )
    max_reply: int = Field(8 * 2**20, ge=1, description="bytes of a reply; a longer one is a fault (`too-large`)")
    proxy: Annotated[Text, AfterValidator(_proxy)] | None = Field(
        None, description="URL of a proxy, or `{env: NAME}`; proxies in the environment are used only when named here"
    )
    ca_file: str | None = Field(
        None, description="file of certificates (PEM) to trust instead of the usual ones; relative to the audit file"
    )


def resolved(value: Text, surroundings: Surroundings) -> str:
    """The text, or the variable's value, which is then known as a secret. Raises InputError if it is not set."""
    if isinstance(value, str):
        return value
    return value.prefix + sendable(value.env, surroundings)


def sendable(variable: str, surroundings: Surroundings) -> str:
    """The secret in `variable`, if a header can carry it. Raises InputError otherwise."""
    secret = surroundings.secret(variable)
    if not _PLAIN.fullmatch(secret):
        raise InputError(
            f"system {surroundings.system!r}: the value of {variable} holds a character that cannot be sent",
            allowed="printable ASCII",
            advice="look for a line break at its end",
        )
    return secret


def resolved_headers(headers: Mapping[str, Text], surroundings: Surroundings) -> dict[str, str]:
    return {name: resolved(value, surroundings) for name, value in headers.items()}
