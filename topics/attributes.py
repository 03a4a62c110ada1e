"""Attribute sets: the groups of entities, and the share that each group should have.

A value as written on a page (`1.3M`, `United States; Canada`) becomes a membership vector. The vector has a share for
each group, in the order of the groups, and sums to 1. Shares are computed as exact fractions and rounded at the end.
"""

import difflib
import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

from topics.csv_rows import csv_rows
from topics.quantities import Range, read_quantity

# In the order of the FairWeb membership vectors.
REGIONS = ("Africa", "America", "Antarctica", "Asia", "Caribbean", "Europe", "Middle East", "Oceania")


@dataclass(frozen=True, slots=True)
class Country:
    """A country or territory. `alpha2` and `alpha3` may be "". `iso` is True if ISO 3166-1 lists the country now."""

    name: str
    alpha2: str
    alpha3: str
    iso: bool
    regions: tuple[str, ...]
    variants: tuple[str, ...] = ()

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """The country's share in each of its regions; the shares sum to 1."""
        return {region: Fraction(1, len(self.regions)) for region in self.regions}


@cache
def countries() -> tuple[Country, ...]:
    """Return the countries in every row of `regions.csv`, beginning with the countries in ISO 3166-1."""
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
    """Return the country with this name or code, or None. Case, accents, dots and hyphens are ignored."""
    return _countries_by_name().get(_fold_region(name))


def nearest_names(name: str) -> tuple[str, ...]:
    """Return at most three country names that resemble `name`, for use in messages only."""
    near = difflib.get_close_matches(_fold_region(name), _countries_by_name(), n=3, cutoff=0.75)
    return tuple(dict.fromkeys(_countries_by_name()[key].name for key in near))


@cache
def _countries_by_name() -> Mapping[str, Country]:
    found: dict[str, Country] = {}
    for entry in countries():
        for name in (entry.name, entry.alpha2, entry.alpha3, *entry.variants):
            for key in {_fold_region(name), _fold_region(name.replace(",", " "))} - {""}:
                known = found.setdefault(key, entry)
                if known is not entry:
                    raise ValueError(f"regions.csv gives {name!r} to {known.name} and to {entry.name}")
    return MappingProxyType(found)


