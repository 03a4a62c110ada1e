"""Registrable domains: the part of a host that somebody registered, and for whose content they are responsible.

A host ends in a public suffix, under which anybody may register a name (`uk`, `co.uk`, `github.io`). The registrable
domain is that suffix and one more label: `www.bbc.co.uk` and `news.bbc.co.uk` are of `bbc.co.uk`.

Suffixes come from the Public Suffix List, as the installed release of the package `publicsuffixlist` has it; nothing is
fetched. Both sections of the list count. Its private section has hosts that give each customer a name of their own
(`github.io`, `blogspot.com`, `s3.amazonaws.com`): content of two customers has two owners, so `alice.github.io` is a
domain, and `github.io` is not.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=2**14)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a canonical host (`topics.addresses.canonical_host`), in ASCII.

    A host without one is its own domain: an IP address, a name of one label (`localhost`), and a public suffix itself
    (`github.io`). A top-level domain that the list does not have counts as a public suffix.
    """
    if host.startswith("[") or host.rpartition(".")[2].isdigit():
        return host
    return _public_suffixes().privatesuffix(host) or host


def has_known_suffix(host: str) -> bool:
    """Return True if a canonical host is a name under a listed suffix, so that somebody may own it."""
    return _public_suffixes().privatesuffix(host, accept_unknown=False) is not None


@cache
def _public_suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList  # late: it parses the list, which takes a fifth of a second

    return PublicSuffixList()
