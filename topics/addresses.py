"""Canonical web addresses, and their parts as a browser would read them.

No function here raises an error: text that is not an http(s) URL has no parts.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

# Query parameters that say where a visitor came from, not which page is meant; `utm_…` is one of them too.
TRACKING = frozenset(
    {
        *("dclid", "fbclid", "gbraid", "gclid", "igshid", "mc_cid", "mc_eid"),
        *("msclkid", "ref_", "srsltid", "wbraid", "yclid", "_ga", "_gl"),
    }
)

# The part between `//` and the path.
AUTHORITY = re.compile(
    # The user, whose password a recording may have redacted; the host follows the last @.
    r"(?:(?:[\w.~!$&'*+,;=:%@-]|\[redacted:[\w-]+\])*@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)"
    r"(?::(?P<port>[0-9]*))?"
)

_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})?")
_IGNORED_AROUND = "".join(map(chr, range(33)))  # browsers drop control characters and spaces around a URL
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_PRIVATE = frozenset({"localhost", "local", "internal", "lan", "test", "invalid", "onion", "arpa"})
_LONGEST_CACHED = 2048  # longer URLs are not kept in the cache
_LONGEST_HOST = 253  # RFC 1035, section 2.3.4; longer ones are not worth a place in the cache


class Address(NamedTuple):
    """The parts of an absolute http(s) URL in canonical form. `port` is "" for the default port."""

    scheme: str
    host: str
    port: str
    path: str
    query: str

    @property
    def url(self) -> str:
        port = f":{self.port}" if self.port else ""
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.host}{port}{self.path}{query}"


def canonical_url(url: str) -> str:
    """Return the canonical form of a URL. Text that is not a URL is returned without surrounding white space.

    Scheme and host are in lower case, and the host is in ASCII (IDNA). User name, default port, fragment and tracking
    parameters (`utm_…` and `TRACKING`) are removed. Dot segments are resolved, percent-encoding is in its shortest
    form, and the remaining parameters are sorted by name. Anything that could change the page stays: scheme, `www.`,
    a trailing slash and the case of the path.
    """
    parts = address(url)
    return url.strip() if parts is None else parts.url


def address(url: str) -> Address | None:
    """Return the parts of `url` as a browser would read them, or None if `url` is not an absolute http(s) URL."""
    return _parse_address(url) if len(url) > _LONGEST_CACHED else _cached_address(url)


def _parse_address(url: str) -> Address | None:
    cleaned = re.sub(r"[\t\r\n]", "", url.strip().strip(_IGNORED_AROUND))
    mark = cleaned.find("?")
    head, rest = (cleaned, "") if mark < 0 else (cleaned[:mark], cleaned[mark:])
    parts = _URL.fullmatch(head.replace("\\", "/") + rest)  # browsers read \ as /
    if parts is None:
        return None
    scheme = parts[1].lower()
    authority = AUTHORITY.fullmatch(parts[2])
    if authority is None:
        return None
    host = canonical_host(authority["host"])
    port = (authority["port"] or "").lstrip("0")
    if host is None or len(port) > 5 or int(port or 0) > 65535:
        return None
    if port == _DEFAULT_PORTS[scheme]:
        port = ""
    query = parts[4] or ""
    items = [_shortest_encoding(item, safe="!$'()*+,;=:@/?") for item in query.split("&") if item]
    named = [(item.partition("=")[0], item) for item in items]
    kept = [(name, item) for name, item in named if not (name.startswith("utm_") or name in TRACKING)]
    kept.sort(key=lambda pair: pair[0])
    return Address(scheme, host, port, _resolve_path(parts[3]), "&".join(item for _, item in kept))


_cached_address = lru_cache(maxsize=4096)(_parse_address)


def canonical_host(text: str) -> str | None:
    """Return the host in lower case and ASCII, with IPv6 addresses in short form. Returns None for an invalid host."""
    return _encode_host(text) if len(text) > _LONGEST_HOST else _cached_host(text)


def _encode_host(text: str) -> str | None:
    if text.startswith("["):
        from ipaddress import IPv6Address  # imported here because it is rarely needed and slow to import

        try:
            return f"[{IPv6Address(text[1:-1]).compressed}]"
        except ValueError:
            return None
    host = text.lower().removesuffix(".")
    if len(host) > _LONGEST_HOST:
        return None
    if not host.isascii():
        from yarl import URL  # imported here because it loads the IDNA tables

        try:
            host = (URL.build(scheme="https", host=host).raw_host or "").lower()
        except (ValueError, UnicodeError, IndexError):
            return None
    if len(host) > _LONGEST_HOST or not all(len(label) <= 63 and _LABEL.fullmatch(label) for label in host.split(".")):
        return None
    return host


_cached_host = lru_cache(maxsize=4096)(_encode_host)


def looks_public(host: str) -> bool:
    """Return True if a host is a name under a public top-level domain, or a globally routed address."""
    end = host.rpartition(".")[2]
    if host.startswith("[") or end.isdigit():
        from ipaddress import ip_address

        try:
            return ip_address(host.strip("[]")).is_global
        except ValueError:
            return False
    named = end.isalpha() or end.startswith("xn--")
    return "." in host and named and len(end) > 1 and end not in _PRIVATE


def _resolve_path(path: str) -> str:
    path = _shortest_encoding(path, safe="/!$&'()*+,;=:@")
    if "/." in path:
        kept: list[str] = []
        segments = path.split("/")[1:]
        for i, segment in enumerate(segments):
            last = i == len(segments) - 1
            if segment == "..":
                if kept:
                    kept.pop()
            elif segment != ".":
                kept.append(segment)
                continue
            if last:
                kept.append("")
        path = "/" + "/".join(kept)
    return path or "/"


def _shortest_encoding(text: str, safe: str) -> str:
    """Return the shortest percent-encoding, with capital hexadecimal digits and nothing encoded unnecessarily."""

    def shorten_part(match: re.Match[str]) -> str:
        if not match[1]:
            return "%25"
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else match[0].upper()

    return quote(_PERCENT.sub(shorten_part, text), safe=f"%{safe}", errors="replace")