def _fold_region(name: str) -> str:
    """Normalise a name to letters, digits and commas, without accents, case and `the`, and with `St.` and `&` written
    out. Commas stay so that the list `Austria, Hungary` differs from the country Austria-Hungary."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    words = re.sub(r"[^\w,]+", " ", re.sub(r"[.'’ʻ`´]", "", plain).replace("&", " and ")).replace(",", " , ").split()
    return " ".join("saint" if word == "st" else word for word in words if word != "the")


# Possible values of `mapping` of a nominal set.
MAPPINGS = ("regions",)

_SHARE = re.compile(r"[0-9]{1,9}(?:/[0-9]{1,9})?|[0-9]{0,9}\.[0-9]{1,40}")
_TOLERANCE = Fraction(1, 10**5)  # a third in six decimals, three times, is .999999
_ROUNDING = Fraction(1, 10**12)  # so that decimals written by Harvest are read back unchanged
Shares = Mapping[str, Fraction]
Lookup = Callable[[str], tuple[str, Shares] | None]


@dataclass(frozen=True, slots=True)
class AttributeSet:
    """A way to group entities (GFRC §2.1, §3.1). Raises ValueError if the fields are inconsistent.

    `name` is a word such as `RATINGS`. `scale` is `ordinal` if the groups have an order, or `nominal`. `groups` are
    two or more names. `gold` has the target share of each group; the shares sum to 1 within 1e-5 and are then divided
    by their sum. `bounds`, for ordinal sets of numbers, are rising and number one fewer than the groups: x < b₀ is
    group 1, b₀ ≤ x < b₁ is group 2, …. With the `mapping` `regions`, country names are mapped to groups. `of`
    describes the meaning of the values.
    """

    name: str
    scale: Literal["ordinal", "nominal"]
    groups: tuple[str, ...]
    gold: tuple[float, ...]
    bounds: tuple[float, ...] = ()
    mapping: str = ""
    of: str = ""

    def __post_init__(self) -> None:
        if self.scale not in ("ordinal", "nominal"):
            raise ValueError(f"scale must be ordinal or nominal, not {self.scale!r}")
        if len(self.groups) < 2:
            raise ValueError(f"an attribute set needs at least two groups, but has {len(self.groups)}")
        if len({_fold_name(group) for group in self.groups}) < len(self.groups) or not all(
            map(_fold_name, self.groups)
        ):
            raise ValueError("the names of the groups must differ, and none may be empty")
        if len(self.gold) != len(self.groups):
            raise ValueError(f"gold must have a share for each of {len(self.groups)} groups, but has {len(self.gold)}")
        if not all(0 <= share <= 1e300 for share in self.gold):
            raise ValueError("the shares of gold must be finite and not negative")
        total = math.fsum(self.gold)
        if abs(total - 1) > _TOLERANCE:
            raise ValueError(f"the shares of gold must sum to 1, but they sum to {total:.6g}")
        if abs(total - 1) > _ROUNDING:
            object.__setattr__(self, "gold", tuple(share / total for share in self.gold))
        if self.bounds:
            if self.scale != "ordinal":
                raise ValueError("only an ordinal set has bounds")
            if len(self.groups) != len(self.bounds) + 1:
                raise ValueError(
                    f"{len(self.groups)} groups need {len(self.groups) - 1} bounds, but there are {len(self.bounds)}"
                )
            if not all(map(math.isfinite, self.bounds)) or any(a >= b for a, b in zip(self.bounds, self.bounds[1:])):
                raise ValueError("bounds must be finite and rise from one to the next")
        if self.mapping:
            if self.mapping not in MAPPINGS:
                raise ValueError(f"unknown mapping {self.mapping!r}; allowed: {', '.join(MAPPINGS)}")
            if self.scale != "nominal":
                raise ValueError("only a nominal set has a mapping")
            missing = [region for region in REGIONS if _fold_name(region) not in self._group_places]
            if missing:
                raise ValueError(f"the mapping names groups that do not exist: {', '.join(missing)}")

    # There are few sets, which may be kept, and each value is in many rows and tables.
    @lru_cache(maxsize=4096)  # noqa: B019
    def membership(self, raw: str) -> tuple[float, ...]:
        """Return the shares in [0, 1] of the groups, summing to 1, for a value as written: a number, names (separated
        by `;` or `,`, with equal shares), or a vector like `(0,1/2,0,1/2)`. Raises ValueError with an explanation if
        the value is not understood or is ambiguous."""
        text = raw.strip()
        if not text:
            raise ValueError("the value is missing")
        if text.startswith("("):
            return self._vector(text)
        if _fold_name(text) in self._group_places:
            return self._shares({text: Fraction(1)})
        if self.bounds:
            return self._unit_vector(self._group_of(text))
        lookup = self._find_regions if self.mapping else self._find_group
        return self._shares(_equal_shares(text, lookup, self._unknown_name))

    @property
    def _group_places(self) -> dict[str, int]:
        return {_fold_name(group): i for i, group in enumerate(self.groups)}

    def _find_group(self, name: str) -> tuple[str, Shares] | None:
        return (_fold_name(name), {name: Fraction(1)}) if _fold_name(name) in self._group_places else None

    def _find_regions(self, name: str) -> tuple[str, Shares] | None:
        found = country(name)
        return (found.name, found.shares) if found else self._find_group(name)

    def _unknown_name(self, name: str) -> str:
        if not self.mapping:
            return f"{name!r} is not a group of {self.name}; allowed: {', '.join(self.groups)}"
        near = nearest_names(name)
        return f"{name!r} is not a known country or region" + (f"; near: {', '.join(near)}" if near else "")

    def _shares(self, shares: Shares) -> tuple[float, ...]:
        found = [Fraction(0)] * len(self.groups)
        for name, share in shares.items():
            if _fold_name(name) not in self._group_places:
                raise ValueError(f"{name!r} is not a group of {self.name}; allowed: {', '.join(self.groups)}")
            found[self._group_places[_fold_name(name)]] += share
        return tuple(float(share) for share in found)

    def _unit_vector(self, group: int) -> tuple[float, ...]:
        return tuple(float(i == group) for i in range(len(self.groups)))

    def _group_of(self, text: str) -> int:
        try:
            ranges = read_quantity(text)
        except ValueError as fault:
            raise ValueError(f"{fault} and not one of the groups {', '.join(self.groups)}") from None
        reached = {group for part in ranges for group in self._groups_reached(part)}
        if len(reached) > 1:
            names = " or ".join(repr(self.groups[i]) for i in sorted(reached))
            raise ValueError(f"{text!r} could mean {names}: write the number in full")
        return reached.pop()

    def _groups_reached(self, part: Range) -> range:
        bounds = [Fraction(bound) for bound in self.bounds]
        first = 0 if part.low is None else bisect_right(bounds, part.low)
        if part.high is None:
            return range(first, len(bounds) + 1)
        return range(first, (bisect_left if part.below else bisect_right)(bounds, part.high) + 1)

    def _vector(self, text: str) -> tuple[float, ...]:
        if not text.endswith(")"):
            raise ValueError(f"{text!r} begins with ( but does not end with )")
        cells = [cell.strip() for cell in text[1:-1].split(",")]
        if len(cells) != len(self.groups):
            raise ValueError(f"{self.name} has {len(self.groups)} groups, but {text!r} has {len(cells)} shares")
        wrong = next((cell for cell in cells if not _SHARE.fullmatch(cell)), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} in {text!r} is not a share such as 0, 1/2 or 0.25")
        try:
            shares = [Fraction(cell) for cell in cells]
        except ZeroDivisionError:
            raise ValueError(f"a share in {text!r} divides by zero") from None
        total = sum(shares, Fraction(0))
        if abs(total - 1) > _TOLERANCE:
            raise ValueError(f"the shares of {text!r} must sum to 1, but they sum to {float(total):.6g}")
        if abs(total - 1) > _ROUNDING:
            shares = [share / total for share in shares]
        return tuple(map(float, shares))


def uniform_shares(groups: int) -> tuple[float, ...]:
    return (1 / groups,) * groups


def normalise_shares(counts: Mapping[str, float], groups: tuple[str, ...]) -> tuple[float, ...]:
    """Return shares from counts or probabilities by group. A missing group has the share 0. Raises ValueError for
    names that are not groups, for negative or infinite numbers, and if all numbers are 0."""
    by_name = {_fold_name(group): group for group in groups}
    found = dict.fromkeys(groups, 0.0)
    for name, count in counts.items():
        if _fold_name(name) not in by_name:
            raise ValueError(f"{name!r} is not a group; allowed: {', '.join(groups)}")
        if not 0 <= count <= 1e300:
            raise ValueError(f"the count of {name} must be finite and not negative, but is {count}")
        found[by_name[_fold_name(name)]] += count
    total = math.fsum(found.values())
    if not (math.isfinite(total) and total > 0):
        raise ValueError("at least one count must be positive")
    return tuple(found[group] / total for group in groups)


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def _equal_shares(text: str, lookup: Lookup, advice: Callable[[str], str]) -> Shares:
    """Return equal shares for the names in `text`, each counted once. A name may have commas (`Korea, Republic of`)."""
    named: dict[str, Shares] = {}
    for part in text.split(";"):
        cells = [cell.strip() for cell in part.split(",")]
        if cells == [""]:
            continue  # a last ; ends the list
        i = 0
        while i < len(cells):
            for j in range(min(len(cells), i + 4), i, -1):  # the longest known name
                name = ", ".join(cells[i:j])
                found = lookup(name)
                if found is not None:
                    named[found[0]] = found[1]
                    i = j
                    break
            else:
                raise ValueError(advice(cells[i]))
    if not named:
        raise ValueError(f"{text!r} contains no name")
    total: dict[str, Fraction] = {}
    for shares in named.values():
        for group, share in shares.items():
            total[group] = total.get(group, Fraction(0)) + share / len(named)
    return total
