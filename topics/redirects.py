"""Addresses that lead to another page: redirects, caches, archives, translations and short links, undone by rules.

A rule describes how the address of a page is contained in another address. Nothing is fetched: an address that does not
reveal its page, such as a short link, is *hidden*. Rules are rows of a CSV file. `redirects.csv` has those that come
with Harvest; a file of sources may name another file, whose rules are tried first:

    name,host,path,way,of
    Google link,google.*,/url,query,url q

`host` is a name with all its subdomains, `*.name` its subdomains alone, and `name.*` that name under any public suffix.
`path` is the beginning of the path, in which `*` is one segment; an empty cell is any path. `way` is one of

    query      the address is the value of a parameter; `of` names parameters, and the first with an address counts.
               A value that is neither an address nor a path on this host hides the page, unless another rule finds it
    base64     as query, in URL-safe base64; `of` is the parameter, a blank, and characters that precede the code
    path       the address is what follows `path`
    segment    the address is in the segment of the path that begins with `of`
    host       the first label of the host is the host of the page: `-` is a dot, and `--` is a hyphen; parameters
               that begin with `of` are left out
    as         the page is the same on the host `of`, such as www.example.org for m.example.org
    hidden     the address of the page is not in this one
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Literal, get_args
from urllib.parse import unquote

from topics.addresses import Address, address, canonical_host
from topics.csv_rows import read_table
from topics.domains import registrable_domain
from topics.errors import InputError, Place, suggestion

Way = Literal["query", "base64", "path", "segment", "host", "as", "hidden"]

COLUMNS = ("name", "host", "path", "way", "of")
# What `of` must be; where it is missing, the cell must be empty.
_OF: Mapping[str, str] = {
    "query": "names of parameters",
    "base64": "the name of a parameter",
    "segment": "the beginning of a segment",
    "host": "the beginning of names of parameters, or an empty cell",
    "as": "a host",
}
_MOST_STEPS = 20  # a cache of a translated page of an archive has three; rules that lead to each other never end
_SCHEME = re.compile(r"(https?):/{1,2}", re.IGNORECASE)  # some servers make one slash of two


@dataclass(frozen=True, slots=True)
class Page:
    """The page that an address leads to.

    `url` identifies it: the canonical address, with https and without a slash at its end. `host`, `path` and `domain`
    (the registrable domain) are "" if the page is hidden; `url` is then the address that hides it. `through` names the
    rules that were applied.
    """

    url: str
    host: str
    path: str
    domain: str
    through: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        return not self.host


@dataclass(frozen=True, slots=True)
class Redirect:
    """One rule; the fields are the columns of its row."""

    name: str
    host: str
    path: str
    way: Way
    of: str = ""

    def lead(self, parts: Address) -> str | None:
        """Return the address within an address, "" if it is hidden, or None if the rule does not fit."""
        rest = self._rest(parts)
        if rest is None:
            return None
        match self.way:
            case "query":
                parameters = _parameters(parts.query)
                values = [value for name in self.of.split() if (value := parameters.get(name, ""))]
                own = not values or any(re.match("/(?!/)", value) for value in values)
                return next(filter(_is_web, values), None if own else "")
            case "base64":
                name, _, before = self.of.partition(" ")
                code = _parameters(parts.query).get(name, "")
                return _decode(code.removeprefix(before)) if code.startswith(before) and code else None
            case "path":
                query = f"?{parts.query}" if parts.query else ""
                whole = unquote(rest) if rest[:7].lower() in ("http%3a", "https%3") else rest
                begun = _SCHEME.match(whole)
                page = whole[begun.end() :] if begun else whole
                return f"{begun[1] if begun else 'https'}://{page}{query}" if "." in page.partition("/")[0] else None
            case "segment":
                found = (one.removeprefix(self.of) for one in parts.path.split("/") if one.startswith(self.of))
                return next(map(unquote, found), None)
            case "host":
                label = parts.host.partition(".")[0].replace("--", " ").replace("-", ".").replace(" ", "-")
                kept = [one for one in parts.query.split("&") if not (self.of and one.startswith(self.of))]
                return parts._replace(host=label, query="&".join(kept)).url if "." in label else ""
            case "as":
                return parts._replace(host=self.of).url
            case "hidden":
                return ""

    def _rest(self, parts: Address) -> str | None:
        """Return what follows the beginning of the path, or None if host or path do not fit."""
        host, name = parts.host, self.host.removeprefix("*.").removesuffix(".*")
        if name not in host:  # so for nearly all rules, which is the quickest to see
            return None
        if self.host.endswith(".*"):
            host = host.removesuffix(f".{registrable_domain(host).partition('.')[2]}")
        if not (host.endswith(f".{name}") or (host == name and not self.host.startswith("*."))):
            return None
        begun = re.match("[^/]+".join(map(re.escape, self.path.split("*"))), parts.path)
        if begun is None:
            return None
        rest = parts.path[begun.end() :]
        whole = self.path == "" or self.path.endswith("/") or rest[:1] in ("", "/")  # /link is not /linked
        return rest if whole else None


@dataclass(frozen=True, slots=True)
class Redirects:
    """Rules in the order in which they are tried. `known` are pages found so far, by address."""

    rules: tuple[Redirect, ...]
    known: dict[str, Page | None] = field(default_factory=dict, compare=False, repr=False)

    def page(self, url: str) -> Page | None:
        """Return the page that `url` leads to, or None if `url` is not a web address."""
        if url not in self.known:
            self.known[url] = self._find(url)
        return self.known[url]

    def _find(self, url: str) -> Page | None:
        parts = address(url)
        if parts is None:
            return None
        through: list[str] = []
        name, within = self._step(parts)
        while within != parts:
            through.append(name)
            if within is None or len(through) == _MOST_STEPS:
                return Page(_identity(parts), "", "", "", tuple(through))
            parts = within
            name, within = self._step(parts)
        return Page(_identity(parts), parts.host, parts.path, registrable_domain(parts.host), tuple(through))

    def _step(self, parts: Address) -> tuple[str, Address | None]:
        """Return the rule that fits and the address that it finds: None if that is hidden, and `parts` if no rule
        fits."""
        unreadable = ""
        for rule in self.rules:
            written = rule.lead(parts)
            if written == "" and rule.way in ("query", "base64"):  # another rule may name another parameter
                unreadable = unreadable or rule.name
                continue
            if written == "":
                return rule.name, None
            within = None if written is None else address(written)
            if within is not None and within != parts:  # else the rule leads here, and another may lead on
                return rule.name, within
        return (unreadable, None) if unreadable else ("", parts)


def _identity(parts: Address) -> str:
    return parts._replace(scheme="https", path=parts.path.rstrip("/") or "/").url


def _parameters(query: str) -> dict[str, str]:
    items = [item.partition("=") for item in query.split("&")]
    return {name: unquote(value) for name, _, value in reversed(items)}  # of two, the first counts


def _is_web(text: str) -> bool:
    return address(text) is not None


def _decode(code: str) -> str:
    """Return the address in URL-safe base64, or "" if there is none."""
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:  # of base64 and of UTF-8
        return ""
    return text if _is_web(text) else ""


@cache
def shipped_redirects() -> tuple[Redirect, ...]:
    """Return the rules that come with Harvest."""
    text = resources.files("topics").joinpath("redirects.csv").read_text(encoding="utf-8")
    return tuple(parse_redirects(text, "topics/redirects.csv"))


def parse_redirects(text: str, path: str) -> Iterator[Redirect]:
    """Yield the rules in a CSV text. Messages refer to the text as `path`. Raises InputError with line and column."""
    table = read_table(text, path, COLUMNS)
    names = [cell.text.casefold() for cell in table.head]
    for name in (name for name in COLUMNS if name not in names):
        raise InputError(f"the header has no column {name!r}", place=Place(path, 1, 1), allowed=",".join(COLUMNS))
    for cell in (cell for cell in table.head if cell.text.casefold() not in COLUMNS):
        what = f"unknown column {cell.text!r}{suggestion(cell.text, COLUMNS)}"
        raise InputError(what, place=Place(path, cell.line, cell.column), allowed=", ".join(COLUMNS))
    for row in table.rows:
        if len(row) != len(names):
            what = f"the row has {len(row)} cells, but the header has {len(names)}"
            raise InputError(what, place=Place(path, row[0].line, row[-1].column))
        cells = dict(zip(names, row, strict=True))
        faults = {
            "name": (not cells["name"].text, "the rule has no name", "a name of your own"),
            "host": (
                not _is_host(cells["host"].text),
                f"{cells['host'].text!r} is not a host",
                "a name such as l.example.org, *.example.org or example.*",
            ),
            "path": (
                not cells["path"].text.startswith("/") and cells["path"].text != "",
                f"the path {cells['path'].text!r} does not begin with /",
                "the beginning of a path, such as /url, or an empty cell",
            ),
            "way": (
                cells["way"].text not in get_args(Way),
                f"{cells['way'].text!r} is not a way{suggestion(cells['way'].text, get_args(Way))}",
                ", ".join(get_args(Way)),
            ),
            "of": (
                (cells["way"].text != "host" and (cells["of"].text != "") != (cells["way"].text in _OF))
                or (cells["way"].text == "as" and canonical_host(cells["of"].text) is None),
                f"`of` does not fit the way {cells['way'].text!r}",
                _OF.get(cells["way"].text, "an empty cell"),
            ),
        }
        for name, (wrong, what, allowed) in faults.items():
            if wrong:
                raise InputError(what, place=Place(path, cells[name].line, cells[name].column), allowed=allowed)
        way: Way = cells["way"].text  # type: ignore[assignment]  # one of them, as was checked
        yield Redirect(cells["name"].text, cells["host"].text.lower(), cells["path"].text, way, cells["of"].text)


def _is_host(text: str) -> bool:
    name = text.lower().removeprefix("*.").removesuffix(".*")
    return canonical_host(name) == name
