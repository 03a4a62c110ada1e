"""Tables of sources: what kind of source a site is, who owns it, where it is from, and whether it is official.

A table of sources is a CSV file with the column domain and any of kind, owner, country, official and columns of your
own, each of which groups sources in one way:

    domain,kind,owner,country,official,funding
    bbc.co.uk,broadcaster,BBC,GB,no,public
    bbc.co.uk/sport,sport,BBC,GB,no,public
    gov.uk,authority,,GB,yes,

`domain` is a host with all its subdomains, which may be followed by the beginning of a path; `www.` is left out. If
several rows match an address, the one with the longest host counts, and of these the one with the longest path. An
empty cell is unknown, and is not filled from a shorter row.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from types import MappingProxyType

from topics.addresses import address
from topics.attributes import REGIONS, AttributeSet, country, nearest_names, uniform_shares
from topics.csv_rows import Cell, decode_table, read_table
from topics.errors import InputError, Place, nearest_name
from topics.redirects import Page, Redirect, Redirects, shipped_redirects
from topics.regular_file import read_bytes
from topics.shown_names import shorten
from topics.unseen_characters import character_name

DOMAIN, OWNER, OFFICIAL = "domain", "owner", "official"
UNKNOWN = "unknown"  # how measures call the sources that have no group in a column
_KNOWN = ("kind", OWNER, "country", OFFICIAL)
_OFFICIAL = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_LARGEST = 16 * 2**20  # bytes, as for every text file of Harvest
MOST_LETTERS = 200  # of a group: it stands in tables and in the names of measures
_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One row: `domain` is a host, or a host and the beginning of a path. `groups` has the cells that are not empty, by
    column. `place` is the place of the row, or None if it is not from a file."""

    domain: str
    groups: Mapping[str, str]
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)  # without slots, for cached properties
class SourceTable:
    """What is known about sources: `entries` by domain, in file order; `columns` besides `domain`; `attributes`, which
    are attribute sets with the shares that the groups of a column should have; and `rules` for redirects, which are
    tried before those that come with Harvest. `name` is the name of its file as written. Without entries,
    all sources are unknown."""

    entries: Mapping[str, SourceEntry] = field(default_factory=lambda: MappingProxyType({}))
    columns: tuple[str, ...] = ()
    attributes: Mapping[str, AttributeSet] = field(default_factory=lambda: MappingProxyType({}))
    rules: tuple[Redirect, ...] = ()
    name: str = field(default="", compare=False)

    @cached_property
    def redirects(self) -> Redirects:
        """The rules by which addresses are read."""
        return Redirects((*self.rules, *shipped_redirects()))

    @cached_property
    def _deepest(self) -> int:
        return max((domain.count("/") for domain in self.entries), default=0)

    def entry(self, page: Page) -> SourceEntry | None:
        """Return the row that matches a page best, or None if no row does. No row matches a hidden page."""
        labels = page.host.split(".")
        segments = page.path.split("/")[: self._deepest + 1]
        for first in range(len(labels)):
            host = ".".join(labels[first:])
            for last in range(len(segments), 0, -1):
                found = self.entries.get(host + "/".join(segments[:last]))
                if found is not None:
                    return found
        return None

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the groups that rows name in a column, in file order."""
        named = (entry.groups.get(column) for entry in self.entries.values())
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def attribute(self, column: str) -> AttributeSet | None:
        """Return the attribute set of a column. If none is declared, it has equal shares for the groups that rows name,
        or is None if they name fewer than two."""
        named = self.groups(column)
        if column in self.attributes or len(named) < 2:
            return self.attributes.get(column)
        return AttributeSet(column, "nominal", named, uniform_shares(len(named)))


def fold_name(name: str) -> str:
    """Return a name of a column or group in the form in which measures compare it."""
    return name.casefold().replace("_", " ")


def read_source_table(path: str | PathLike[str]) -> SourceTable:
    """Read the table in the CSV file at `path`. Raises InputError, with line and column, for the first fault."""
    data, name = read_bytes(path, "a CSV table", largest=_LARGEST), Place.of(path).path
    return parse_source_table(decode_table(data, name, "a CSV table"), name)


def parse_source_table(text: str, path: str) -> SourceTable:
    """Read a table of sources in a CSV text. Messages refer to the text as `path`. Raises InputError."""
    table = read_table(text, path, (DOMAIN, *_KNOWN))
    columns = _read_head(table.head, path)
    entries: dict[str, SourceEntry] = {}
    spelt: dict[tuple[str, str], str] = {}  # groups that differ in capitals alone are one
    for row in table.rows:
        if len(row) < len(columns) or any(cell.text for cell in row[len(columns) :]):
            last = row[min(len(row), len(columns) + 1) - 1]
            raise InputError(
                f"the row has {len(row)} cells, but the header has {len(columns)}",
                place=Place(path, last.line, last.column),
                advice="put cells that contain commas in quotation marks"
                if len(row) > len(columns)
                else "leave a cell empty where nothing is known, but keep its comma",
            )
        cells = dict(zip(columns, row))
        first = cells[DOMAIN]
        domain = _read_domain(first, path)
        values = ((name, _read_group(name, cell, path)) for name, cell in cells.items() if name not in ("", DOMAIN))
        groups = {name: spelt.setdefault((name, value.casefold()), value) for name, value in values if value}
        known = entries.setdefault(domain, SourceEntry(domain, groups, Place(path, first.line, first.column)))
        if known.groups != groups:
            line = known.place.line if known.place else 0
            raise InputError(
                f"{domain} is already on line {line}, with other cells",
                place=Place(path, first.line, first.column),
                advice="keep only the correct row",
            )
    named = tuple(name for name in columns if name not in ("", DOMAIN))
    return SourceTable(MappingProxyType(entries), named)


def _read_head(head: Iterable[Cell], path: str) -> tuple[str, ...]:
    names: list[str] = []
    seen: dict[str, str] = {}
    written = {cell.text.casefold() for cell in head}
    for cell in head:
        place = Place(path, cell.line, cell.column)
        name = cell.text.casefold() if cell.text.casefold() in (DOMAIN, *_KNOWN) else cell.text
        folded = fold_name(name)
        if name and folded in seen:
            raise InputError(
                f"columns {seen[folded]!r} and {name!r} have the same name"
                if seen[folded] != name
                else f"column {name!r} occurs twice",
                place=place,
                advice="rename one: capitals, blanks and _ make no difference",
            )
        seen[folded] = name
        meant = nearest_name(name, [DOMAIN, *_KNOWN]) if name else None
        if meant not in (None, name) and meant not in written:
            raise InputError(
                f"column {name!r} looks like {meant!r}, which the table lacks",
                place=place,
                advice=f"write {meant}, or choose another name for a column of your own",
            )
        names.append(name)
    if DOMAIN not in names:
        allowed = f"a header such as {','.join((DOMAIN, *_KNOWN))}"
        raise InputError(f"the header has no column {DOMAIN!r}", place=Place(path, 1, 1), allowed=allowed)
    return tuple(names)


def _read_domain(cell: Cell, path: str) -> str:
    """Return a host and the beginning of a path as addresses have them."""
    written = cell.text if "://" in cell.text else f"https://{cell.text}"
    parts = address(written.replace("://*.", "://").replace("://.", "://"))
    if not cell.text or parts is None or parts.query or parts.port or any(sign in cell.text for sign in "?#@"):
        raise InputError(
            f"{shorten(cell.text, 100)!r} is not a domain" if cell.text else "the domain is missing",
            place=Place(path, cell.line, cell.column),
            allowed="a host such as bbc.co.uk, or a host and the beginning of a path, such as bbc.co.uk/news",
        )
    return parts.host.removeprefix("www.") + parts.path.rstrip("/")


def _read_text(cell: Cell, path: str) -> tuple[str, Place]:
    """Return a text that stands in tables and measures, with its place. Raises InputError for one that could not."""
    text, place = " ".join(cell.text.split()), Place(path, cell.line, cell.column)
    if len(text) > MOST_LETTERS:
        what = f"the cell has {len(text)} characters"
        raise InputError(what, place=place, allowed=f"at most {MOST_LETTERS}")
    if steers := _STEERS.search(text):
        what = f"the cell has {character_name(steers[0])}, which steers how text is shown"
        raise InputError(what, place=place, advice="delete it")
    return text, place


def _read_group(name: str, cell: Cell, path: str) -> str:
    text, place = _read_text(cell, path)
    if ";" in text:
        what = f"{name}: {shorten(text, 60)!r} has several groups"
        raise InputError(what, place=place, allowed="one group, without ;", advice="add a column for each way to group")
    if text.casefold() == UNKNOWN:
        what = f"{name}: {text!r} is what sources without a group are called"
        raise InputError(
            what, place=place, advice="leave the cell empty if the group is unknown, or write another word"
        )
    if name == OFFICIAL and text:
        if text.casefold() not in _OFFICIAL:
            raise InputError(f"{OFFICIAL}: {text!r} is not allowed", place=place, allowed="yes, no, or an empty cell")
        return _OFFICIAL[text.casefold()]
    if name == "country" and text:
        found = country(text)
        if found is None and text not in REGIONS:
            near = ", ".join(nearest_names(text))
            raise InputError(
                f"{text!r} is not a known country" + (f"; near: {near}" if near else ""),
                place=place,
                allowed=f"a name or code of ISO 3166-1, or one of {', '.join(REGIONS)}",
                advice="write other areas in a column of your own",
            )
        return found.name if found else text
    return text
