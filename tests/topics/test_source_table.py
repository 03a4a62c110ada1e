"""Tables of sources: the row of a page, files of sources, and every fault with its place."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.errors import InputError
from topics.source_file import load_sources
from topics.source_table import SourceTable, parse_source_table

HEAD = "domain,kind,owner,country,official,funding\n"
TABLE = parse_source_table(
    HEAD
    + """bbc.co.uk,broadcaster,BBC,GB,no,public
www.bbc.co.uk/sport/,sport,BBC,GB,no,public
news.bbc.co.uk,news,,,,
gov.uk,authority,,United Kingdom,yes,
bücher.example,shop,,DE,,
""",
    "s.csv",
)


def domain_of(url: str, table: SourceTable = TABLE) -> str:
    page = table.redirects.page(url)
    assert page is not None
    found = table.entry(page)
    return "" if found is None else found.domain


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk/", "bbc.co.uk"),
        ("https://bbc.co.uk/sport/football", "bbc.co.uk/sport"),
        ("https://www.bbc.co.uk/sportsday", "bbc.co.uk"),
        ("https://news.bbc.co.uk/sport", "news.bbc.co.uk"),  # the longest host first
        ("https://a.news.bbc.co.uk/", "news.bbc.co.uk"),
        ("https://hmrc.gov.uk/vat", "gov.uk"),
        ("https://xn--bcher-kva.example:8443/", "xn--bcher-kva.example"),
        ("https://notbbc.co.uk/", ""),
        ("https://t.co/x", ""),
        ("https://www.google.com/url?q=https%3A%2F%2Fbbc.co.uk%2Fsport", "bbc.co.uk/sport"),
    ],
)
def test_the_longest_match_counts(url: str, domain: str) -> None:
    assert domain_of(url) == domain


def test_groups_of_a_source() -> None:
    assert TABLE.columns == ("kind", "owner", "country", "official", "funding")
    assert TABLE.groups("kind") == ("broadcaster", "sport", "news", "authority", "shop")
    assert TABLE.groups("country") == ("United Kingdom of Great Britain and Northern Ireland", "Germany")
    assert TABLE.groups("official") == ("no", "yes")
    same = parse_source_table("domain,owner\na.org,BBC\nb.org,bbc\n", "s.csv")
    assert same.groups("owner") == ("BBC",)  # groups that differ in capitals alone are one
    found = TABLE.attribute("official")
    assert found is not None
    assert (found.groups, found.gold) == (("no", "yes"), (0.5, 0.5))
    assert TABLE.attribute("owner") is None  # one group only
    assert not SourceTable().entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.csv:1:1: the header has no column 'domain'"),
        ("kind\n", "s.csv:1:1: the header has no column 'domain'"),
        ("domain,onwer\n", "s.csv:1:8: column 'onwer' looks like 'owner', which the table lacks"),
        ("domain,kind,Kind\n", "s.csv:1:13: column 'kind' occurs twice"),
        ("domain,paid by,Paid_By\n", "s.csv:1:16: columns 'paid by' and 'Paid_By' have the same name"),
        ("domain,kind\nx y,a\n", "s.csv:2:1: 'x y' is not a domain"),
        ("domain,kind\nx.org:81,a\n", "s.csv:2:1: 'x.org:81' is not a domain"),
        ("domain,kind\nme@x.org,a\n", "s.csv:2:1: 'me@x.org' is not a domain"),
        ("domain,kind\nx.org,Unknown\n", "s.csv:2:7: kind: 'Unknown' is what sources without a group are called"),
        ("domain,kind\n,a\n", "s.csv:2:1: the domain is missing"),
        ("domain,kind\nx.org?q=1,a\n", "s.csv:2:1: 'x.org?q=1' is not a domain"),
        ("domain,kind\nx.org,a;b\n", "s.csv:2:7: kind: 'a;b' has several groups"),
        (f"domain,kind\nx.org,{'k' * 201}\n", "s.csv:2:7: the cell has 201 characters\n  allowed: at most 200"),
        ("domain,kind\nx.org,a\u202eb\n", "s.csv:2:7: the cell has the character U+202E (right-to-left override)"),
        ("domain,kind\nx.org,\x1b[31mred\n", "s.csv:2:7: the cell has the character U+001B"),
        ("domain,country\nx.org,Germny\n", "s.csv:2:7: 'Germny' is not a known country; near: Germany"),
        ("domain,official\nx.org,maybe\n", "s.csv:2:7: official: 'maybe' is not allowed"),
        ("domain,kind\nx.org,a\nX.org,b\n", "s.csv:3:1: x.org is already on line 2, with other cells"),
        (
            "domain,kind\nx.org\n",
            "s.csv:2:1: the row has 1 cells, but the header has 2\n"
            "  do: leave a cell empty where nothing is known, but keep its comma",
        ),
        ("domain,kind\nx.org,a,b\n", "s.csv:2:9: the row has 3 cells, but the header has 2"),
        ('domain,kind\n"x.org,a\n', "s.csv:2:1: a quotation mark is never closed"),
    ],
)
def test_an_unusable_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_source_table(text, "s.csv")
    assert str(caught.value).startswith(message)


@given(st.text(alphabet='domainkx.,;\n"\t /:*üÅ', max_size=40))
def test_no_text_gives_a_traceback(text: str) -> None:
    for written in (text, f"domain,kind\n{text}"):
        with suppress(InputError):
            parse_source_table(written, "s.csv")


def test_a_file_of_sources_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(HEAD + "bbc.co.uk,broadcaster,BBC,GB,no,public\ngov.uk,authority,,GB,yes,\n")
    (tmp_path / "r.csv").write_text("name,host,path,way,of\nmobile,m.bbc.co.uk,,as,www.bbc.co.uk\n")
    file = tmp_path / "sources.yaml"
    file.write_text(
        "format: harvest-sources/1\ntable: s.csv\nredirects: r.csv\nattributes:\n"
        "  kind: {scale: nominal, groups: [broadcaster, authority], gold: {broadcaster: 3, authority: 1}}\n"
        f"  country: {{scale: nominal, mapping: regions, groups: [{', '.join(REGIONS)}]}}\n"
    )
    found = load_sources(file)
    kind, country = found.attribute("kind"), found.attribute("country")
    assert kind is not None
    assert country is not None
    assert kind.gold == (0.75, 0.25)
    assert country.membership("Germany")[REGIONS.index("Europe")] == 1
    page = found.redirects.page("https://m.bbc.co.uk/x")
    assert page is not None
    assert page.url == "https://www.bbc.co.uk/x"


REGIONS = ("Africa", "America", "Antarctica", "Asia", "Caribbean", "Europe", "Middle East", "Oceania")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format: harvest-sources/2\ntable: s.csv\n", "sources.yaml:1:9: "),
        ("format: harvest-sources/1\n", "sources.yaml:1:1: "),
        ("format: harvest-sources/1\ntable: t.csv\n", "t.csv: no such file"),
        ("format: harvest-sources/1\ntable: s.csv\nredirects: s.csv\n", "s.csv:1:1: "),
        (
            "format: harvest-sources/1\ntable: s.csv\nattributes:\n  kid: {scale: nominal, groups: [a, b]}\n",
            "sources.yaml:4:3: the table has no column 'kid': did you mean 'kind'?",
        ),
        (
            "format: harvest-sources/1\ntable: s.csv\nattributes:\n  kind: {scale: nominal, groups: [a, b]}\n",
            "s.csv:2:1: kind of x.org: 'c' is not a group of kind; allowed: a, b",
        ),
    ],
)
def test_an_unusable_file_of_sources_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("domain,kind\nx.org,c\n")
    Path("sources.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_sources("sources.yaml")
    assert str(caught.value).startswith(message)
