"""Kinds of URLs that name entities: title pages of IMDb, videos on YouTube, or any page on the web."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import unquote_plus

from topics.addresses import Address, address, canonical_host, looks_public
from topics.patterns import LONGEST_MATCHED, check_matchable
from topics.shown_names import shorten


@dataclass(frozen=True, slots=True)
class UrlKind:
    """A kind of URL that names an entity, for example the title pages of IMDb.

    `name` is a word such as `imdb-title`. `hosts` are registered names, each with all its subdomains (`imdb.com`
    covers `m.imdb.com`, not `imdb.com.evil.example`); `*` is any host that looks public. `path` is a regular
    expression for the whole path. `query` is a regular expression for a whole `name=value` parameter, or "" if the
    query does not matter. `identity` is the canonical form of the entity, with `{id}` filled from the group
    `(?P<id>…)` of path or query; "" uses the whole address (https, no trailing slash, otherwise as `canonical_url`).
    `also` has alternative forms of the kind. Raises ValueError if a pattern is invalid, gives no id, or could take
    too long (`topics.patterns`).
    """

    name: str
    hosts: tuple[str, ...]
    path: str
    query: str = ""
    identity: str = ""
    also: "tuple[UrlKind, ...]" = ()

    def __post_init__(self) -> None:
        if not self.hosts or not all(host == "*" or canonical_host(host) == host for host in self.hosts):
            raise ValueError("hosts must be names like imdb.com (lower case, no scheme, no path), or *")
        named: set[str] = set()
        for pattern in (self.path, self.query):
            try:
                named.update(_compile_pattern(check_matchable(pattern)).groupindex)
            except ValueError as fault:
                raise ValueError(f"{shorten(pattern, 80)!r} {fault}") from None
        if "{id}" in self.identity and "id" not in named:
            raise ValueError("the identity contains {id}, so path or query must contain a group (?P<id>…)")

    def __hash__(self) -> int:
        return hash((self.name, self.path))  # needed for every URL; hashing all fields would be slow

    def key(self, url: str) -> str | None:
        """Return the canonical identity of the entity that `url` names, or None if the URL is not of this kind. Also
        returns None for URLs longer than 2,048 characters, which carry data and are not names."""
        return _key_of(self, url) if len(url) <= LONGEST_MATCHED else None

    def _key(self, parts: Address) -> str | None:
        if len(parts.path) > LONGEST_MATCHED or not any(_is_on_host(parts, host) for host in self.hosts):
            return None
        match = _compile_pattern(self.path).fullmatch(parts.path)
        if match is None:
            return None
        named = match.groupdict()
        if self.query:
            pattern = _compile_pattern(self.query)
            hits = (pattern.fullmatch(unquote_plus(item)) for item in parts.query.split("&"))
            hit = next((hit for hit in hits if hit), None)
            if hit is None:
                return None
            named.update(hit.groupdict())
        if not self.identity:
            return parts._replace(scheme="https", path=parts.path.rstrip("/") or "/").url
        return self.identity.replace("{id}", named.get("id") or "")


@lru_cache(maxsize=2**15)  # the trials of a topic name the same entities again and again
def _key_of(kind: UrlKind, url: str) -> str | None:
    parts = address(url)
    if parts is None:
        return None
    return next((key for shape in (kind, *kind.also) if (key := shape._key(parts)) is not None), None)


def _is_on_host(parts: Address, name: str) -> bool:
    if name == "*":
        return looks_public(parts.host)
    return not parts.port and (parts.host == name or parts.host.endswith(f".{name}"))


@lru_cache(maxsize=256)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_VIDEO = r"(?P<id>[A-Za-z0-9_-]{11})(?![A-Za-z0-9_-]).*"
_WATCH = "https://www.youtube.com/watch?v={id}"

# The kinds that topic files may name: `imdb-title`, `youtube-video`, `web-page`.
KINDS: Mapping[str, UrlKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            UrlKind(
                "imdb-title",
                ("imdb.com",),
                path=r"(?:/[a-z]{2}(?:-[a-z]{2})?)?/title/(?P<id>tt[0-9]{7,10})(?![A-Za-z0-9_-]).*",
                identity="https://www.imdb.com/title/{id}/",
            ),
            UrlKind(
                "youtube-video",
                ("youtube.com", "youtube-nocookie.com"),
                path="/watch/?",
                query=f"v={_VIDEO}",
                identity=_WATCH,
                also=(
                    UrlKind(
                        "youtube-video",
                        ("youtube.com", "youtube-nocookie.com"),
                        path=f"/(?:shorts|embed|live|v|e)/{_VIDEO}",
                        identity=_WATCH,
                    ),
                    UrlKind("youtube-video", ("youtu.be",), path=f"/{_VIDEO}", identity=_WATCH),
                ),
            ),
            UrlKind("web-page", ("*",), path=".*"),
        )
    }
)
