"""Countries and the eight regions of FairWeb's ORIGIN: our own map (`regions.csv`; explained in docs/topics.md).

All 249 entries of ISO 3166-1 with both letter codes, names used by film databases, and former states. A country in two
regions belongs half to each.
"""

import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from types import MappingProxyType

from topics.csv_rows import csv_rows

# In the order of the FairWeb membership vectors.
REGIONS = ("Africa", "America", "Antarctica", "Asia", "Caribbean", "Europe", "Middle East", "Oceania")


@dataclass(frozen=True, slots=True)
class Country:
    """A country or territory. alpha2, alpha3: "" if there is no code. iso: whether ISO 3166-1 lists it now."""

    name: str
    alpha2: str
    alpha3: str
    iso: bool
    regions: tuple[str, ...]
    variants: tuple[str, ...] = ()

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """Its share in each of its regions; they sum to 1."""
        return {region: Fraction(1, len(self.regions)) for region in self.regions}


@cache
def countries() -> tuple[Country, ...]:
    """Return every row of the map, those of ISO 3166-1 first."""
    text = resources.files("topics").joinpath("regions.csv").read_text(encoding="utf-8")
    head, *rows = [[cell.text for cell in row] for row in csv_rows(text, "regions.csv")]
    return tuple(
        Country(
            name=row["name"],
            alpha2=row["alpha2"],
            alpha3=row["alpha3"],
            iso=row["iso"] == "yes",
            regions=tuple(row["regions"].split(";")),
            variants=tuple(variant for variant in row["variants"].split(";") if variant),
        )
        for row in (dict(zip(head, cells, strict=True)) for cells in rows)
    )


def country(name: str) -> Country | None:
    """Return the country called `name`: any name or code in the map, ignoring case, accents, dots and hyphens."""
    return _by_name().get(_fold_region(name))


def nearest_names(name: str) -> tuple[str, ...]:
    """Return at most three names in the map that look like `name`, for messages; never used to decide anything."""
    near = difflib.get_close_matches(_fold_region(name), _by_name(), n=3, cutoff=0.75)
    return tuple(dict.fromkeys(_by_name()[key].name for key in near))


def region_totals() -> Mapping[str, Fraction]:
    """Return the number of entries of ISO 3166-1 in each region, counting halves."""
    totals = dict.fromkeys(REGIONS, Fraction(0))
    for entry in countries():
        if entry.iso:
            for region, share in entry.shares.items():
                totals[region] += share
    return totals


@cache
def _by_name() -> Mapping[str, Country]:
    found: dict[str, Country] = {}
    for entry in countries():
        for name in (entry.name, entry.alpha2, entry.alpha3, *entry.variants):
            for key in {_fold_region(name), _fold_region(name.replace(",", " "))} - {""}:
                known = found.setdefault(key, entry)
                if known is not entry:
                    raise ValueError(f"regions.csv gives {name!r} to {known.name} and to {entry.name}")
    return MappingProxyType(found)


def _fold_region(name: str) -> str:
    """Return letters, digits and commas only: no accents, no case, no `the`, `St.` and `&` written out. A comma stays,
    since the list `Austria, Hungary` would otherwise be the one country Austria-Hungary."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    words = re.sub(r"[^\w,]+", " ", re.sub(r"[.'’ʻ`´]", "", plain).replace("&", " and ")).replace(",", " , ").split()
    return " ".join("saint" if word == "st" else word for word in words if word != "the")
