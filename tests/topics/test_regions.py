"""The map from countries to the regions of ORIGIN."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tests.support.checkout import DOCS
from topics.attributes import REGIONS, countries, country, nearest_names
from topics.library import load_topics

DOCS = DOCS / "topics.md"


def regions(name: str) -> tuple[str, ...]:
    found = country(name)
    assert found is not None, name
    return found.regions


def region_totals() -> dict[str, Fraction]:
    """Return the number of ISO 3166-1 countries in each region. A country in two regions counts half in each."""
    totals = dict.fromkeys(REGIONS, Fraction(0))
    for entry in countries():
        if entry.iso:
            for region, share in entry.shares.items():
                totals[region] += share
    return totals


def test_every_entry_of_iso_3166_1_occurs_once() -> None:
    listed = [entry for entry in countries() if entry.iso]
    assert len(listed) == 249
    assert len({entry.alpha2 for entry in listed}) == len({entry.alpha3 for entry in listed}) == 249
    assert all(re.fullmatch("[A-Z]{2}", entry.alpha2) for entry in listed)
    assert all(re.fullmatch("[A-Z]{3}", entry.alpha3) for entry in listed)


def test_every_country_is_in_one_region_or_in_two() -> None:
    for entry in countries():
        assert 1 <= len(entry.regions) <= 2
        assert set(entry.regions) <= set(REGIONS)
        assert sum(entry.shares.values()) == 1


def test_every_name_and_code_leads_to_its_own_country() -> None:
    for entry in countries():
        for name in (entry.name, entry.alpha2, entry.alpha3, *entry.variants):
            if name:
                assert country(name) is entry
                assert country(f" {name.upper()} ") is entry
                assert country(name.lower()) is entry


@pytest.mark.parametrize(
    ("names", "region"),
    [
        ("USA|U.S.A.|US|United States|The United States|United States of America|Canada|Brazil|Greenland", "America"),
        ("UK|U.K.|England|Scotland|Wales|Northern Ireland|Great Britain|Czechia|Czech Republic|Holland", "Europe"),
        ("West Germany|East Germany|Yugoslavia|Federal Republic of Yugoslavia|Serbia and Montenegro", "Europe"),
        ("Czechoslovakia|Kosovo|North Macedonia|Macedonia|Bosnia & Herzegovina|Vatican|Aland Islands", "Europe"),
        ("South Korea|North Korea|Korea, Republic of|Republic of Korea|Hong Kong|Taiwan|Macau|Viet Nam|Burma", "Asia"),
        (
            "Ivory Coast|Côte d'Ivoire|Cote d’Ivoire|Cape Verde|Zaire|Swaziland|Tanzania|Congo|DR Congo|Reunion",
            "Africa",
        ),
        ("Iran|Islamic Republic of Iran|Palestine|Occupied Palestinian Territory|Syria|UAE|Israel", "Middle East"),
        ("St. Lucia|Saint Lucia|Trinidad & Tobago|Curacao|The Bahamas|Puerto Rico|Netherlands Antilles", "Caribbean"),
        ("Aotearoa|Micronesia|Papua New Guinea|Guam|Tahiti", "Oceania"),
        ("Antarctica|South Georgia|Bouvet Island", "Antarctica"),
    ],
)
def test_usual_names_are_known(names: str, region: str) -> None:
    for name in names.split("|"):
        assert regions(name) == (region,), name


@pytest.mark.parametrize(
    ("names", "halves"),
    [
        ("Russia|Russian Federation|Soviet Union|USSR|Kazakhstan|Georgia|Armenia|Azerbaijan", ("Europe", "Asia")),
        ("Türkiye|Turkey|Turkiye|Cyprus", ("Europe", "Middle East")),
        ("Egypt", ("Africa", "Middle East")),
    ],
)
def test_a_country_in_two_regions_belongs_to_each_by_half(names: str, halves: tuple[str, ...]) -> None:
    for name in names.split("|"):
        assert regions(name) == halves, name


def test_nothing_is_guessed() -> None:
    for name in ("", "Untied States", "Ruritania", "Atlantis", "Korea, Peoples", "EU"):
        assert country(name) is None
    assert "Ireland" in nearest_names("Irland")
    assert nearest_names("Qzxwv") == ()


def test_the_totals_are_those_of_the_map() -> None:
    totals = region_totals()
    assert tuple(totals) == REGIONS
    assert sum(totals.values()) == 249
    assert totals["Africa"] == Fraction(117, 2)


def test_the_table_in_the_docs_agrees_with_the_map() -> None:
    gold = load_topics("fairweb-45").attributes["ORIGIN"].gold
    totals = region_totals()
    lines = [
        "| region | published of 237 | ours of 249 | published share | our share | difference |",
        "|---|---|---|---|---|---|",
    ]
    for region, share in zip(REGIONS, gold):
        held, ours = float(totals[region]), float(totals[region] / 249)
        lines.append(f"| {region} | {share * 237:g} | {held:g} | {share:.4f} | {ours:.4f} | {ours - share:+.4f} |")
    distance = sum(abs(float(totals[region] / 249) - share) for region, share in zip(REGIONS, gold)) / 2
    lines.append(f"\nHalf the sum of the absolute differences: {distance:.4f}.")
    assert "\n".join(lines) in DOCS.read_text(encoding="utf-8"), "\n".join(lines)
