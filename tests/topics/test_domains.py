"""Registrable domains: as the Public Suffix List says on its own test list, and hosts that have none."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from topics.addresses import canonical_host
from topics.domains import registrable_domain

_CASE = re.compile(r"^checkPublicSuffix\('([^']*)', (?:'([^']*)'|null)\);", re.MULTILINE)


def test_the_list_s_own_cases() -> None:
    """The list of the Public Suffix List (public domain), as the package has it: 'null' is a host that has none, which
    is its own domain here, and cases that are no host, such as `.com`, are none of ours."""
    text = (resources.files("publicsuffixlist") / "test_psl.txt").read_text(encoding="utf-8")
    cases = _CASE.findall(text)
    hosts = [(canonical_host(name), domain) for name, domain in cases]
    known = [(host, canonical_host(domain) or host) for host, domain in hosts if host is not None]
    assert len(cases) == 77
    assert len(known) == 73
    assert [(host, registrable_domain(host)) for host, _ in known] == known


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("alice.github.io", "alice.github.io"),  # the private section: the next customer is somebody else
        ("github.io", "github.io"),
        ("a.b.blogspot.com", "b.blogspot.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost", "localhost"),
        ("wiki.intranet", "wiki.intranet"),  # a top-level domain that the list does not have
        ("shop.wiki.intranet", "wiki.intranet"),
        ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_the_domain_of_a_host_is_found(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
