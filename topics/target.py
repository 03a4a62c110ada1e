"""The address of a page or a server to contact. Errors never repeat a bad address, which may contain a password."""

import re
from urllib.parse import SplitResult, urlsplit

from topics.document import validation_error

_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")


def parse_target(url: str, *, secret: str) -> SplitResult:
    """Return the parts of an absolute http(s) URL with a host and without user name, password or space. `secret` is
    the advice for a user name or password in the URL. Raises PydanticCustomError (`refused`)."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:  # its words repeat pieces of the URL
        if "@" in url:
            raise validation_error(_no_secret(secret)) from None
        raise validation_error("not a URL: its host or port cannot be read") from None
    if parts.scheme not in ("http", "https") or not host:
        raise validation_error("not a URL that starts with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise validation_error(_no_secret(secret))
    if _UNSENDABLE.search(url):
        raise validation_error("a URL must not contain spaces or control characters: write %20 for a space")
    return parts


def _no_secret(secret: str) -> str:
    return f"a URL must not contain a user name or a password: {secret}"
