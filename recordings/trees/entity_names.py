"""What the entities of a merge key are called: by the answer's own words beside their addresses."""

import re
from urllib.parse import unquote

from topics.addresses import canonical_url
from topics.kinds import KINDS
from topics.late_pattern import late_pattern
from topics.links import find_urls, links_in

_LONGEST = 20_000  # characters of an answer that are looked through
_LISTED = late_pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ROUND = " \t,;:|–—-([*_`\"'"


def entity_names(key: str, text: str) -> str:
    """The addresses of `key` by name, in its order: `One Title · Another`. text: an answer that names them.

    A name is the anchor of a link, else the text before the address in its line, else the end of the address.
    """
    wanted = key.split()
    shown = text[:_LONGEST]
    names: dict[str, str] = {}
    for link in links_in(shown):
        if link.text != link.href:
            for one in _keys(link.href) & set(wanted):
                names.setdefault(one, link.text)
    for mention in find_urls(shown):
        line = shown[shown.rfind("\n", 0, mention.start) + 1 : mention.start]
        before = line[max((found.end for found in find_urls(line)), default=0) :]
        name = _LISTED.sub("", before).strip(_ROUND)
        for one in _keys(mention.href) & set(wanted):
            if name:
                names.setdefault(one, name)
    return " · ".join(" ".join(names.get(one, _end(one)).split()) for one in wanted)


def _keys(href: str) -> set[str]:
    """What an address may be called in a key, whichever kind of topic it was made for."""
    return {key for key in (canonical_url(href), *(kind.key(href) for kind in KINDS.values())) if key}


def _end(address: str) -> str:
    """The part of an address that tells most: without scheme, `www.`, and a slash at its end."""
    bare = re.sub(r"^https?://(?:www\.)?", "", address).rstrip("/")
    return unquote(bare.rpartition("/")[2] or bare, errors="replace")
